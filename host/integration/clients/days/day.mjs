// A client's day with the server.
//
//   node day.mjs KIND CONFIG.json
//
// It prints "kill" when the server is to be killed, goes on once it reads a line, and ends with "ok KIND" and what it found.
import assert from "node:assert/strict";
import { once } from "node:events";
import { kinds } from "./clients.mjs";

const [kind, file] = process.argv.slice(2);
let client = await kinds[kind](file);
const namespace = `day/${kind}`, key = "drink/tea", value = `green tea of ${kind}`, found = [];
const has = (answer, part, what) => assert.ok(answer.includes(part), `${what}: got ${answer.slice(0, 500)}, want ${part}`);

// until waits for something that happens soon.
async function until(what, is) {
  for (let i = 0; i < 1200; i++) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what} has not happened`);
}

// Find a tool, and call it.
const first = await client.names();
assert.equal(first.length, 11, `the list is ${first}`);
assert.ok(first.includes("memory_search"));
has(await client.call("memory_store", { key, value, namespace }), key, "store");
has(await client.call("memory_search", { query: "which tea", namespace }), value, "search");

// Load a family, and call its tool: by name where the client lists it, else through memory_operation.
has(await client.call("memory_load_family", { family: "settings" }), "memory_get_config", "load");
if (client.changes() !== undefined) await until("a change of the list", () => client.changes() > 0);
const listed = (await client.names()).includes("memory_get_config");
found.push(listed ? "lists what it loaded" : "goes on by memory_operation");
has(listed ? await client.call("memory_get_config", {}) : await client.call("memory_operation", { method: "memory_get_config", params: {} }), "config", "a tool of a family");

// Resources and prompts.
has(await client.read(`alcove://memory/${encodeURIComponent(namespace)}/${encodeURIComponent(key)}`), value, "a resource");
has(await client.prompt("recall", { topic: "tea" }), "memory_search", "a prompt");

// Cancel a call: the client goes on.
const abort = new AbortController();
const batch = Array.from({ length: 100 }, () => ({ method: "memory_search", params: { query: "tea", namespace } }));
const canceled = client.call("memory_operation", { batch }, abort.signal).then(() => "was done before", () => "cancels");
abort.abort(new Error("the user left"));
found.push(await canceled);
has(await client.call("memory_status", {}), "branch", "after a canceled call");

// The server is killed, and another one serves.
console.log("kill");
await once(process.stdin, "data");
has(await client.call("memory_recall", { key, namespace }), value, "after the kill");
await client.close();

// Another session finds what the first one stored.
client = await kinds[kind](file);
has(await client.call("memory_recall", { key, namespace }), value, "in another session");
await client.close();
console.log(`ok ${kind} ${found.join(", ")}`);
process.exit(0);
