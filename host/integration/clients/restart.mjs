// Goes on over HTTP, through one of the TypeScript SDKs, after the server was killed and started again.
//
//   node restart.mjs sdk|client CONFIG.json
//
// It prints "kill" when the server is to be killed, and goes on once it reads a line.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "./connect.mjs";

const [kind, configuration] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name} failed: ${result.content[0].text}`);
  return result.structuredContent;
}

const branch = `restart/${kind}`;
await call("memory_branch", { action: "fork", name: branch });
await call("memory_branch", { action: "switch", name: branch });
const before = (await client.listTools()).tools.map((t) => t.name);
console.log("kill");
await once(process.stdin, "data");
assert.equal((await call("memory_status", {})).branch, branch);
assert.deepEqual((await client.listTools()).tools.map((t) => t.name), before);
await client.close();
console.log(`ok ${kind} ${transport}`);
process.exit(0);
