// Greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted
import { Call, Code, Family, Json, MemoryItem, MemoryPutRequest } from "../assembly/index";

//alcove:config
interface Config {
  word: string; // the word before the name alcove:"default=Hello"
}
interface Greet {
  name: string; // whom
}
interface Greeting { text: string }

// Greet somebody.
//alcove:takes Greet
//alcove:gives Greeting
function greet(call: Call, input: Json): Json | null {
  const name = input.get("name").string(), word = call.config.get("word").string();
  if (name == "") return call.fail(Code.InvalidArgument, "give a name");
  const item = new MemoryItem(), put = new MemoryPutRequest();
  item.value = Json.text("greeted " + name);
  item.tags = ["greeting"];
  put.items = [item];
  if (call.memoryPut(put) == null) return null;
  return Json.object().set("text", Json.text((word == "" ? "Hello" : word) + ", " + name + "!"));
}

const family = new Family().tool("memory_greet", greet);

export function alcove_handle(kind: u32, length: u32): i32 { return family.serve(kind, length); }
