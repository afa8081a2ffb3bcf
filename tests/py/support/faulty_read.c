/* Preloaded by test_read_errors.py: reading a file whose name holds FAULTY goes wrong.
 *
 * FAULT is EIO or ESTALE (every read behind AT good ones fails), EINTR (every second read fails
 * once), or SHORT (a read gives at most 700 bytes). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long count;

static int is_faulty(int fd) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length <= 0) return 0;
  name[length] = 0;
  return strstr(name, "FAULTY") != NULL;
}

/* The error of this read, or 0; `*most` is what it may give. */
static int fault(int fd, size_t *most) {
  const char *kind = getenv("FAULT"), *at = getenv("AT");
  if (kind == NULL || !is_faulty(fd)) return 0;
  const long n = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (strcmp(kind, "EINTR") == 0) return n % 2 ? EINTR : 0;
  if (*most > 700) *most = 700;
  if (strcmp(kind, "SHORT") == 0) return 0;
  if (n <= (at == NULL ? 0 : atol(at))) return 0;
  return strcmp(kind, "ESTALE") == 0 ? ESTALE : EIO;
}

ssize_t read(int fd, void *into, size_t size) {
  static ssize_t (*real)(int, void *, size_t);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "read");
  const int error = fault(fd, &size);
  if (error != 0) {
    errno = error;
    return -1;
  }
  return real(fd, into, size);
}

ssize_t pread64(int fd, void *into, size_t size, off64_t from) {
  static ssize_t (*real)(int, void *, size_t, off64_t);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pread64");
  const int error = fault(fd, &size);
  if (error != 0) {
    errno = error;
    return -1;
  }
  return real(fd, into, size, from);
}

ssize_t pread(int fd, void *into, size_t size, off_t from) { return pread64(fd, into, size, from); }
