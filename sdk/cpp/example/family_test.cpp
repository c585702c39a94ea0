// Runs the family natively, with a host that only remembers the last operation.
#include "alcove.hpp"
#include <assert.h>
#include <stdio.h>

static alcove_text last;

static bool call(void *self, alcove_text op, alcove_text request, alcove_text *answer) {
  (void)self, (void)request;
  last = op;
  *answer = ALCOVE_TEXT("{\"stored\":[]}");
  return true;
}
static void log_line(void *self, alcove_text line) { (void)self, printf("%s\n", line.at); }

int main() {
  const alcove_host host = {call, log_line, nullptr};
  alcove_text result;
  assert(alcove_serve(&alcove_served, &host, ALCOVE_KIND_TOOL, ALCOVE_TEXT("{\"tool\":\"memory_greet\",\"arguments\":{\"name\":\"Ada\"}}"), &result) == ALCOVE_OK);
  assert(alcove_equal(result, "{\"text\":\"Hello, Ada!\"}") && alcove_equal(last, "memory.put"));
  assert(alcove_serve(&alcove_served, &host, ALCOVE_KIND_TOOL, ALCOVE_TEXT("{\"tool\":\"memory_greet\",\"arguments\":{\"name\":\"\"}}"), &result) == ALCOVE_FAILED);
  assert(alcove_equal(alcove_text_of(alcove_get(alcove_parse(result), "code")), ALCOVE_INVALID_ARGUMENT));
  alcove_release();
  puts("ok");
}
