// node family_test.mjs raw.wasm
import assert from "node:assert/strict";
import { Fake } from "../testing.mjs";

const host = new Fake(process.argv[2], { "memory.put": () => ({ stored: [] }) });
assert.deepEqual(host.tool("memory_greet", { name: "Ada" }), { text: "Hello, Ada!" });
assert.throws(() => host.tool("memory_greet", { name: "" }), { code: "invalid_argument" });
assert.equal(host.calls.length, 1);
