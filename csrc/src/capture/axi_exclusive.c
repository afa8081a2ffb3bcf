/* axi_exclusive.c - exclusive accesses: a read and a write of one id and address, of which the
 * write is
 * done where it is answered with EXOKAY, and fails with OKAY.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"
#include "capture/axi.h"

/* The address of the last exclusive read of each id. */
typedef struct monitor {
  tg_intern *ids;
  uint64_t *address;
  size_t n, cap;
} monitor;

static tg_status note_read(tg_axi *x, monitor *m, const axi_txn *t) {
  uint32_t code = 0;
  TG_TRY(tg_intern_put(m->ids, (const uint8_t *)&t->id, sizeof t->id, &code));
  if (code >= m->n) {
    TG_TRY(tg_reserve(&x->a, &m->address, &m->cap, code + (size_t)1, sizeof *m->address));
    m->n = code + (size_t)1;
  }
  m->address[code] = t->addr;
  return TG_OK;
}

static bool has_read(const monitor *m, const axi_txn *t) {
  uint32_t code = 0;
  return tg_intern_find(m->ids, (const uint8_t *)&t->id, sizeof t->id, &code) == TG_OK &&
         m->address[code] == t->addr;
}

/* A transaction in the order of acceptance. */
static tg_status take(tg_axi *x, monitor *m, const axi_txn *t) {
  tg_axi_figures *f = &x->fig;
  const bool told = (t->flags & TG_AXI_F_COUNTED) != 0 && (t->known & KNOW_RESP) != 0;
  const bool addressed = (t->known & KNOW_ADDR) != 0;
  f->locked += t->lock == LOCK_LOCKED;
  if (t->lock != LOCK_EXCLUSIVE) return TG_OK;
  if (t->direction == READ) {
    f->exclusive_reads++;
    f->exclusive_refused += told && t->resp == 0;
    return addressed ? note_read(x, m, t) : TG_OK;
  }
  f->exclusive_writes++;
  f->exclusive_pairs += addressed && has_read(m, t);
  f->exclusive_done += told && t->resp == 1;
  f->exclusive_failed += told && t->resp == 0;
  return TG_OK;
}

tg_status tg_axi_exclusive(tg_axi *x) {
  monitor m = {0};
  tg_status status = tg_intern_new(&x->a, CAP_NONE, &m.ids);
  for (size_t i = 0; i < x->n_txn && status == TG_OK; i++) {
    if ((x->txn[i].known & KNOW_LOCK) == 0 || x->txn[i].status == ORPHAN) continue;
    status = take(x, &m, &x->txn[i]);
  }
  tg_intern_free(m.ids);
  tg_release(&x->a, m.address);
  return status;
}
