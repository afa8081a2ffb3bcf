/* axi_stream.c - an AXI4-Stream interface: beats, stalls, pauses, packets, bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "capture/axi.h"

#include "base/try.h"

#define MOST_IDS 256u     /* TIDs that are kept apart */
#define FREE_PACKETS 256u /* of one beat, in a row without a change, that cost no patience */
#define PATIENCE ((uint64_t)1 << 20)

/* A packet that goes on. */
typedef struct packet {
  uint64_t first, last, valid, beats, bytes, stall, gap;
  bool open, torn; /* torn: it may have begun before the segment */
} packet;

typedef struct stream {
  tg_axi *x;
  axi_pin valid, ready, last, id, keep;
  axi_pin *moving[6];
  size_t n_moving;
  uint64_t data_bytes;
  bool has_last, has_bytes;
  axi_channel count;
  tg_intern *ids;
  packet *packet; /* by id */
  size_t n_packet, cap_packet;
  uint64_t since; /* VALID is up since */
  bool up;
} stream;

static void set_pin(stream *s, const tg_capture *c, axi_pin *p, uint32_t signal) {
  if (signal == CAP_NONE || c->signal[signal].store == CAP_NONE) return;
  *p = (axi_pin){.store = &c->store[c->signal[signal].store], .x = true};
  s->moving[s->n_moving++] = p;
}

static bool apply(stream *s, uint32_t step) {
  bool moved = false;
  for (size_t i = 0; i < s->n_moving; i++) moved |= tg_axi_move_pin(s->moving[i], step);
  return moved;
}

static tg_status packet_of(stream *s, packet **out) {
  uint64_t id = s->id.store != NULL && !s->id.x ? s->id.v : 0;
  uint32_t code = 0;
  tg_status status = tg_intern_put(s->ids, (const uint8_t *)&id, sizeof id, &code);
  if (code >= MOST_IDS) code = 0;
  if (status == TG_OK && code >= s->n_packet) {
    status =
        tg_grow(&s->x->a, (void **)&s->packet, &s->cap_packet, code + (size_t)1, sizeof *s->packet);
    if (status != TG_OK) return status;
    for (size_t i = s->n_packet; i <= code; i++) s->packet[i] = (packet){.torn = true};
    s->n_packet = code + (size_t)1;
  }
  if (status == TG_OK) *out = &s->packet[code];
  return status;
}

static tg_status put_packet(stream *s, const packet *p, bool whole) {
  tg_row w = tg_row_begin(s->x->packets);
  tg_row_u64(&w, 0, p->valid);
  tg_row_u64(&w, 1, p->first);
  tg_row_u64(&w, 2, p->last);
  tg_row_u64(&w, 3, p->beats);
  if (s->has_bytes) tg_row_u64(&w, 4, p->bytes);
  tg_row_u64(&w, 5, p->stall);
  tg_row_u64(&w, 6, p->gap);
  tg_row_bool(&w, 7, whole && !p->torn);
  s->x->fig.packets += whole && !p->torn;
  return tg_row_end(&w);
}

static uint64_t bytes_of_beat(const stream *s) {
  if (s->keep.store == NULL || s->keep.x) return s->data_bytes;
  uint64_t bytes = 0;
  const cap_store *k = s->keep.store;
  for (uint32_t w = 0; w < k->words; w++) {
    const uint64_t v = k->width == 1 ? s->keep.v : k->value[(s->keep.at - 1) * k->words + w];
    bytes += (uint64_t)__builtin_popcountll(v);
  }
  return bytes;
}

/* `n` equal beats from sample k on. */
static tg_status beats(stream *s, uint64_t k, uint64_t n) {
  const uint64_t bytes = bytes_of_beat(s);
  packet *p = NULL;
  tg_status status = packet_of(s, &p);
  s->x->fig.stream_bytes += n * bytes;
  for (uint64_t i = 0; i < n && status == TG_OK; i++) {
    if (tg_stop_at(s->x->opt.stop, s->x->turns++, 1)) return TG_EINTERRUPTED;
    const bool single = !s->has_last || s->last.x || s->last.v == 0;
    const uint64_t take = single ? n - i : 1; /* beats without LAST in one go */
    if (!p->open) {
      const bool torn = p->torn;
      *p = (packet){.first = k + i, .valid = i == 0 ? s->since : k + i, .open = true, .torn = torn};
    }
    p->beats += take;
    p->bytes += take * bytes;
    p->last = k + i + take - 1;
    i += take - 1;
    if (single) continue;
    if (i >= FREE_PACKETS && s->x->patience-- == 0) {
      s->x->patience = 0;
      *p = (packet){.torn = true};
      return tg_axi_problem(s->x, k, CH_T, "endless",
                            "packets of one beat without a change for %llu samples: not listed",
                            (unsigned long long)n);
    }
    if (tg_table_rows(s->x->packets) >= s->x->opt.max_transactions) return TG_ELIMIT;
    status = put_packet(s, p, true);
    *p = (packet){0};
  }
  return status;
}

/* Clocks [k, k + n) without a change. */
static tg_status stretch(stream *s, uint64_t k, uint64_t n) {
  axi_channel *c = &s->count;
  const bool unknown = s->valid.x || s->ready.x;
  const bool valid = !unknown && s->valid.v != 0, ready = !unknown && s->ready.v != 0;
  bool inside = false;
  for (size_t i = 0; i < s->n_packet && s->has_last; i++) inside = inside || s->packet[i].open;
  if (valid && !s->up) s->since = k;
  s->up = valid;
  if (unknown) c->unknown += n;
  if (!valid) *(ready ? &c->ready_high : &c->ready_low) += n;
  if (valid && ready) {
    c->beat += n;
    s->up = false;
    s->since = k + n;
    tg_status status = beats(s, k, n);
    s->since = k + n;
    return status;
  }
  if (valid) c->stall += n;
  if (!valid && !unknown) *(ready ? &c->starve : &c->idle) += n;
  for (size_t i = 0; i < s->n_packet; i++) {
    packet *p = &s->packet[i];
    if (p->open && valid) p->stall += n;
    if (p->open && !valid && !unknown) p->gap += n;
  }
  if (inside && !valid && !unknown) s->x->fig.stream_gap += n;
  return TG_OK;
}

static tg_status end_segment(stream *s, bool torn) {
  tg_status status = TG_OK;
  for (size_t i = 0; i < s->n_packet && status == TG_OK; i++) {
    if (s->packet[i].open && s->has_last) status = put_packet(s, &s->packet[i], false);
    s->packet[i] = (packet){.torn = torn};
  }
  s->up = false;
  return status;
}

static tg_status walk_stream(stream *s, const tg_capture *c, uint32_t clock) {
  const uint64_t all = tg_cap_depth(c, clock);
  size_t step = 0, mark = 0, step_run = 0, mark_run = 0;
  uint64_t k = c->form == TG_CAPTURE_VCD && clock == CAP_NONE && c->n_step > 0 ? c->step[0] : 0;
  tg_status status = TG_OK;
  s->x->fig.cycles = all > k ? all - k : 0;
  while (k < all && status == TG_OK) {
    uint64_t e = all;
    if (tg_stop_at(s->x->opt.stop, s->x->turns++, 1)) return TG_EINTERRUPTED;
    for (; step < c->n_step; step++) {
      const uint64_t at = tg_cap_sample(c, clock, c->step[step], &step_run);
      if (at > k) {
        e = at < e ? at : e;
        break;
      }
      apply(s, (uint32_t)step);
    }
    for (; mark < c->n_mark && status == TG_OK; mark++) {
      const uint64_t at = tg_cap_sample(c, clock, c->mark[mark].sample, &mark_run);
      if (at > k) {
        e = at < e ? at : e;
        break;
      }
      if (c->mark[mark].kind != MARK_TRIGGER) status = end_segment(s, true);
    }
    if (status == TG_OK) status = stretch(s, k, e - k);
    k = e;
  }
  return status == TG_OK ? end_segment(s, true) : status;
}

static tg_status put_channel(const stream *s) {
  const axi_channel *c = &s->count;
  const uint64_t v[] = {c->beat,       c->stall,     c->starve, c->idle,
                        c->ready_high, c->ready_low, c->unknown};
  tg_row w = tg_row_begin(s->x->channels);
  tg_row_cstr(&w, 0, "T");
  for (size_t i = 0; i < sizeof v / sizeof *v; i++) tg_row_u64(&w, i + 1, v[i]);
  return tg_row_end(&w);
}

static tg_status walk_and_put(stream *s, const tg_capture *c, uint32_t clock) {
  TG_TRY(tg_intern_new(&s->x->a, CAP_NONE, &s->ids));
  TG_TRY(walk_stream(s, c, clock));
  return put_channel(s);
}

tg_status tg_axi_stream(tg_axi *x, const tg_capture *c, const cap_bundle *b, tg_error *err) {
  stream s = {.x = x, .data_bytes = b->data_bits / 8};
  const uint32_t *sig = b->sig[CH_T];
  set_pin(&s, c, &s.valid, sig[LEAF_VALID]);
  set_pin(&s, c, &s.ready, sig[LEAF_READY]);
  set_pin(&s, c, &s.last, sig[LEAF_LAST]);
  set_pin(&s, c, &s.id, sig[LEAF_ID]);
  set_pin(&s, c, &s.keep, sig[LEAF_KEEP]);
  if (s.valid.store == NULL || s.ready.store == NULL)
    return tg_fail(err, TG_ENODATA, 0, 0, "the stream has no TVALID and TREADY in the capture");
  s.has_last = s.last.store != NULL;
  s.has_bytes = s.data_bytes > 0 || s.keep.store != NULL;
  x->fig.stream_has_bytes = s.has_bytes;
  x->patience = x->opt.max_steady != 0 ? x->opt.max_steady : PATIENCE;
  const tg_status status = walk_and_put(&s, c, b->clock);
  tg_intern_free(s.ids);
  tg_release(&x->a, s.packet);
  return status;
}
