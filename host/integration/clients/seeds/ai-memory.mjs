// The calls and figures that the document ai-memory.md prints.
export const system = "ai-memory";
export const agent = "ai";

export async function prepare(w) {
  await w.call("memory_store", { key: "met", value: "Grace Hopper met the billing team in Berlin." });
}

const verbose = (family) => ({ family, include_schema: true, verbose: true });
const strict = (schema) => JSON.stringify(schema).includes('"additionalProperties":false');

export const examples = [
  { line: 66, tool: "memory_auto_tag", arguments: { id: "met", colour: "red" }, effect: "unknown fields are tolerated", expect: (a, w) => w.assert.ok(a.tags) },
  { line: 66, tool: "memory_auto_tag", arguments: {}, effect: "required fields are enforced", refused: "invalid_argument" },
  { line: 76, tool: "memory_auto_tag", arguments: { id: "met" }, effect: "tags a memory", expect: async (a, w) => w.assert.ok((await w.call("memory_recall", { key: "met" })).tags.length > 0) },
  { line: 101, wire: true, tool: "tools/list", arguments: {}, effect: "no schema advertises additionalProperties: false", expect: (list, w) => w.assert.deepEqual(list.filter((t) => strict(t.inputSchema)).map((t) => t.name), []) },
  { line: 199, wire: true, tool: "tools/list", arguments: {}, effect: "no docs, $schema, title or descriptions of properties on the wire", expect: (list, w) => { for (const t of list) { w.assert.ok(!("docs" in t) && !("$schema" in t.inputSchema) && !("title" in t.inputSchema) && !("description" in t.inputSchema), t.name); for (const p of Object.values(t.inputSchema.properties ?? {})) w.assert.ok(!("description" in p), t.name); } } },
  { line: 215, wire: true, tool: "tools/list", arguments: {}, effect: "a short description and the shape of arguments stay", expect: (list, w) => { for (const t of list) w.assert.ok(t.description && t.inputSchema.type === "object", t.name); w.assert.deepEqual(list.find((t) => t.name === "memory_store").inputSchema.required ?? [], []); } },
  { line: 228, tool: "memory_capabilities", arguments: verbose("auto-tag"), printed: verbose("<family>"), effect: "the untrimmed schemas with every description, and docs", expect: (a, w) => { const t = a.tools.find((x) => x.name === "memory_auto_tag"); w.assert.ok(t.docs && t.inputSchema.properties.id.description); } },
  { line: 248, tool: "memory_capabilities", arguments: {}, effect: "memory_capabilities is always there", expect: (a, w) => w.assert.ok(a.families.length > 1) },
  { line: 253, tool: "memory_load_family", arguments: { family: "auto-tag" }, effect: "loads a family", expect: (a, w) => w.assert.ok(a.tools.some((t) => t.name === "memory_auto_tag")) },
  { line: 254, tool: "memory_smart_load", arguments: { intent: "tag my notes by what they are about" }, effect: "loads by intent", expect: (a, w) => w.assert.equal(a.family, "auto-tag") },
];
