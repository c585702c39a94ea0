// The acceptance of the family sites, run by host/integration/clients, which starts testdata/site.py and adds a site for each kind of client.
export const family = "sites";
export const intent = "connect a website and call its actions as tools";

export async function run({ assert, call, refused, operation, namespace }) {
  const slug = namespace.replace("scenario/sites/", "").replaceAll("/", "-"); // such as sdk-stdio
  const { sites } = await call("memory_site_list");
  assert.equal(sites.find((s) => s.slug === slug).status, "available");

  // Connecting makes tools, callable by who lists nothing.
  const { tools } = await call("memory_site_connect", { slug });
  assert.equal(tools.length, 7);
  const post = await call(`${slug}_posts_create`, { title: "Tea" });
  assert.equal(post.status, "draft");
  assert.deepEqual(await call(`${slug}.posts.publish`, { id: post.id }), { published: true });
  assert.deepEqual((await call(`${slug}_posts_list`, { status: "published", limit: 10 })).posts.map((p) => p.title), ["Tea"]);
  assert.equal((await refused(`${slug}_posts_publish`, { id: "none" })).code, "not_found");
  assert.equal((await refused(`${slug}_posts_list`, { status: "lost" })).code, "invalid_argument");
  const exported = await call("memory_export_tools", { slug });
  assert.deepEqual(exported.tools.find((t) => t.name === `${slug}_posts_publish`).input_schema.required, ["id"]);

  // A memory of the site.
  const { stored, id } = await call(`${slug}_memory_store`, { content: "Posts need a review", importance: 9 });
  assert.equal(stored, true);
  const { memories } = await call(`${slug}_memory_recall`, { query: "REVIEW" });
  assert.deepEqual(memories.map((m) => [m.id, m.importance, m.health_score]), [[id, 9, 1]]);
  assert.deepEqual(await call(`${slug}_memory_update`, { id, content: "Posts need two reviews" }), { updated: true });
  assert.deepEqual(await call("ora.site.sync", { slug }), { uploaded: 1, downloaded: 0, conflicts: 0 });
  assert.deepEqual(await call(`${slug}_memory_forget`, { id }), { deleted: true });

  // A changed description stays pending.
  const site = new URL(process.env.ALCOVE_TEST_SITE);
  const behave = (mode) => fetch(new URL(`/control/${slug}`, site), { method: "POST", body: JSON.stringify({ mode }) });
  await behave("changed");
  const changed = await call("memory_site_refresh", { slug });
  assert.deepEqual([changed.added, changed.changed, changed.pending.length], [["users.invite"], ["posts.list"], 2]);
  const described = (list) => list.tools.find((t) => t.name === `${slug}_posts_list`).description;
  assert.equal(described(await call("memory_export_tools", { slug })), described(exported));
  await call("memory_site_refresh", { slug, accept: true });
  assert.notEqual(described(await call("memory_export_tools", { slug })), described(exported));

  // A delegated task leaves what matters.
  const agent = await call("ora.agent.spawn", { siteSlug: slug, taskDescription: "Write about tea", agentType: "writer", expiresInMinutes: 30 });
  assert.match(agent.agentSlug, /^task-\d+/);
  assert.equal(agent.namespace, `site/${slug}/${agent.agentSlug}`);
  const done = await operation("agent_complete", { siteSlug: slug, agentSlug: agent.agentSlug });
  assert.equal(done.result.extracted, 0);
  assert.equal((await call("ora.site.status", { slug })).agents[0].status, "completed");

  const { removed } = await call("memory_site_disconnect", { slug });
  assert.equal(removed.length, 8);
  await assert.rejects(call(`${slug}_posts_list`), /there is no tool/);
}
