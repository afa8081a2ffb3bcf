/* Print every reading of a console: metric, value, unit, line.
 * cc readings.c $(pkg-config --cflags --libs tickgauge) -o readings && ./readings console.log */
#include <inttypes.h>
#include <stdio.h>

#include <tickgauge/tickgauge.h>

static int say(const tg_result *result) {
  const tg_table *readings = tg_result_get(result, "readings");
  const tg_table *keys = tg_result_get(result, "keys");
  size_t value, key, line, metric, unit;
  if (readings == NULL || keys == NULL) return 1;
  if (tg_table_find(readings, "value", &value) || tg_table_find(readings, "key", &key) ||
      tg_table_find(readings, "line", &line) || tg_table_find(keys, "metric", &metric) ||
      tg_table_find(keys, "unit", &unit))
    return 1;
  for (size_t i = 0; i < tg_table_rows(readings); i++) {
    int64_t v = 0;
    uint64_t at = 0;
    uint32_t k = 0;
    tg_str name = {0}, in = {0};
    if (!tg_table_i64(readings, i, value, &v) || !tg_table_u32(readings, i, key, &k)) continue;
    tg_table_u64(readings, i, line, &at);
    tg_table_text(keys, k, metric, &name);
    tg_table_text(keys, k, unit, &in);
    printf("%.*s %" PRId64 " %.*s line %" PRIu64 "\n", (int)name.n, (const char *)name.p, v,
           (int)in.n, (const char *)in.p, at);
  }
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  tg_ruleset *rules = NULL;
  tg_reader *reader = NULL;
  tg_records *records = NULL;
  tg_result *result = NULL;
  tg_error error = {0};
  uint8_t piece[65536];
  tg_status status = file == NULL ? TG_EINVAL : tg_formats_ruleset(NULL, NULL, 0, &rules, &error);
  if (status == TG_OK) status = tg_reader_new(NULL, rules, NULL, &reader, &error);
  for (size_t n; status == TG_OK && (n = fread(piece, 1, sizeof piece, file)) > 0;)
    status = tg_reader_feed(reader, piece, n, &error);
  if (reader != NULL) tg_reader_finish(reader, &records, NULL);
  const tg_records *sources[] = {records};
  const tg_reduce_in in = {.sources = sources, .n_sources = 1};
  if (status == TG_OK) status = tg_reduce(NULL, &in, &result, &error);
  if (status != TG_OK) fprintf(stderr, "%s: %s\n", argv[argc - 1], error.message);
  int code = status == TG_OK ? say(result) : 2;
  tg_result_free(result);
  tg_records_free(records);
  tg_reader_free(reader);
  tg_ruleset_free(rules);
  if (file != NULL) fclose(file);
  return code;
}
