// Uses every tool through one of the TypeScript SDKs, as configured by a file that the product prints.
//
//   node session.mjs sdk|client|client-2026 CONFIG.json
//
// The kinds are those of connect.mjs.
import assert from "node:assert/strict";
import { connect, stateless } from "./connect.mjs";

const [kind, configuration] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration);

// call uses a tool and gives its structured result.
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name} failed: ${result.content[0].text}`);
  assert.equal(result.content[0].type, "text");
  JSON.parse(result.content[0].text);
  return result.structuredContent;
}

// refused uses a tool wrongly and gives the error.
async function refused(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(result.isError, `${name} was not refused`);
  return JSON.parse(result.content[0].text);
}

const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name), [
  "memory_store", "memory_recall", "memory_search", "memory_forget", "memory_log", "memory_branch", "memory_history", "memory_status",
  "memory_capabilities", "memory_load_family", "memory_operation",
]);
for (const tool of tools) {
  assert.equal(tool.inputSchema.type, "object");
  assert.deepEqual(Object.keys(tool.annotations).sort(), ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"]);
}
assert.match(client.getInstructions(), /memory_search/);
assert.equal(client.getServerVersion().name, "alcove");

const namespace = `clients/${kind}/${transport}`;
const side = `${namespace}/side`;
const value = { city: "Oslo", zone: "CET", nested: [1, null, { deep: true }], text: "<&> é 日本 \u2028" };

const first = await call("memory_store", { key: "user/home", value, tags: ["user"], type: "fact", importance: 0.7, namespace });
assert.equal(first.key, "user/home");
assert.match(first.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
const batch = await call("memory_store", { items: [{ key: "a", value: 1 }, { key: "b", value: "apple" }], namespace });
assert.equal(batch.stored.length, 2);

assert.deepEqual((await call("memory_recall", { key: "user/home", namespace })).value, value);
const missing = await call("memory_recall", { key: "nothing", namespace });
assert.equal(missing.found, false);
assert.ok(missing.note.includes('no memory under "nothing"'), missing.note);

const found = await call("memory_search", { query: "Where is the user's home? In Oslo?", k: 3, tags: "user", namespace });
assert.equal(found.results[0].key, "user/home");
assert.ok(found.results[0].score > 0 && JSON.stringify(found.results[0].value).includes("Oslo"));

assert.equal((await call("memory_log", { event: "moved", data: { to: "Bergen" }, namespace })).sequence, 1);
assert.equal((await call("memory_search", { query: "Bergen", events: true, namespace })).results[0].event, "moved");

await call("memory_branch", { action: "fork", name: side });
await call("memory_store", { key: "user/home", value: "Bergen", namespace, branch: side });
const switched = await call("memory_branch", { action: "switch", name: side });
assert.equal((await call("memory_status", {})).branch, stateless(kind) ? "default" : side);
assert.equal(switched.note !== undefined, stateless(kind));
await call("memory_branch", { action: "switch", name: "default" });
assert.equal((await call("memory_branch", { action: "diff", compare: side, namespace })).changed, 1);
assert.equal((await call("memory_branch", { action: "merge", source: side, preview: true, namespace })).merged, false);
assert.equal((await call("memory_branch", { action: "merge", source: side, namespace })).merged, true);
await call("memory_branch", { action: "delete", name: side });
assert.ok((await call("memory_branch", { action: "list" })).branches.some((b) => b.name === "default"));

const { versions } = await call("memory_history", { key: "user/home", namespace });
assert.equal(versions[0].value, "Bergen");
assert.deepEqual(versions.at(-1).value, value);
assert.deepEqual((await call("memory_recall", { key: "user/home", namespace, as_of: `v${first.version}` })).value, value);
assert.equal((await call("memory_history", {})).branch, "default");

const forgotten = await call("memory_forget", { key: ["a", "b", "c"], namespace });
assert.deepEqual([forgotten.deleted, forgotten.count], [true, 2]);
assert.ok(forgotten.note.includes('no memory under "c"'), forgotten.note);
const status = await call("memory_status", { namespace });
assert.equal(status.health, "ok");
assert.equal(status.keys, 1);

const many = await Promise.all(Array.from({ length: 50 }, (_, i) => call("memory_store", { key: `many/${i}`, value: i, namespace })));
assert.equal(new Set(many.map((m) => m.version)).size, 50);

for (let i = 0; i < 4; i++) {
  await call("memory_store", { key: `large/${i}`, value: `pear ${"x ".repeat(10_000)}`, namespace });
}
const large = await client.callTool({ name: "memory_search", arguments: { query: "pear", namespace } });
assert.equal(large.structuredContent.results.length, 4);
assert.equal(large.content.length, 2);
assert.match(large.content[1].text, /4 long values were cut/);

const wrong = await refused("memory_search", { query: "x", k: "many" });
assert.equal(wrong.code, "invalid_argument");
assert.equal(wrong.message, 'k must be a whole number from 1 to 50, got "many"');
await assert.rejects(client.callTool({ name: "remember", arguments: {} }), /the tools are memory_store/);

const version = client.getNegotiatedProtocolVersion?.() ?? "";
if (kind === "client-2026") {
  assert.equal(version, "2026-07-28");
}
await client.close();
console.log(`ok ${kind} ${transport} ${version}`.trim());
