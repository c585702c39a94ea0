// Uses what the protocol has beside tools through one of the TypeScript SDKs: resources, subscriptions, prompts, completion, questions to
// the user, messages of the log, progress and cancellation.
//
//   node protocol.mjs sdk|client|client-2026 CONFIG.json
//
// The kinds are those of connect.mjs.
import assert from "node:assert/strict";
import { connect, handles, stateless } from "./connect.mjs";

const [kind, configuration] = process.argv.slice(2);
const { client, transport } = await connect(kind, configuration, "alcove-test", { elicitation: {} });
const namespace = `protocol/${kind}/${transport}`;
const modern = stateless(kind);

async function call(name, args, options) {
  const result = await client.callTool({ name, arguments: { namespace, ...args } }, ...(kind === "sdk" ? [undefined, options] : [options]));
  assert.ok(!result.isError, `${name} failed: ${result.content[0].text}`);
  return result.structuredContent;
}

// until waits for something that happens soon.
async function until(what, is) {
  for (let i = 0; i < 600; i++) {
    if (is()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what} has not happened`);
}

// Resources.
await call("memory_store", { key: "a/b c", value: "the door is blue" });
await call("memory_store", { key: "n", value: { x: [1, 2.5] } });
const uri = `alcove://memory/${encodeURIComponent(namespace)}/${encodeURIComponent("a/b c")}`;
const { contents } = await client.readResource({ uri });
assert.deepEqual([contents[0].uri, contents[0].mimeType, contents[0].text], [uri, "text/plain", "the door is blue"]);
const number = await client.readResource({ uri: `alcove://memory/${encodeURIComponent(namespace)}/n` });
assert.deepEqual(JSON.parse(number.contents[0].text), { x: [1, 2.5] });
await call("memory_store", { key: "a/b c", value: "the door is red" });
const history = JSON.parse((await client.readResource({ uri: `${uri}/history` })).contents[0].text);
assert.deepEqual(history.versions.map((v) => v.value), ["the door is red", "the door is blue"]);
await assert.rejects(client.readResource({ uri: `${uri}x` }), (e) => [-32602, -32002].includes(e.code) && e.message.includes(`${uri}x`));
const { resourceTemplates } = await client.listResourceTemplates();
assert.deepEqual(resourceTemplates.map((t) => t.name), ["memory", "history", "branch", "session"]);
const session = JSON.parse((await client.readResource({ uri: "alcove://session/current" })).contents[0].text);
assert.equal(session.branch, "default");
for (let cursor, found = false; !found; ) {
  const page = await client.listResources(cursor ? { cursor } : {});
  found = page.resources.some((r) => r.uri === uri);
  assert.ok(found || page.nextCursor, "the list lacks a memory");
  cursor = page.nextCursor;
}

// Subscriptions.
const updated = [];
await handles(client, kind, "notifications/resources/updated", (n) => updated.push(n.params.uri));
const subscription = modern ? await client.listen({ resourceSubscriptions: [uri] }) : await client.subscribeResource({ uri });
await call("memory_store", { key: "a/b c", value: "the door is green" });
await until("an update", () => updated.includes(uri));
if (modern) await subscription.close();
else await client.unsubscribeResource({ uri });

// Prompts and completion.
const { prompts } = await client.listPrompts();
assert.deepEqual(prompts.map((p) => p.name), ["brief", "hand-off", "recall", "remember", "review", "what-changed"]);
const given = { topic: "the door", text: "The door is green.", agent: "tester", since: "1 hour ago", namespace };
for (const p of prompts) {
  const args = Object.fromEntries(p.arguments.filter((a) => given[a.name]).map((a) => [a.name, given[a.name]]));
  const { messages } = await client.getPrompt({ name: p.name, arguments: args });
  const text = messages[0].content.text;
  const calls = [...text.matchAll(/(memory_\w+) (\{)/g)];
  assert.ok(calls.length > 0, text);
  for (const c of calls) {
    const from = c.index + c[1].length + 1;
    let to = from, depth = 0, within = false;
    do { // to the end of the object
      const at = text[to++];
      if (at === "\\") to++;
      else if (at === '"') within = !within;
      else if (!within) depth += at === "{" ? 1 : at === "}" ? -1 : 0;
    } while (depth > 0);
    const result = await client.callTool({ name: c[1], arguments: JSON.parse(text.slice(from, to)) });
    assert.ok(!result.isError, `${p.name}: ${text.slice(c.index, to)} failed: ${result.content[0].text}`);
  }
}
await assert.rejects(client.getPrompt({ name: "recall", arguments: {} }), (e) => e.code === -32602);
const completed = await client.complete({ ref: { type: "ref/prompt", name: "recall" }, argument: { name: "namespace", value: namespace } });
assert.deepEqual(completed.completion.values, [namespace]);
const keys = await client.complete({
  ref: { type: "ref/resource", uri: resourceTemplates[0].uriTemplate }, argument: { name: "key", value: "a/" }, context: { arguments: { namespace } },
});
assert.deepEqual(keys.completion.values, ["a/b c"]);

// Questions.
const side = `${namespace}/side`;
let answer = { action: "decline" }, questions = 0;
await handles(client, kind, "elicitation/create", (request) => {
  questions++;
  assert.match(request.params.message, /both changed|at once/);
  return typeof answer === "function" ? answer() : answer;
});
await call("memory_branch", { action: "fork", name: side });
await call("memory_store", { key: "n", value: "side", branch: side });
await call("memory_store", { key: "n", value: "main" });
assert.equal((await call("memory_branch", { action: "merge", source: side })).merged, false);
assert.equal(questions, 1);
answer = { action: "accept", content: { clash1: "source" } };
assert.equal((await call("memory_branch", { action: "merge", source: side })).merged, true);
assert.equal((await call("memory_recall", { key: "n" })).value, "side");
await call("memory_branch", { action: "delete", name: side });

// Cancellation: the client gives up while its user thinks.
await call("memory_store", { items: Array.from({ length: 21 }, (_, i) => ({ key: `many/${i}`, value: i })) });
const abort = new AbortController();
answer = () => { abort.abort("the user left"); return { action: "cancel" }; };
await assert.rejects(call("memory_forget", { key: Array.from({ length: 21 }, (_, i) => `many/${i}`) }, { signal: abort.signal }));
assert.equal((await call("memory_recall", { key: "many/7" })).value, 7);

// Progress.
const progress = [];
await call("memory_operation", { namespace: undefined, batch: [{ method: "memory_status" }, { method: "memory_status" }] }, { onprogress: (p) => progress.push(p) });
// Over stdio the SDKs drop progress that they read together with the answer.
if (transport === "http") assert.deepEqual(progress.at(-1), { progress: 2, total: 2 });

// Messages of the log.
const logged = [];
await handles(client, kind, "notifications/message", (n) => logged.push(n.params));
if (!modern) await client.setLoggingLevel("debug");
const refused = await client.callTool({ name: "memory_recall", arguments: {}, ...(modern ? { _meta: { "io.modelcontextprotocol/logLevel": "warning" } } : {}) });
assert.ok(refused.isError);
await until("a message", () => logged.some((m) => m.level === "warning" && m.logger === "alcove" && m.data.code === "invalid_argument"));
assert.equal(logged.some((m) => m.level === "debug"), false);
if (!modern) {
  await call("memory_status", {});
  await until("a message at debug", () => logged.some((m) => m.level === "debug" && m.data.tool === "memory_status"));
}

await client.close();
console.log(`ok ${kind} ${transport}`);
