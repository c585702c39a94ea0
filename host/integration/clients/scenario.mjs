// Runs the scenario of a family that the program carries, through one of the TypeScript SDKs.
//
//   node scenario.mjs sdk|client|client-2026 CONFIG.json SCENARIO.mjs [deaf]
//
// A scenario exports family, intent (words by which the family is found and loaded; without them it is loaded by name), and run(world).
// deaf is a client that never lists tools. world has:
//
//   call(tool, args)        the structured result of a tool
//   refused(tool, args)     the error of a tool
//   operation(method, params, options)    the envelope of memory_operation
//   post(body)              the envelope of POST /operation; null over stdio, where there is none
//   namespace               that of this run alone
//   another()               another client of the same program: its call, and kill, after which it is gone without a goodbye
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { connect, stateless } from "./connect.mjs";

const [kind, configuration, path, deaf] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration);
const { family, intent, run } = await import(pathToFileURL(path).href);
const namespace = `scenario/${family}/${kind}/${transport}${deaf ? "/deaf" : ""}`;

async function ask(name, args, by = client) {
  const result = await by.callTool({ name, arguments: { namespace, ...args } });
  if (!result.isError) JSON.parse(result.content[0].text);
  return result;
}

async function call(name, args = {}, by = client) {
  const result = await ask(name, args, by);
  assert.ok(!result.isError, `${name} ${JSON.stringify(args).slice(0, 500)} failed: ${result.content[0].text}`);
  return result.structuredContent;
}

async function refused(name, args = {}) {
  const result = await ask(name, args);
  assert.ok(result.isError, `${name} ${JSON.stringify(args).slice(0, 500)} was not refused: ${result.content[0].text}`);
  return JSON.parse(result.content[0].text);
}

const operation = (method, params = {}, options = {}) => call("memory_operation", { namespace: undefined, method, params, options: { namespace, ...options } });

async function another() {
  const { client: other } = await connect(kind, configuration);
  const kill = async () => {
    const { pid } = other.transport;
    if (!pid) return other.close(); // over HTTP it tells the server nothing
    const gone = new Promise((resolve) => { other.onclose = resolve; });
    process.kill(pid, "SIGKILL");
    await gone;
  };
  return { call: (name, args) => call(name, args, other), kill };
}

async function post(body) {
  const { alcove } = JSON.parse(readFileSync(configuration, "utf8")).mcpServers;
  if (!alcove.url) return null;
  const answer = await fetch(new URL("/operation", alcove.url), {
    method: "POST", headers: { "content-type": "application/json", ...alcove.headers }, body: JSON.stringify({ ...body, options: { namespace, ...body.options } }),
  });
  return answer.json();
}

const loaded = (await client.callTool({ name: "memory_load_family", arguments: intent ? { intent } : { family } })).structuredContent;
assert.equal(loaded.family, family, `"${intent}" loads ${loaded.family}: ${JSON.stringify(loaded.suggestions)}`);
const tools = loaded.tools.map((t) => t.name);
if (!deaf) {
  const listed = (await client.listTools()).tools.map((t) => t.name);
  for (const name of tools) assert.equal(listed.includes(name), !stateless(kind), name);
  const described = (await client.callTool({ name: "memory_capabilities", arguments: {} })).structuredContent.families.find((f) => f.name === family);
  assert.ok(described.description && !described.description.includes("\n"));
  assert.deepEqual(described.tools, tools);
}

await run({ assert, call, refused, operation, post, namespace, another, kind, transport, client, configuration });

await client.close();
console.log(`ok ${kind} ${transport}`);
