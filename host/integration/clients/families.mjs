// Loads, calls and unloads families of tools through one of the TypeScript SDKs.
//
//   node families.mjs sdk|client|client-2026 CONFIG.json [deaf]
//
// The server has the families shout and whisper. deaf is a client that lists tools once, and never again.
import assert from "node:assert/strict";
import { connect, stateless } from "./connect.mjs";

const [kind, configuration, deaf] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration);

const core = [
  "memory_store", "memory_recall", "memory_search", "memory_forget", "memory_log", "memory_branch", "memory_history", "memory_status",
  "memory_capabilities", "memory_load_family", "memory_operation",
];

// call uses a tool and gives its structured result.
async function call(name, args, options) {
  const result = await client.callTool({ name, arguments: args }, ...(kind === "sdk" ? [undefined, options] : [options]));
  assert.ok(!result.isError, `${name} failed: ${result.content[0].text}`);
  return result.structuredContent;
}

const listed = async () => (await client.listTools()).tools.map((t) => t.name);

// grows waits until the list has a tool, or has it no more, once the server has said that it changed.
async function grows(change, want) {
  const before = changes;
  const answer = await change();
  for (let i = 0; !stateless(kind) && changes === before; i++) {
    assert.ok(i < 500, "the client was not told that its list has changed");
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.deepEqual(await listed(), stateless(kind) ? core : [...core, ...want]);
  return answer;
}

let changes = 0;
const { ToolListChangedNotificationSchema } = kind === "sdk" ? await import("@modelcontextprotocol/sdk/types.js") : {};
client.setNotificationHandler(ToolListChangedNotificationSchema ?? "notifications/tools/list_changed", () => { changes++; });

assert.deepEqual(await listed(), core);

async function attentive() {
  const loaded = await grows(() => call("memory_load_family", { family: "shout" }), ["shout_text"]);
  assert.equal(loaded.tools[0].name, "shout_text");
  assert.deepEqual(loaded.tools[0].inputSchema.required, ["text"]);
  assert.equal((await call("shout_text", { text: "tea" })).text, "TEA");
  await grows(() => call("memory_load_family", { family: "shout", unload: true }), []);

  const meant = await grows(() => call("memory_load_family", { intent: "I want to say this much louder" }), ["shout_text"]);
  assert.equal(meant.family, "shout");
  assert.ok(meant.suggestions[0].matched.includes("louder"));
  assert.equal((await call("shout_text", { text: "coffee" })).text, "COFFEE");
  await grows(() => call("memory_load_family", { family: "shout", unload: true }), []);

  await grows(() => call("whisper_text", { text: "hush" }), ["whisper_text"]);
  await grows(() => call("memory_load_family", { family: "whisper", unload: true }), []);
}

async function neverAgain() {
  const { tools } = await call("memory_load_family", { family: "shout" });
  assert.equal((await call(tools[0].name, { text: "tea" })).text, "TEA");
  const { result } = await call("memory_operation", { method: "shout_text", params: { text: "milk" } });
  assert.equal(result.text, "MILK");
  const meant = await call("memory_smart_load", { intent: "say it louder" });
  assert.equal(meant.family, "shout");
  await call("memory_load_family", { family: "shout", unload: true });
  assert.equal((await call("shout_text", { text: "still" })).text, "STILL");
  const { families } = await call("memory_capabilities", {});
  assert.deepEqual(families.map((f) => f.name), ["core", "shout", "whisper"]);
  const { tools: described } = await call("memory_capabilities", { family: "whisper", include_schema: true });
  assert.equal(described[0].inputSchema.type, "object");
}

await (deaf === "deaf" ? neverAgain() : attentive());

const refused = await client.callTool({ name: "memory_load_family", arguments: { family: "scream" } });
assert.ok(refused.isError);
assert.match(refused.content[0].text, /there are shout, whisper/);
const wrong = await client.callTool({ name: "shout_text", arguments: {} });
assert.match(JSON.parse(wrong.content[0].text).message, /shout_text needs text/);

await client.close();
console.log(`ok ${kind} ${transport}`);
