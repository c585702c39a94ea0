// What testdata/bench/small.c of the sandbox does, for Extism: it reads its input, asks the host for a memory, and
// answers with the quotes in both. Bytes travel eight at a time, as Extism's own kits have it.
typedef unsigned long long u64;
#define ENV(n) __attribute__((import_module("extism:host/env"), import_name(n)))
ENV("input_length") u64 input_length(void);
ENV("input_load_u8") unsigned input_load_u8(u64);
ENV("input_load_u64") u64 input_load_u64(u64);
ENV("alloc") u64 alloc(u64);
ENV("length") u64 length(u64);
ENV("load_u8") unsigned load_u8(u64);
ENV("load_u64") u64 load_u64(u64);
ENV("store_u8") void store_u8(u64, unsigned);
ENV("store_u64") void store_u64(u64, u64);
ENV("output_set") void output_set(u64, u64);
__attribute__((import_module("extism:host/user"), import_name("memory_get"))) u64 memory_get(u64);

static char request[16384], response[16384];

static int number(char *to, int n) {
  char digits[12];
  int count = 0, at = 0;
  do digits[count++] = '0' + n % 10; while ((n /= 10) > 0);
  while (count > 0) to[at++] = digits[--count];
  return at;
}

static int quotes(const char *bytes, int n) {
  int found = 0;
  for (int i = 0; i < n; i++) found += bytes[i] == '"';
  return found;
}

static u64 give(const char *bytes, u64 n) {
  u64 at = alloc(n), i = 0;
  for (; i + 8 <= n; i += 8) { u64 word; __builtin_memcpy(&word, bytes + i, 8); store_u64(at + i, word); }
  for (; i < n; i++) store_u8(at + i, (unsigned char)bytes[i]);
  return at;
}

__attribute__((export_name("handle"))) int handle(void) {
  static char result[64];
  u64 n = input_length(), i = 0;
  for (; i + 8 <= n; i += 8) { u64 word = input_load_u64(i); __builtin_memcpy(request + i, &word, 8); }
  for (; i < n; i++) request[i] = input_load_u8(i);
  u64 found = memory_get(give("{\"key\":\"tea\"}", 13));
  u64 m = length(found);
  for (i = 0; i + 8 <= m; i += 8) { u64 word = load_u64(found + i); __builtin_memcpy(response + i, &word, 8); }
  for (; i < m; i++) response[i] = load_u8(found + i);
  int at = 0;
  result[at++] = '[';
  at += number(result + at, quotes(request, n));
  result[at++] = ',';
  at += number(result + at, quotes(response, m));
  result[at++] = ']';
  output_set(give(result, at), at);
  return 0;
}
