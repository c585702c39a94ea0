// Runs the family natively, with a host that remembers the last request.
#include "alcove.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static alcove_text last;

static bool call(void *self, alcove_text op, alcove_text request, alcove_text *answer) {
  (void)self;
  assert(alcove_equal(op, "memory.list"));
  last = request;
  *answer = ALCOVE_TEXT("{\"memories\":[{\"namespace\":\"default\",\"key\":\"smyth\"}]}");
  return true;
}
static void log_line(void *self, alcove_text line) { (void)self, printf("%s\n", line.at); }
static const alcove_host host = {call, log_line, NULL};

static alcove_text ask(uint32_t kind, const char *request, alcove_status want) {
  alcove_text result;
  assert(alcove_serve(&alcove_served, &host, kind, alcove_of(request), &result) == want);
  return result;
}

static void sounds(const char *name, const char *code) {
  char request[200], want[100];
  sprintf(request, "{\"tool\":\"memory_find_name\",\"arguments\":{\"name\":\"%s\"}}", name);
  sprintf(want, "{\"codes\":[\"sounds:%s\"],\"keys\":[\"smyth\"]}", code);
  alcove_text result = ask(ALCOVE_KIND_TOOL, request, ALCOVE_OK);
  if (!alcove_equal(result, want)) printf("%s: %s\n", name, result.at);
  assert(alcove_equal(result, want));
}

static void stores(const char *entry, const char *want) {
  char request[400];
  sprintf(request, "{\"hook\":\"store\",\"config\":{\"type\":\"person\"},\"entries\":[%s]}", entry);
  alcove_text result = ask(ALCOVE_KIND_HOOK, request, ALCOVE_OK);
  if (!alcove_equal(result, want)) printf("%s: %s\n", entry, result.at);
  assert(alcove_equal(result, want));
}

int main(void) {
  const char *names[][2] = {{"Robert", "R163"}, {"rupert", "R163"}, {"Ashcraft", "A261"}, {"Tymczak", "T522"}, {"Pfister", "P236"}, {"Honeyman", "H555"}, {"Lee", "L000"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) sounds(names[i][0], names[i][1]);
  assert(strstr(last.at, "\"tags\":[\"sounds:L000\"]"));
  ask(ALCOVE_KIND_TOOL, "{\"tool\":\"memory_find_name\",\"arguments\":{\"name\":\"4 !\"}}", ALCOVE_FAILED);
  stores("{\"key\":\"a\",\"type\":\"person\",\"tags\":[\"friend\",\"sounds:X000\"],\"value\":\"Jon Smyth plays chess with Jan\"}",
         "{\"entries\":[{\"tags\":[\"friend\",\"sounds:J500\",\"sounds:S530\"]}]}");
  stores("{\"key\":\"a\",\"type\":\"person\",\"value\":{\"name\":\"Ann\"}}", "{\"entries\":[{\"tags\":[\"sounds:A500\"]}]}");
  stores("{\"key\":\"a\",\"type\":\"note\",\"value\":\"Ann\"}", "{\"entries\":[null]}");
  alcove_release();
  puts("ok");
}
