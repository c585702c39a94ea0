// The conformance guest in JavaScript. Its manifest is that of all languages.
import { AlcoveError, fail, family, propose, refuse } from "alcove";

export default family({
  name: "interop",
  description: "Conformance of the SDKs",
  tools: {
    memory_interop_echo: ({ text = "", count = 0, ratio = 0, flag = false, list, any, names }) => ({ text, count, ratio, flag, list: list ?? [], any, names }),
    memory_interop_fail: ({ code, message }) => fail(code, message, { details: { where: "here" } }),
    memory_interop_panic({ text }) {
      throw new Error(text);
    },
    memory_interop_memory({ key }, c) {
      c.memory.put({ items: [{ key, value: "tea", tags: ["drink"], type: "fact", importance: 0.5, metadata: { n: 1 } }] });
      const { memories } = c.memory.get({ keys: [key, "nothing"] });
      const { hits } = c.memory.search({ query: "tea", k: 3 });
      let missing = "";
      try {
        c.branch.list();
      } catch (e) {
        if (e instanceof AlcoveError) missing = e.code;
      }
      return { found: memories.map((m) => m?.key ?? "-"), importance: memories[0].importance, total: hits.length, missing };
    },
    memory_interop_raw: ({ op, request }, c) => ({ answer: c.call(op, request) }),
    memory_interop_context(input, c) {
      c.log("the word is " + c.config.word);
      const { caller, namespace, branch, now } = c.context;
      return { caller, namespace, branch, now, word: c.config.word };
    },
  },
  hooks: {
    store(entries) {
      const changes = [];
      for (const { change, value, tags = [] } of entries) {
        if (change === "delete") return refuse("it stays");
        if (value === "no") return refuse("no means no");
        if (value === "maybe") return propose("perhaps", [null]);
        if (value === "broken") fail("unavailable", "it is broken");
        changes.push(value === "secret" ? { value: "[hidden]", tags: [...tags, "redacted"] } : null);
      }
      return changes;
    },
    stored(entries, c) {
      for (const { key } of entries) c.log("stored " + key);
    },
    rank: { features: ["lexical", "semantic"], call: ({ columns: { lexical, semantic } }) => lexical.map((v, i) => 2 * v + (semantic[i] || 0)) },
    embed: { model: "interop", dimensions: 3, call: (texts) => texts.map((text) => [new TextEncoder().encode(text).length, 0.5, -1]) },
  },
  jobs: { tidy: ({ n = 0 }) => ({ done: n }) },
});
