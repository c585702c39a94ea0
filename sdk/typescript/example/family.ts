// Greets people, and remembers whom it greeted.
import { fail, family, t } from "alcove";

const greeting = (word: string, name: string): string => `${word}, ${name}!`;

export default family({
  name: "example",
  version: "0.1.0",
  description: "Greets people, and remembers whom it greeted",
  license: "Apache-2.0",
  capabilities: [{ name: "memory.write", scope: ["*"], reason: "to remember whom it greeted" }],
  config: [{ key: "word", description: "The word before the name", schema: { type: "string" }, default: "Hello" }],
  tools: {
    memory_greet: {
      description: "Greet somebody.",
      input: { name: t.string("whom") },
      output: { text: t.string() },
      call({ name }, c) {
        if (!name) fail("invalid_argument", "give a name");
        c.memory.put({ items: [{ value: `greeted ${name}`, tags: ["greeting"] }] });
        return { text: greeting(c.config.word || "Hello", name) };
      },
    },
  },
});
