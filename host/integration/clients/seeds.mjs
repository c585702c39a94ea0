// Runs the calls that the documents of other systems print, through one of the TypeScript SDKs, and writes what became of each.
//
//   node seeds.mjs sdk|client STDIO.json HTTP.json SITE KEY RESULTS.json
//
// SITE is the slug of a site that the operator set up, or empty. KEY is a file with the API key of the agent who speaks over HTTP. A module in seeds/ exports system, agent (the name of the client),
// prepare(world) and examples: {line, tool, arguments, effect, expect(answer, world, arguments)}, in which refused is the code of the error
// that the document states, needs a tool without which the example cannot run yet, and bare means that no namespace is added.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "./connect.mjs";

const [kind, stdio, http, site, key, results] = process.argv.slice(2);
const { alcove } = JSON.parse(readFileSync(http, "utf8")).mcpServers;

const speaker = { Authorization: `Bearer ${readFileSync(key, "utf8").trim()}` };

// Missing is the error of a call of a tool that this server does not have.
class Missing extends Error {}
class Refused extends Error {}

class World {
  constructor(client, system) {
    this.assert = assert;
    this.client = client;
    this.namespace = `seeds/${system.toLowerCase()}`;
    this.site = site || "anwe-sh";
    this.connected = site !== "";
    this.count = 0;
  }
  next() {
    return ++this.count;
  }
  // call is a call by a tool's name, in the namespace of the document.
  async call(name, args = {}, bare = false) {
    const added = bare || name.includes(".") || "namespace" in args ? {} : { namespace: this.namespace };
    let result;
    try {
      result = await this.client.callTool({ name, arguments: { ...added, ...args } });
    } catch (e) {
      if (/there is no tool/.test(e.message)) throw new Missing(name);
      throw e;
    }
    const text = result.content?.[0]?.text ?? "";
    if (!result.isError) return result.structuredContent ?? JSON.parse(text);
    if (/_operation$/.test(name)) return JSON.parse(text); // the envelope has the error
    const absent = text.match(/there is no tool \\?"?([A-Za-z_.]+)/) ?? text.match(/no family (?:that may be called )?has (?:a |the )?tool \\?"?([A-Za-z_.]+)/);
    if (absent) throw new Missing(absent[1]);
    const refused = new Refused(`${name}: ${text.slice(0, 500)}`);
    refused.code = JSON.parse(text).code;
    throw refused;
  }
  // last is the newest watermark.
  async last() {
    let at = 0;
    for (;;) {
      const page = await this.call("memory_poll_events", { agentId: this.agent, lastWatermark: at, limit: 500 });
      if (page.latestWatermark === at) return at;
      at = page.latestWatermark;
    }
  }
  async post(path, body) {
    const answer = await fetch(new URL(path, alcove.url), { method: "POST", headers: { "content-type": "application/json", ...speaker }, body: JSON.stringify(body) });
    return answer.json();
  }
  // overheard is what one client of the stream receives when another sends something, both in the namespace in which clients begin.
  async overheard(body) {
    const open = (headers) => new Promise((done, failed) => {
      const ws = new WebSocket(new URL("/stream", alcove.url.replace(/^http/, "ws")), { headers });
      ws.onopen = () => done(ws);
      ws.onerror = (e) => failed(new Error(`/stream: ${e.message ?? e.error ?? "refused"}`));
    });
    const [hears, says] = [await open(alcove.headers), await open(speaker)];
    try {
      // A stream hears what is said after it began to listen, which is after it is open: it answers no command before.
      let listening;
      const ready = new Promise((done) => { listening = done; });
      const heard = new Promise((done, failed) => {
        hears.onclose = (event) => failed(new Error(`/stream ended: ${event.code} ${event.reason}`));
        says.onclose = hears.onclose;
        hears.onmessage = (event) => {
          const message = JSON.parse(event.data);
          if (message.type === "message") done(message);
          else listening();
        };
      });
      hears.send(JSON.stringify({ type: "unsubscribe", id: "none" }));
      await Promise.race([ready, heard]);
      says.send(JSON.stringify(body));
      return await heard;
    } finally {
      hears.close();
      says.close();
    }
  }
}

// answered is the answer to an example.
async function answered(w, e, name, args) {
  if (e.http) return w.post(e.http, args);
  if (e.stream) return w.overheard(args);
  const { tools } = e.wire || e.listing ? await w.client.listTools() : {};
  if (e.listing) return tools.find((t) => t.name === name).annotations;
  return e.wire ? tools : w.call(name, args, e.bare);
}

async function run(w, e, known) {
  const name = typeof e.tool === "function" ? e.tool(w) : e.tool;
  const given = e.body ?? e.arguments;
  const row = { line: e.line, tool: e.method ? `${name} ${e.method}` : name, effect: e.effect, arguments: e.printed ?? (typeof given === "object" ? given : undefined) };
  if (e.needs && !known.has(e.needs)) return { ...row, result: "fails", why: `there is no tool ${e.needs}` };
  try {
    let args = typeof given === "function" ? await given(w) : { ...given };
    if (e.bodyNamespace) args.options = { namespace: w.namespace };
    row.arguments ??= e.method ? args.params : args;
    if (e.refused) {
      await assert.rejects(answered(w, e, name, args), (error) => error instanceof Missing ? assert.fail(error) : (assert.equal(error.code, e.refused, error.message), true));
    } else {
      await e.expect(await answered(w, e, name, args), w, args);
    }
    return { ...row, result: "works" };
  } catch (error) {
    if (error instanceof Missing) return { ...row, result: "fails", why: error.message };
    return { ...row, result: "fails", why: error.message.slice(0, 600) };
  }
}

const rows = [];
for (const file of readdirSync(new URL("seeds/", import.meta.url)).sort()) {
  const document = await import(new URL(`seeds/${file}`, import.meta.url));
  const { client } = await connect(kind, stdio, document.agent);
  const w = new World(client, document.system);
  w.agent = document.agent;
  const { families } = await w.call("memory_capabilities", {}, true);
  const known = new Set(families.flatMap((f) => f.tools));
  if (document.site && !site) known.delete("memory_site_list");
  await document.prepare?.(w);
  for (const e of document.examples) {
    w.namespace = `seeds/${document.system.toLowerCase()}${e.namespace ? `/${e.namespace}` : ""}`;
    rows.push({ document: file.replace(/mjs$/, "md"), system: document.system, ...(await run(w, e, known)) });
  }
  await client.close();
}
writeFileSync(results, JSON.stringify(rows, null, 1));
console.log(`ok ${kind} stdio: ${rows.length} examples`);
