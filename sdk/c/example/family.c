// Greets people, and remembers whom it greeted.
#include "alcove.h"

typedef struct { alcove_text name; } greet_in;
typedef struct { alcove_text text; } greet_out;
ALCOVE_OBJECT(greet_in, ALCOVE_MUST(greet_in, name, text));
ALCOVE_OBJECT(greet_out, ALCOVE_MUST(greet_out, text, text));

static alcove_status greet(alcove_call *c, const void *arguments, void *result) {
  const greet_in *in = arguments;
  greet_out *out = result;
  if (!in->name.len) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "give a name");
  alcove_text word = alcove_text_of(alcove_get(c->config, "word")), tag = ALCOVE_TEXT("greeting");
  alcove_memory_item item = {.value = alcove_string(alcove_format("greeted %t", in->name)), .tags = {&tag, 1}};
  if (alcove_op_memory_put(c, &(alcove_memory_put_request){.items = {&item, 1}}, &(alcove_memory_put_response){0})) return ALCOVE_FAILED;
  out->text = alcove_format("%t, %t!", word.len ? word : ALCOVE_TEXT("Hello"), in->name);
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {{"memory_greet", greet, &alcove_is_greet_in, &alcove_is_greet_out}, {0}};
const alcove_family alcove_served = {.tools = tools};
