// Greets people, and remembers whom it greeted.
#include "alcove.hpp"

struct greet_in { alcove_text name; };
struct greet_out { alcove_text text; };
ALCOVE_OBJECT(greet_in, ALCOVE_MUST(greet_in, name, text));
ALCOVE_OBJECT(greet_out, ALCOVE_MUST(greet_out, text, text));

static alcove_status greet(alcove_call &c, const greet_in &in, greet_out &out) {
  if (!in.name.len) return alcove_fail(&c, ALCOVE_INVALID_ARGUMENT, "give a name");
  alcove_text word = alcove_text_of(alcove_get(c.config, "word")), tag = ALCOVE_TEXT("greeting");
  alcove_memory_item item{.value = alcove_string(alcove_format("greeted %t", in.name)), .tags = {&tag, 1}};
  alcove_memory_put_request request{.items = {&item, 1}};
  alcove_memory_put_response stored{};
  if (alcove_op_memory_put(&c, &request, &stored)) return ALCOVE_FAILED;
  out.text = alcove_format("%t, %t!", word.len ? word : ALCOVE_TEXT("Hello"), in.name);
  return ALCOVE_OK;
}

static const alcove_handler tools[] = {alcove::handler<greet>("memory_greet", alcove_is_greet_in, alcove_is_greet_out), {}};
const alcove_family alcove_served = {.tools = tools};
