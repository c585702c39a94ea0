// The calls that the document ora.md prints: line, tool, arguments and the effect that it states. The site is a server of this test.
export const system = "ORA";
export const agent = "ora";
export const site = true; // the operator connects one

const S = (w) => w.site;
const mem = (action) => (w) => `${S(w)}.memory.${action}`;
const stored = async (w, content = `A memory, ${w.next()}.`, more = {}) => (await w.call(mem("store")(w), { content, ...more })).id;
const store = (line, args, effect, expect) => ({ line, tool: mem("store"), printed: args, arguments: args, effect, needs: "memory_site_list", expect: expect ?? ((a, w) => w.assert.ok(a.stored === true && a.id)) });
const more = { needs: "memory_site_list" };

export async function prepare(w) {
  if (w.connected) await w.call("memory_site_connect", { slug: S(w) }, true);
}

export const examples = [
  { line: 14, tool: (w) => `${S(w)}.posts.publish`, arguments: { id: "p1" }, effect: "calls the site's action", ...more, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("p1")) },
  { line: 15, tool: mem("store"), arguments: { content: "x" }, effect: "stores a memory of the site", ...more, expect: (a, w) => w.assert.equal(a.stored, true) },
  { line: 16, tool: (w) => `${S(w)}.users.invite`, arguments: { email: "a@example.com" }, effect: "calls the site's action", ...more, expect: (a, w) => w.assert.ok(a) },
  { line: 28, tool: (w) => `${S(w)}.posts.list`, arguments: {}, effect: "lists posts, 10 by default", ...more, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("limit")) },
  { line: 31, tool: (w) => `${S(w)}.posts.list`, arguments: { status: "draft", limit: 3 }, effect: "status is one of draft, published, archived", ...more, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("draft")) },
  { line: 34, tool: (w) => `${S(w)}.posts.list`, arguments: { status: "lost" }, effect: "another status is refused", ...more, refused: "invalid_argument" },
  { line: 51, tool: (w) => `${S(w)}.posts.publish`, arguments: { id: "p2" }, effect: "publishes a post", ...more, expect: (a, w) => w.assert.ok(JSON.stringify(a).includes("p2")) },
  { line: 56, tool: (w) => `${S(w)}.posts.publish`, arguments: {}, effect: "id is required", ...more, refused: "invalid_argument" },
  store(75, { content: "The editor is Ann." }, "{stored: true, id}"),
  ...["fact", "preference", "context", "task"].map((type) => store(86, { content: `Of type ${type}.`, type, importance: 7 }, `a memory of type ${type}`)),
  { line: 90, tool: mem("store"), arguments: { content: "x", importance: 11 }, effect: "importance is 1 to 10", ...more, refused: "invalid_argument" },
  { line: 112, tool: mem("recall"), arguments: async (w) => { await stored(w, "Defaults apply to quails."); return { query: "quails" }; }, effect: "type fact and importance 5 by default", ...more, expect: (a, w) => { const [m] = a.memories ?? a; w.assert.deepEqual([m.type, m.importance], ["fact", 5]); } },
  { line: 128, tool: mem("recall"), arguments: {}, effect: "memories, at most 10", ...more, expect: (a, w) => w.assert.ok((a.memories ?? a).length <= 10) },
  { line: 162, tool: mem("recall"), arguments: { type: "preference" }, effect: "filters by type", ...more, expect: (a, w) => w.assert.ok((a.memories ?? a).every((m) => m.type === "preference")) },
  { line: 167, tool: mem("recall"), arguments: async (w) => { await stored(w, "A narwhal swam."); return { query: "narwhal" }; }, effect: "the query is a part of the content", ...more, expect: (a, w) => w.assert.equal((a.memories ?? a).length, 1) },
  { line: 171, tool: mem("recall"), arguments: async (w) => { await stored(w, "gnu low", { importance: 2 }); await stored(w, "gnu high", { importance: 9 }); return { query: "gnu", limit: 5 }; }, effect: "by importance, then the newest", ...more, expect: (a, w) => w.assert.deepEqual((a.memories ?? a).map((m) => m.content), ["gnu high", "gnu low"]) },
  { line: 201, tool: mem("forget"), arguments: async (w) => ({ id: await stored(w) }), effect: "{deleted: true}", ...more, expect: (a, w) => w.assert.equal(a.deleted, true) },
  { line: 221, tool: mem("forget"), arguments: { id: "none" }, effect: "{deleted: false}", ...more, expect: (a, w) => w.assert.equal(a.deleted, false) },
  { line: 233, tool: mem("update"), arguments: async (w) => ({ id: await stored(w), content: "New ibex.", importance: 8 }), effect: "content and importance change", ...more, expect: async (a, w) => { const r = await w.call(mem("recall")(w), { query: "ibex" }); w.assert.equal((r.memories ?? r)[0].importance, 8); } },
  { line: 251, tool: mem("update"), arguments: async (w) => ({ id: await stored(w), supersedes: await stored(w, "An old okapi.") }), effect: "replaces another memory", ...more, expect: (a, w) => w.assert.ok(a) },
  ...["writer", "researcher", "analyst", "custom"].map((agentType) => ({ line: 270, tool: "ora.agent.spawn", arguments: (w) => ({ siteSlug: S(w), taskDescription: "Write a post.", agentType, expiresInMinutes: 30 }), effect: `a temporary ${agentType}, its slug like task-1707123456`, ...more, expect: (a, w) => w.assert.match(a.agentSlug, /^task-\d+/) })),
  { line: 286, tool: "ora.agent.spawn", arguments: (w) => ({ siteSlug: S(w), taskDescription: "x", agentType: "king" }), effect: "another type is refused", ...more, refused: "invalid_argument" },
  { line: 304, tool: "ora.agent.complete", arguments: async (w) => ({ siteSlug: S(w), agentSlug: (await w.call("memory_agent_spawn", { siteSlug: S(w), taskDescription: "x", agentType: "writer" })).agentSlug }), effect: "ends the agent; its memories are extracted, its backup stays 7 days", ...more, expect: (a, w) => w.assert.ok("extracted" in a && a.backupUntil) },
  { line: 322, tool: "ora.agent.complete", arguments: async (w) => ({ siteSlug: S(w), agentSlug: (await w.call("memory_agent_spawn", { siteSlug: S(w), taskDescription: "x", agentType: "writer" })).agentSlug, extractMemories: false, deleteImmediately: true }), effect: "no backup", ...more, expect: (a, w) => w.assert.ok(!a.backupUntil || Date.parse(a.backupUntil) <= Date.now() + 1000) },
  { line: 342, tool: "ora.site.list", arguments: {}, effect: "the connected sites", ...more, expect: (a, w) => w.assert.ok(a.sites.some((s) => s.slug === S(w))) },
  { line: 354, tool: "ora.site.status", arguments: (w) => ({ slug: S(w) }), effect: "the state of a site", ...more, expect: (a, w) => w.assert.equal(a.slug, S(w)) },
  { line: 371, tool: "ora.site.sync", arguments: (w) => ({ slug: S(w) }), effect: "memories are exchanged with the site", ...more, expect: (a, w) => w.assert.ok("uploaded" in a && "downloaded" in a) },
  { line: 388, tool: "memory_site_connect", arguments: (w) => ({ slug: S(w) }), effect: "the site's tools are registered", ...more, expect: (a, w) => w.assert.ok(a.tools.length >= 7 || a.tools >= 7) },
  { line: 419, tool: "memory_export_tools", arguments: (w) => ({ slug: S(w) }), effect: "tools with input_schema", ...more, expect: (a, w) => { const publish = a.tools.find((t) => /posts[._]publish$/.test(t.name)); w.assert.deepEqual([publish.input_schema.type, publish.input_schema.required], ["object", ["id"]]); } },
  { line: 437, tool: "memory_export_tools", arguments: (w) => ({ slug: S(w) }), effect: "memory.store has type and importance", ...more, expect: (a, w) => { const t = a.tools.find((x) => /memory[._]store$/.test(x.name)); w.assert.deepEqual(t.input_schema.properties.type.enum, ["fact", "preference", "context", "task"]); w.assert.deepEqual([t.input_schema.properties.importance.minimum, t.input_schema.properties.importance.maximum], [1, 10]); } },
  { line: 407, tool: "memory_site_disconnect", arguments: (w) => ({ slug: S(w) }), effect: "the site's tools are gone", ...more, expect: async (a, w) => { await w.assert.rejects(w.call(`${S(w)}.posts.list`, {})); } },
].sort((a, b) => (a.line === 407) - (b.line === 407) || a.line - b.line);
