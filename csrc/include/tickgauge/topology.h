/* topology.h - platforms: clock, clusters, and which cpu a printed label means.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_TOPOLOGY_H
#define TICKGAUGE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "intern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cpu by cluster and core, or a label of that form. */
typedef struct tg_place {
  uint32_t cluster, core;
} tg_place;

/* Which cpus the labels of a whole block mean, both in printed order. */
typedef struct tg_label_map {
  const tg_place *printed;
  const tg_place *cpus;
  size_t n;
} tg_label_map;

/* One platform. All pointers are the caller's and outlive the use. */
typedef struct tg_platform {
  const char *name;         /* "n1sdp" */
  const char *const *names; /* how banners call it, compared without case */
  const tg_place *cpus;     /* all cpus, by cluster and core; none: unknown */
  const tg_place *linear;   /* cpus in order of linear position; none: unknown */
  const tg_label_map *maps; /* for consoles; the first that fits decides */
  size_t n_names, n_cpus, n_linear, n_maps;
  uint64_t clock_hz; /* ticks per second, 0 = unknown */
} tg_platform;

/* The known platforms. */
typedef struct tg_topology {
  const tg_platform *platforms;
  size_t n;
} tg_topology;

/* The platform a banner calls `name`; NULL where unknown, or for a NULL topology. */
TG_API const tg_platform *tg_topology_find(const tg_topology *t, tg_str name);

/* How the labels of a block were understood. */
typedef enum tg_identity {
  TG_IDENTITY_MAP,    /* through a map of the platform */
  TG_IDENTITY_LABEL,  /* the labels are distinct and are the cpus */
  TG_IDENTITY_LINEAR, /* positions through the platform's order */
  TG_IDENTITY_ORDINAL /* only the place in the block is known */
} tg_identity;

/* Which cpus the labels of one block mean. `labels[i]` is a label in printed order, for `linear`
 * a position in `.core`. `whole` says that no record of the block is known to be lost: then a
 * short block is the beginning of a longer one. Fills `cpus[0..n)` except for
 * TG_IDENTITY_ORDINAL. `p` may be NULL. */
TG_API tg_identity tg_topology_identify(const tg_platform *p, const tg_place *labels, size_t n,
                                        bool linear, bool whole, tg_place *cpus);

/* True if the last of these labels may belong to the block of those before it: it is not among
 * them, or a map of the platform begins so; with `gaps` labels may be lost in between. n is at
 * least 1. */
TG_API bool tg_topology_may_follow(const tg_platform *p, const tg_place *labels, size_t n,
                                   bool linear, bool gaps);

#ifdef __cplusplus
}
#endif
#endif
