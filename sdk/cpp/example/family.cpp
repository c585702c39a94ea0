// Greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted
#include "alcove.hpp"

//alcove:config
struct config {
  alcove_text word = ALCOVE_TEXT("Hello"); // the word before the name alcove:"default=Hello"
};
struct greet_in {
  alcove_text name; // whom
};
struct greet_out { alcove_text text; };
ALCOVE_OBJECT(config, ALCOVE_MAY(config, word, text));
ALCOVE_OBJECT(greet_in, ALCOVE_MUST(greet_in, name, text));
ALCOVE_OBJECT(greet_out, ALCOVE_MUST(greet_out, text, text));

// Greet somebody.
static alcove_status greet(alcove_call &c, const greet_in &in, greet_out &out) {
  if (!in.name.len) return alcove_fail(&c, ALCOVE_INVALID_ARGUMENT, "give a name");
  config settings;
  alcove_text tag = ALCOVE_TEXT("greeting");
  alcove_decode(&alcove_is_config, c.config, &settings);
  alcove_memory_item item{.value = alcove_string(alcove_format("greeted %t", in.name)), .tags = {&tag, 1}};
  alcove_memory_put_request request{.items = {&item, 1}};
  alcove_memory_put_response stored{};
  if (alcove_op_memory_put(&c, &request, &stored)) return ALCOVE_FAILED;
  out.text = alcove_format("%t, %t!", settings.word, in.name);
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {alcove::handler<greet>("memory_greet", alcove_is_greet_in, alcove_is_greet_out), {}};
const alcove_family alcove_served = {.tools = tools};
