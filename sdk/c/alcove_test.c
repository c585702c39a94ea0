// Tests the JSON of the SDK natively: cc -std=c11 -I . alcove_test.c alcove.c && ./a.out
#include "alcove.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const alcove_family alcove_served = {0};

static void is_written_as_it_was_read(const char *text) {
  const alcove_value *v = alcove_parse(alcove_of(text));
  assert(v && alcove_equal(alcove_encode(&alcove_is_value, &v), text));
}

static void round_trips(double v) {
  double back = 0;
  alcove_text text = alcove_format("%g", v);
  assert(!alcove_decode(&alcove_is_float, alcove_parse(text), &back).len);
  if (back != v || strtod(text.at, NULL) != v) fprintf(stderr, "%a became %s\n", v, text.at), abort();
}

int main(void) {
  is_written_as_it_was_read("{\"a\":[1,2.50,-3e-7,true,null],\"b\":\"\\\"\\\\\\n\\t\\u0001\xc3\xa9\",\"c\":{}}");
  is_written_as_it_was_read("[]");
  assert(alcove_equal(alcove_text_of(alcove_parse(ALCOVE_TEXT("\"\\ud83d\\ude00\\/\\ud800x\""))), "\xf0\x9f\x98\x80/\xef\xbf\xbdx"));
  const char *malformed[] = {"", "{", "[1,]", "01", "1.", "-", "1e", "\"\n\"", "\"\\x\"", "{\"a\" 1}", "nul", "1 2", "\"\\u00g0\"", "\"", "\"\\u12"};
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) assert(!alcove_parse(alcove_of(malformed[i])));
  char deep[1001];
  memset(deep, '[', 1000), deep[1000] = 0;
  assert(!alcove_parse(alcove_of(deep)));

  double few[] = {0, 0.1, 250, -0.000125, 3.141592653589793, 1e21, 1e300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 1e22, 123456789.25, 0.3};
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) round_trips(few[i]), round_trips(-few[i]);
  uint64_t seed = 1;
  for (int i = 0; i < 400; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double v;
    uint64_t bits = seed ^ seed >> 29;
    memcpy(&v, &bits, sizeof v);
    if (v - v == 0) round_trips(v);
    if (i % 50 == 0) alcove_release();
  }
  int64_t n = 0;
  assert(!alcove_decode(&alcove_is_int, alcove_parse(ALCOVE_TEXT("-9223372036854775808")), &n).len && n == INT64_MIN);
  assert(alcove_decode(&alcove_is_int, alcove_parse(ALCOVE_TEXT("9223372036854775808")), &n).len);
  assert(alcove_equal(alcove_decode(&alcove_is_int, alcove_parse(ALCOVE_TEXT("1.5")), &n), "want a whole number"));
  assert(!alcove_decode(&alcove_is_int, alcove_parse(ALCOVE_TEXT("2e2")), &n).len && n == 200);
  uint64_t u = 0;
  assert(!alcove_decode(&alcove_is_uint, alcove_parse(ALCOVE_TEXT("18446744073709551615")), &u).len && u == UINT64_MAX);
  alcove_release();
  puts("ok");
}
