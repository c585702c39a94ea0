// What tsc is to accept, and what to refuse.
import { fail, family, refuse, t } from "alcove";

export default family({
  name: "typed",
  description: "Is checked and never run",
  tools: {
    typed_first: {
      description: "Takes a number.",
      input: { n: t.number(), many: t.optional(t.list(t.string())), of: t.optional(t.object({ a: t.integer(), b: t.optional(t.boolean()) })) },
      output: { r: t.number() },
      call({ n, many, of }, c) {
        const texts: string[] | undefined = many;
        const flag: boolean | undefined = of?.b;
        c.log(texts, flag);
        // @ts-expect-error: a number has no such member
        n.length;
        return { r: n * 2 };
      },
    },
    typed_second: {
      description: "Reads memories.",
      input: { name: t.string() },
      async call({ name }, c) {
        const { memories } = c.memory.get({ keys: [name] });
        const key: string = memories[0]?.key ?? fail("not_found", "there is none");
        // @ts-expect-error: keys are a list
        c.memory.get({ keys: name });
        // @ts-expect-error: there is no such operation
        c.memory.gett({ keys: [name] });
        // @ts-expect-error: there is no such code
        if (!key) fail("lost", "it is lost");
        for (const m of c.memories({ prefix: "a" })) console.log(m.key, m.tags);
        return { key };
      },
    },
  },
  hooks: {
    store: { changes: ["store"], call: (entries) => (entries.length > 9 ? refuse("too many") : entries.map((e) => (e.value === "no" ? null : { tags: ["seen"] }))) },
    rank: { features: ["score"], call: ({ columns }) => columns.score! },
  },
  jobs: { tidy: { every: "1d", call: (payload, c) => ({ at: c.context.now }) } },
});
