// Programs to be timed with and without metering. Each takes how much to do and gives a number that depends on all
// that was done. programs.wasm is made from this file by: make guests
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(tight) u32 tight(u32 n) {
  u32 x = n;
  for (u32 i = 0; i < n; i++) {
    x = x * 5 + 1;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

static u32 words[1024];

EXPORT(loop) u32 loop(u32 n) {
  u32 sum = 0;
  for (u32 i = 0; i < n; i++) {
    u32 at = (i * 7 + sum) & 1023;
    words[at] += i ^ sum;
    sum += words[(at + 13) & 1023] >> 3;
  }
  return sum;
}

EXPORT(fib) u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static u8 composite[1 << 16];

EXPORT(sieve) u32 sieve(u32 rounds) {
  u32 primes = 0;
  for (u32 r = 0; r < rounds; r++) {
    for (u32 i = 0; i < sizeof composite; i++) composite[i] = 0;
    for (u32 i = 2; i < sizeof composite; i++) {
      if (composite[i]) continue;
      primes++;
      for (u32 j = i * 2; j < sizeof composite; j += i) composite[j] = 1;
    }
  }
  return primes;
}

static u32 add(u32 a) { return a + 3; }
static u32 twist(u32 a) { return a ^ (a << 5); }
static u32 turn(u32 a) { return a << 7 | a >> 25; }
static u32 less(u32 a) { return a - 11; }
static u32 (*volatile steps[4])(u32) = {add, twist, turn, less};

EXPORT(indirect) u32 indirect(u32 n) {
  u32 x = 1;
  for (u32 i = 0; i < n; i++) x = steps[(x ^ i) & 3](x);
  return x;
}

static u8 from[1 << 16], to[1 << 16];

EXPORT(bulk) u32 bulk(u32 n) {
  u32 sum = 0;
  for (u32 i = 0; i < n; i++) {
    __builtin_memset(from, i, 64 + i % 4096);
    __builtin_memcpy(to + i % 1024, from, 32 + i % 8192);
    sum += to[i % 8192];
  }
  return sum;
}

// SHA-256 (FIPS 180-4).
static const u32 k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static u32 rotate(u32 x, u32 n) { return x >> n | x << (32 - n); }

static void block(u32 h[8], const u8 *p) {
  u32 w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = (u32)p[4 * i] << 24 | (u32)p[4 * i + 1] << 16 | (u32)p[4 * i + 2] << 8 | p[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    u32 a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    u32 b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  for (int i = 0; i < 8; i++) s[i] = h[i];
  for (int i = 0; i < 64; i++) {
    u32 a = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    u32 b = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j > 0; j--) s[j] = s[j - 1];
    s[4] += a;
    s[0] = a + b;
  }
  for (int i = 0; i < 8; i++) h[i] += s[i];
}

EXPORT(sha256) u32 sha256(u32 blocks) {
  u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (u32 i = 0; i < blocks; i++) block(h, from + (i * 64) % 65536);
  return h[0] ^ h[7];
}

// A reader of JSON that counts values and adds up numbers.
static const char text[] =
    "{\"name\":\"a memory\",\"tags\":[\"green\",\"tea\",\"afternoon\"],\"importance\":0.75,\"links\":[{\"to\":\"k1\",\"weight\":12},"
    "{\"to\":\"k2\",\"weight\":-3.5e2}],\"text\":\"The deploy script needs the staging key, and \\\"quotes\\\" too.\",\"archived\":false,"
    "\"none\":null,\"nested\":[[[1,2,3],[4,5,6]],[[7,8,9]]]}";

struct reader {
  const char *at;
  u32 values;
  double sum;
};

static void skip(struct reader *r) {
  while (*r->at == ' ' || *r->at == '\n') r->at++;
}

static void string(struct reader *r) {
  for (r->at++; *r->at && *r->at != '"'; r->at++)
    if (*r->at == '\\') r->at++;
  r->at++;
}

static void number(struct reader *r) {
  double v = 0, scale = 1;
  int negative = *r->at == '-';
  r->at += negative;
  for (; *r->at >= '0' && *r->at <= '9'; r->at++) v = v * 10 + (*r->at - '0');
  if (*r->at == '.')
    for (r->at++; *r->at >= '0' && *r->at <= '9'; r->at++) v += (*r->at - '0') * (scale /= 10);
  if (*r->at == 'e') {
    int e = 0;
    for (r->at++; *r->at >= '0' && *r->at <= '9'; r->at++) e = e * 10 + (*r->at - '0');
    while (e-- > 0) v *= 10;
  }
  r->sum += negative ? -v : v;
}

static void value(struct reader *r) {
  skip(r);
  r->values++;
  char c = *r->at;
  if (c == '"') {
    string(r);
  } else if (c == '{' || c == '[') {
    char end = c == '{' ? '}' : ']';
    for (r->at++; skip(r), *r->at && *r->at != end;) {
      if (*r->at == ',') r->at++, skip(r);
      if (c == '{') string(r), skip(r), r->at++;
      value(r);
    }
    r->at++;
  } else if (c == '-' || (c >= '0' && c <= '9')) {
    number(r);
  } else {
    while (*r->at >= 'a' && *r->at <= 'z') r->at++;
  }
}

EXPORT(json) u32 json(u32 n) {
  struct reader r = {0};
  for (u32 i = 0; i < n; i++) {
    r.at = text;
    value(&r);
  }
  return r.values + (u32)(int)r.sum;
}

// An interpreter of a small machine with registers, whose program counts, adds and calls itself in a loop.
enum op { LOAD, ADD, SUB, XOR, SHIFT, LESS, JUMP, BRANCH, STORE, FETCH, MULTIPLY, HALT };

struct instruction {
  u8 op, a, b, c;
};

static const struct instruction code[] = {
    {LOAD, 1, 0, 0},  {LOAD, 2, 1, 0},     {LOAD, 3, 7, 0},  {ADD, 4, 4, 2},   {MULTIPLY, 5, 4, 3}, {XOR, 6, 6, 5}, {SHIFT, 7, 6, 3},
    {STORE, 6, 4, 0}, {FETCH, 8, 7, 0},    {ADD, 6, 6, 8},   {LESS, 9, 8, 6},  {BRANCH, 13, 9, 0},  {SUB, 6, 6, 2}, {ADD, 1, 1, 2},
    {LESS, 9, 1, 0},  {BRANCH, 3, 9, 0},   {HALT, 6, 0, 0},
};

EXPORT(interpreter) u32 interpreter(u32 n) {
  u32 r[16] = {n};
  for (const struct instruction *i = code;; i++) {
    switch (i->op) {
    case LOAD: r[i->a] = i->b; break;
    case ADD: r[i->a] = r[i->b] + r[i->c]; break;
    case SUB: r[i->a] = r[i->b] - r[i->c]; break;
    case XOR: r[i->a] = r[i->b] ^ r[i->c]; break;
    case SHIFT: r[i->a] = r[i->b] >> i->c; break;
    case LESS: r[i->a] = r[i->b] < r[i->c]; break;
    case JUMP: i = code + i->a - 1; break;
    case BRANCH: if (r[i->b]) i = code + i->a - 1; break;
    case STORE: words[r[i->b] & 1023] = r[i->a]; break;
    case FETCH: r[i->a] = words[r[i->b] & 1023]; break;
    case MULTIPLY: r[i->a] = r[i->b] * r[i->c]; break;
    case HALT: return r[i->a];
    }
  }
}
