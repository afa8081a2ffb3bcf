/* legacy_ahead.c - a ring of pieces between a thread that reads and one that parses.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#include "legacy_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECES = 4, PIECE = 128 * 1024 };

struct legacy_ahead {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t change;
  size_t filled, taken; /* pieces since the beginning */
  ssize_t n[PIECES];    /* bytes of each; 0 or less is the last */
  int problem;
  int fd;
  bool stop;
  bool holds; /* the caller looks at a piece */
  uint8_t bytes[PIECES][PIECE];
};

static void *fill(void *argument) {
  legacy_ahead *a = argument;
  ssize_t n = 1;
  pthread_mutex_lock(&a->lock);
  while (n > 0) {
    while (a->filled - a->taken == PIECES && !a->stop) pthread_cond_wait(&a->change, &a->lock);
    if (a->stop) break;
    const size_t at = a->filled % PIECES;
    pthread_mutex_unlock(&a->lock);
    do {
      n = read(a->fd, a->bytes[at], PIECE);
    } while (n < 0 && errno == EINTR);
    const int problem = errno;
    pthread_mutex_lock(&a->lock);
    a->n[at] = n;
    a->problem = problem;
    a->filled++;
    pthread_cond_signal(&a->change);
  }
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

legacy_ahead *legacy_ahead_new(int fd) {
  legacy_ahead *a = malloc(sizeof *a);
  sigset_t all, before;
  if (a == NULL) return NULL;
  a->filled = a->taken = 0;
  a->problem = 0;
  a->fd = fd;
  a->stop = a->holds = false;
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->change, NULL);
  sigfillset(&all); /* signals are for the interpreter's thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&a->thread, NULL, fill, a);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed == 0) return a;
  pthread_cond_destroy(&a->change);
  pthread_mutex_destroy(&a->lock);
  free(a);
  return NULL;
}

ssize_t legacy_ahead_next(legacy_ahead *a, const uint8_t **piece, int *problem) {
  pthread_mutex_lock(&a->lock);
  if (a->holds) {
    a->taken++;
    pthread_cond_signal(&a->change);
  }
  while (a->filled == a->taken) pthread_cond_wait(&a->change, &a->lock);
  const size_t at = a->taken % PIECES;
  const ssize_t n = a->n[at];
  *piece = a->bytes[at];
  *problem = a->problem;
  a->holds = n > 0;
  pthread_mutex_unlock(&a->lock);
  return n;
}

void legacy_ahead_free(legacy_ahead *a) {
  if (a == NULL) return;
  pthread_mutex_lock(&a->lock);
  a->stop = true;
  pthread_cond_signal(&a->change);
  pthread_mutex_unlock(&a->lock);
  pthread_join(a->thread, NULL);
  pthread_cond_destroy(&a->change);
  pthread_mutex_destroy(&a->lock);
  free(a);
}
