// Stores and recalls a memory through one of the TypeScript SDKs, and prints when the first answer came.
//
//   node first.mjs sdk|client|client-2026 CONFIG.json
import assert from "node:assert/strict";
import { connect } from "./connect.mjs";

const [kind, configuration] = process.argv.slice(2);
const started = performance.now();
const { client, transport } = await connect(kind, configuration);
const connected = performance.now() - started;
const stored = await client.callTool({ name: "memory_store", arguments: { key: "tea", value: "green" } });
const answered = performance.now() - started;
assert.ok(!stored.isError, JSON.stringify(stored));
const recalled = await client.callTool({ name: "memory_recall", arguments: { key: "tea" } });
assert.equal(recalled.structuredContent.value, "green");
await client.close();
console.log(`ok ${kind} ${transport}: connected after ${connected.toFixed(0)} ms, a store answered after ${answered.toFixed(0)} ms`);
process.exit(0);
