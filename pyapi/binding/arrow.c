/* arrow.c - tables for other libraries: the Arrow C data and stream interfaces as PyCapsules.
 *
 * A table is a struct array with one child a column: integers and floats without a copy, text as
 * dictionary-encoded UTF-8 (int32 indices over the codes), booleans as bits. Everything a
 * consumer is given comes from malloc and from a tg_py_hold, so that it can be released on any
 * thread, with or without the GIL, and long after the Python objects are gone.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The structures of the interface, as https://arrow.apache.org/docs/format/CDataInterface.html
 * and CStreamInterface.html lay them down. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2
struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

/* Formats by tg_type; text is an index into a dictionary of "u". */
static const char *const formats[] = {[TG_U64] = "L", [TG_I64] = "l",  [TG_U32] = "I",
                                      [TG_F64] = "g", [TG_BOOL] = "b", [TG_TEXT] = "i"};

/* ---- schema ---- */

static void schema_release(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    struct ArrowSchema *child = schema->children[i];
    if (child != NULL && child->release != NULL) child->release(child);
    free(child);
  }
  free(schema->children);
  if (schema->dictionary != NULL) {
    if (schema->dictionary->release != NULL) schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
  }
  free(schema->private_data); /* name and metadata in one block */
  schema->release = NULL;
}

/* The power of ten of a decimal column, as the metadata block {"tickgauge:exp10": "-3"}. */
static size_t exponent_metadata(int32_t exp10, char out[64]) {
  static const char key[] = "tickgauge:exp10";
  char value[16];
  int32_t head[2] = {1, (int32_t)(sizeof key - 1)};
  int32_t length = (int32_t)snprintf(value, sizeof value, "%ld", (long)exp10);
  size_t at = 0;
  memcpy(out, head, sizeof head);
  at += sizeof head;
  memcpy(out + at, key, sizeof key - 1);
  at += sizeof key - 1;
  memcpy(out + at, &length, sizeof length);
  at += sizeof length;
  memcpy(out + at, value, (size_t)length);
  return at + (size_t)length;
}

/* Fills `schema` as a leaf or, with n_children, a struct. 0 or ENOMEM (then released). */
static int schema_init(struct ArrowSchema *schema, const char *format, const char *name,
                       int32_t exp10, size_t n_children) {
  char metadata[64];
  size_t extra = exp10 != 0 ? exponent_metadata(exp10, metadata) : 0;
  size_t size = strlen(name) + 1;
  memset(schema, 0, sizeof *schema);
  schema->release = schema_release;
  schema->format = format;
  schema->flags = ARROW_FLAG_NULLABLE;
  char *block = malloc(size + extra);
  schema->private_data = block;
  if (block == NULL) goto fail;
  memcpy(block, name, size);
  schema->name = block;
  if (extra != 0) {
    memcpy(block + size, metadata, extra);
    schema->metadata = block + size;
  }
  if (n_children == 0) return 0;
  schema->flags = 0;
  schema->children = calloc(n_children, sizeof(struct ArrowSchema *));
  if (schema->children == NULL) goto fail;
  schema->n_children = (int64_t)n_children;
  for (size_t i = 0; i < n_children; i++) {
    schema->children[i] = calloc(1, sizeof(struct ArrowSchema));
    if (schema->children[i] == NULL) goto fail;
  }
  return 0;
fail:
  schema_release(schema);
  return ENOMEM;
}

static int schema_fill(const tg_table *table, struct ArrowSchema *out) {
  size_t n = tg_table_cols(table);
  struct ArrowSchema schema;
  int code = schema_init(&schema, "+s", "", 0, n);
  if (code != 0) return code;
  for (size_t i = 0; i < n; i++) {
    tg_column_view view;
    struct ArrowSchema *child = schema.children[i];
    if (tg_table_view(table, i, &view) != TG_OK) code = EINVAL;
    if (code == 0) code = schema_init(child, formats[view.type], view.name, view.exp10, 0);
    if (code == 0 && view.type == TG_TEXT) {
      child->dictionary = calloc(1, sizeof(struct ArrowSchema));
      code = child->dictionary == NULL ? ENOMEM : schema_init(child->dictionary, "u", "", 0, 0);
    }
    if (code != 0) {
      schema_release(&schema);
      return code;
    }
  }
  *out = schema;
  return 0;
}

/* ---- array ---- */

/* The property of one array: a share of the table, and the buffers made for this export. */
typedef struct {
  tg_py_hold *hold;
  const void *buffers[3];
  void *own[3];
} Export;

static void array_release(struct ArrowArray *array) {
  Export *export = array->private_data;
  for (int64_t i = 0; i < array->n_children; i++) {
    struct ArrowArray *child = array->children[i];
    if (child != NULL && child->release != NULL) child->release(child);
    free(child);
  }
  free(array->children);
  if (array->dictionary != NULL) {
    if (array->dictionary->release != NULL) array->dictionary->release(array->dictionary);
    free(array->dictionary);
  }
  if (export != NULL) {
    for (size_t i = 0; i < 3; i++) free(export->own[i]);
    tg_py_hold_put(export->hold);
    free(export);
  }
  array->release = NULL;
}

/* An array of `length` rows that holds `hold` (may be NULL). 0 or ENOMEM (then released). */
static int array_init(struct ArrowArray *array, tg_py_hold *hold, size_t length, int64_t n_buffers,
                      size_t n_children) {
  memset(array, 0, sizeof *array);
  array->release = array_release;
  array->length = (int64_t)length;
  Export *export = calloc(1, sizeof *export);
  if (export == NULL) goto fail;
  array->private_data = export;
  array->buffers = export->buffers;
  array->n_buffers = n_buffers;
  if (hold != NULL) export->hold = tg_py_hold_get(hold);
  if (n_children == 0) return 0;
  array->children = calloc(n_children, sizeof(struct ArrowArray *));
  if (array->children == NULL) goto fail;
  array->n_children = (int64_t)n_children;
  for (size_t i = 0; i < n_children; i++) {
    array->children[i] = calloc(1, sizeof(struct ArrowArray));
    if (array->children[i] == NULL) goto fail;
  }
  return 0;
fail:
  array_release(array);
  return ENOMEM;
}

/* A bitmap for `rows` rows; never of size 0. */
static uint8_t *new_bits(size_t rows) { return malloc(rows / 8 + 1); }

/* The dictionary array of a text column. 0, ENOMEM, or EOVERFLOW beyond 2^31-1 bytes. */
static int array_words(struct ArrowArray *array, const tg_intern *words) {
  int32_t *offsets = NULL;
  uint8_t *text = NULL;
  int code = array_init(array, NULL, tg_intern_count(words), 3, 0);
  if (code != 0) return code;
  tg_status s = tg_intern_utf8(NULL, words, &offsets, &text);
  if (s != TG_OK) {
    array_release(array);
    return s == TG_ENOMEM ? ENOMEM : EOVERFLOW;
  }
  Export *export = array->private_data;
  export->own[1] = offsets;
  export->own[2] = text;
  export->buffers[1] = offsets;
  export->buffers[2] = text;
  return 0;
}

/* One column. 0, ENOMEM or EOVERFLOW; on failure nothing is left to release. */
static int array_column(struct ArrowArray *array, const tg_table *table, size_t col,
                        tg_py_hold *hold) {
  static const uint64_t nothing = 0;
  tg_column_view view;
  size_t missing = 0;
  if (tg_table_view(table, col, &view) != TG_OK) return EINVAL;
  int code = array_init(array, hold, view.rows, 2, 0);
  if (code != 0) return code;
  Export *export = array->private_data;
  export->own[0] = new_bits(view.rows);
  code = ENOMEM;
  if (export->own[0] == NULL) goto fail;
  (void)tg_table_valid_bits(table, col, export->own[0], &missing);
  array->null_count = (int64_t)missing;
  if (missing != 0) export->buffers[0] = export->own[0];
  export->buffers[1] = view.data != NULL ? view.data : &nothing;
  if (view.type == TG_BOOL) {
    export->own[1] = new_bits(view.rows);
    if (export->own[1] == NULL) goto fail;
    (void)tg_table_bool_bits(table, col, export->own[1]);
    export->buffers[1] = export->own[1];
  } else if (view.type == TG_TEXT) {
    array->dictionary = calloc(1, sizeof(struct ArrowArray));
    if (array->dictionary == NULL) goto fail;
    code = array_words(array->dictionary, view.dict);
    if (code != 0) goto fail;
  }
  return 0;
fail:
  array_release(array);
  return code;
}

static int array_fill(const tg_table *table, tg_py_hold *hold, struct ArrowArray *out) {
  size_t n = tg_table_cols(table);
  struct ArrowArray array;
  int code = array_init(&array, hold, tg_table_rows(table), 1, n);
  for (size_t i = 0; code == 0 && i < n; i++) {
    code = array_column(array.children[i], table, i, hold);
    if (code != 0) array_release(&array);
  }
  if (code == 0) *out = array;
  return code;
}

/* ---- stream ---- */

typedef struct {
  tg_py_hold *hold;
  const tg_table *table;
  const char *error;
  int done;
} Stream;

static int stream_result(Stream *stream, int code) {
  stream->error = code == 0        ? NULL
                  : code == ENOMEM ? "no memory"
                                   : "the words of a text column exceed 2^31-1 bytes";
  return code;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  Stream *stream = self->private_data;
  return stream_result(stream, schema_fill(stream->table, out));
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  Stream *stream = self->private_data;
  if (stream->done) {
    memset(out, 0, sizeof *out); /* a released array says: the end */
    return stream_result(stream, 0);
  }
  int code = array_fill(stream->table, stream->hold, out);
  if (code == 0) stream->done = 1;
  return stream_result(stream, code);
}

static const char *stream_error(struct ArrowArrayStream *self) {
  return ((Stream *)self->private_data)->error;
}

static void stream_release(struct ArrowArrayStream *self) {
  Stream *stream = self->private_data;
  tg_py_hold_put(stream->hold);
  free(stream);
  self->release = NULL;
}

/* ---- capsules ---- */

#define CAPSULE_END(what, Type)                                     \
  static void what##_capsule_end(PyObject *capsule) {               \
    struct Type *p = PyCapsule_GetPointer(capsule, "arrow_" #what); \
    if (p != NULL && p->release != NULL) p->release(p);             \
    free(p);                                                        \
  }
CAPSULE_END(schema, ArrowSchema)
CAPSULE_END(array, ArrowArray)
CAPSULE_END(array_stream, ArrowArrayStream)

static PyObject *raise_code(PyObject *module, int code) {
  if (code == ENOMEM) return PyErr_NoMemory();
  return tg_py_raise(module, TG_ELIMIT, NULL, 0);
}

PyObject *tg_py_arrow_schema(PyObject *module, const tg_table *table) {
  struct ArrowSchema *schema = calloc(1, sizeof *schema);
  if (schema == NULL) return PyErr_NoMemory();
  int code = schema_fill(table, schema);
  if (code != 0) {
    free(schema);
    return raise_code(module, code);
  }
  PyObject *capsule = PyCapsule_New(schema, "arrow_schema", schema_capsule_end);
  if (capsule == NULL) {
    schema->release(schema);
    free(schema);
  }
  return capsule;
}

PyObject *tg_py_arrow_array(PyObject *module, const tg_table *table, tg_py_hold *hold) {
  PyObject *schema = tg_py_arrow_schema(module, table);
  if (schema == NULL) return NULL;
  struct ArrowArray *array = calloc(1, sizeof *array);
  int code = array == NULL ? ENOMEM : array_fill(table, hold, array);
  if (code != 0) {
    free(array);
    Py_DECREF(schema);
    return raise_code(module, code);
  }
  PyObject *capsule = PyCapsule_New(array, "arrow_array", array_capsule_end);
  if (capsule == NULL) {
    array->release(array);
    free(array);
    Py_DECREF(schema);
    return NULL;
  }
  return Py_BuildValue("(NN)", schema, capsule);
}

PyObject *tg_py_arrow_stream(PyObject *module, const tg_table *table, tg_py_hold *hold) {
  (void)module;
  struct ArrowArrayStream *self = calloc(1, sizeof *self);
  Stream *stream = calloc(1, sizeof *stream);
  if (self == NULL || stream == NULL) {
    free(self);
    free(stream);
    return PyErr_NoMemory();
  }
  stream->hold = tg_py_hold_get(hold);
  stream->table = table;
  self->get_schema = stream_schema;
  self->get_next = stream_next;
  self->get_last_error = stream_error;
  self->release = stream_release;
  self->private_data = stream;
  PyObject *capsule = PyCapsule_New(self, "arrow_array_stream", array_stream_capsule_end);
  if (capsule == NULL) {
    self->release(self);
    free(self);
  }
  return capsule;
}
