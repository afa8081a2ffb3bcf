/* boots_walk.h - the marks of a source that tell boots apart, and the walk over them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TG_FORMATS_BOOTS_WALK_H
#define TG_FORMATS_BOOTS_WALK_H

#include "boots.h"

/* The meaning of a record for the walk. */
typedef enum tg_mark_kind {
  TG_MARK_OTHER = 0, /* a record of some format: it belongs to a boot, no more */
  TG_MARK_BANNER,    /* a stage announces itself */
  TG_MARK_KERNEL,    /* Linux names its version: each kernel does so once */
  TG_MARK_BUILT,     /* the build date of a stage */
  TG_MARK_PLATFORM,  /* a line that names the platform */
  TG_MARK_CLOCK,     /* the kernel's counter: `stamp` MHz and `id` hundredths */
  TG_MARK_REPORT,    /* a bootstage report; `id` tells its marks apart from others */
  TG_MARK_PMF,       /* a PMF stamp; `id` is its tid */
  TG_MARK_FREQUENCY, /* `stamp` is the frequency */
  TG_MARK_CLIENT,    /* a client's line; `stamp` is its start, `id` a tg_client_id */
  TG_MARK_DRIVER,    /* an SMC stamp of the driver; `id` is the cmd */
  TG_MARK_CORE       /* an SMC stamp of the TEE core; `id` is the cmd */
} tg_mark_kind;

/* The measurement of a client's line. */
typedef enum tg_client_id {
  TG_CLIENT_OPEN = 0, /* the commands of the SMC */
  TG_CLIENT_INVOKE = 1,
  TG_CLIENT_SYSCALL = 2
} tg_client_id;

/* The stages of a chain, in the order in which they boot. */
typedef enum tg_stage {
  TG_STAGE_NONE = 0,
  TG_STAGE_PMF,
  TG_STAGE_WELCOME,
  TG_STAGE_BL1,
  TG_STAGE_SPL,
  TG_STAGE_BL2,
  TG_STAGE_BL31,
  TG_STAGE_OPTEE,
  TG_STAGE_SPL_LATE, /* the second SPL of boards whose first one starts BL31 */
  TG_STAGE_UBOOT,
  TG_STAGE_TFTF,
  TG_STAGE_LINUX,
  TG_STAGE_COUNT
} tg_stage;

/* One record as the walk sees it. */
typedef struct tg_mark {
  uint64_t line, offset, stamp;
  uint64_t until; /* a client's return, otherwise the stamp */
  uint64_t pin;   /* a client's entry of the TA */
  uint64_t id;
  uint32_t rule, row;
  uint8_t kind;  /* tg_mark_kind */
  uint8_t lane;  /* tg_lane */
  uint8_t stage; /* tg_stage of a banner; of another record the stage it proves to be reached */
  bool opens;    /* a stamp that begins a pair */
} tg_mark;

/* The marks of one source in its order; runs of TG_MARK_OTHER are one mark. */
typedef struct tg_marks {
  tg_mark *at;
  size_t n, cap;
  const tg_records *records;
} tg_marks;

#define TG_REASON_TEXT 96

/* One stretch between two starts. */
typedef struct tg_stretch {
  size_t first, n; /* marks: [first, first + n) of those the walk was given */
  uint64_t line, offset;
  uint64_t hz;                        /* 0: no frequency line */
  uint64_t kernel_hz;                 /* what Linux says of its counter, in steps of 10 kHz */
  uint32_t version_rule, version_row; /* of the banner that names the build; rule TG_NONE: none */
  uint32_t built_rule, built_row;
  uint32_t platform_rule, platform_row;
  uint8_t chain[TG_STAGE_COUNT]; /* stages in the order seen */
  uint8_t n_chain;
  uint32_t boot; /* row of "boots", once known */
  char reason[TG_REASON_TEXT];
} tg_stretch;

typedef struct tg_stretches {
  tg_stretch *at;
  size_t n, cap;
} tg_stretches;

/* Gathers the marks of a source of `in` into `marks`, whose `at` the caller releases; `tee` is
 * added to stamps of the secure world, modulo 2^64. TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_marks_gather(const tg_reduce_in *in, const tg_records *records, uint64_t tee,
                          tg_marks *marks);

/* Cuts the marks [from, to) into stretches, appended to `out` (released by the caller).
 * TG_OK, TG_ENOMEM, TG_EINTERRUPTED. */
tg_status tg_marks_walk(const tg_reduce_in *in, const tg_marks *marks, size_t from, size_t to,
                        tg_stretches *out);

/* How well a stretch of another console fits a boot of the leading one. */
typedef enum tg_fit {
  TG_FIT_NO,      /* its stamps contradict */
  TG_FIT_UNKNOWN, /* it has no stamps to tell by */
  TG_FIT_SHIFTED, /* nothing nests, a constant shift would nest all */
  TG_FIT_YES
} tg_fit;

/* One stretch and the marks it is cut from. */
typedef struct tg_part {
  const tg_marks *marks;
  const tg_stretch *stretch;
} tg_part;

/* The evidence of a judgement: pairs of the two worlds, clients' lines, and how many of these hold
 * a call of the other console. */
typedef struct tg_fit_count {
  size_t pairs, lines, held;
} tg_fit_count;

/* Judges by the stamps whether `part` belongs to the boot that `boot[0..n)` are parts of.
 * TG_OK, TG_ENOMEM. */
tg_status tg_boot_fit(const tg_alloc *a, const tg_part *boot, size_t n, const tg_part *part,
                      tg_fit *fit, tg_fit_count *count);

/* The name of a stage in a chain; "" for those that are not named. */
const char *tg_stage_name(tg_stage stage);

#endif
