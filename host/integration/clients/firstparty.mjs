// Finds, loads and uses a family that the program carries, through one of the TypeScript SDKs.
//
//   node firstparty.mjs sdk|client|client-2026 CONFIG.json
import assert from "node:assert/strict";
import { connect, stateless } from "./connect.mjs";

const [kind, configuration] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name} failed: ${result.content[0].text}`);
  return result.structuredContent;
}

assert.equal((await client.listTools()).tools.length, 11);
const { families } = await call("memory_capabilities", {});
assert.ok(families.some((f) => f.name === "auto-tag" && f.tools.includes("memory_suggest_tags")));

const namespace = `firstparty/${kind}/${transport}`;
const text = "Grace Hopper met the billing team in Berlin about the quarterly invoice migration.";
await call("memory_store", { key: "met", value: text, namespace });

const loaded = await call("memory_load_family", { intent: "tag my notes by what they are about" });
assert.equal(loaded.family, "auto-tag");
assert.ok(loaded.suggestions[0].matched.includes("tag"));
const names = (await client.listTools()).tools.map((t) => t.name);
assert.equal(names.includes("memory_auto_tag"), !stateless(kind));

const { tags } = await call("memory_suggest_tags", { text, namespace });
assert.ok(tags.some((t) => t.tag === "billing"), JSON.stringify(tags));
const tagged = await call("memory_auto_tag", { id: "met", namespace });
assert.ok(tagged.applied && tagged.added.includes("billing"), JSON.stringify(tagged));
assert.ok((await call("memory_recall", { key: "met", namespace })).tags.includes("billing"));

const rehearsed = await call("memory_operation", { method: "memory_auto_tag", params: { id: "met" }, options: { dry_run: true, namespace } });
assert.equal(rehearsed.metadata.dry_run, true);
const missing = await client.callTool({ name: "memory_auto_tag", arguments: {} });
assert.match(missing.content[0].text, /memory_auto_tag needs id/);

await call("memory_load_family", { family: "auto-tag", unload: true });
assert.equal((await client.listTools()).tools.length, 11);

await client.close();
console.log(`ok ${kind} ${transport}`);
