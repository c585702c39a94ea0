// Greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted
#include "alcove.h"

//alcove:config
typedef struct {
  alcove_text word; // the word before the name alcove:"default=Hello"
} config;
typedef struct {
  alcove_text name; // whom
} greet_in;
typedef struct { alcove_text text; } greet_out;
ALCOVE_OBJECT(config, ALCOVE_MAY(config, word, text));
ALCOVE_OBJECT(greet_in, ALCOVE_MUST(greet_in, name, text));
ALCOVE_OBJECT(greet_out, ALCOVE_MUST(greet_out, text, text));

// Greet somebody.
static alcove_status greet(alcove_call *c, const void *arguments, void *result) {
  const greet_in *in = arguments;
  greet_out *out = result;
  if (!in->name.len) return alcove_fail(c, ALCOVE_INVALID_ARGUMENT, "give a name");
  config settings = {.word = ALCOVE_TEXT("Hello")};
  alcove_text tag = ALCOVE_TEXT("greeting");
  alcove_decode(&alcove_is_config, c->config, &settings);
  alcove_memory_item item = {.value = alcove_string(alcove_format("greeted %t", in->name)), .tags = {&tag, 1}};
  if (alcove_op_memory_put(c, &(alcove_memory_put_request){.items = {&item, 1}}, &(alcove_memory_put_response){0})) return ALCOVE_FAILED;
  out->text = alcove_format("%t, %t!", settings.word, in->name);
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {{"memory_greet", greet, &alcove_is_greet_in, &alcove_is_greet_out}, {0}};
const alcove_family alcove_served = {.tools = tools};
