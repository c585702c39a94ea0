// The acceptance of the family graph, run by host/integration/clients.
export const family = "graph";
export const intent = "link people and projects with typed relations and walk the graph";

export async function run({ assert, call, refused, operation, namespace }) {
  // An alias resolves in the scope, for whoever asks, and not across scopes.
  const ann = await call("memory_link_entity", {
    entityId: "ent:ann", name: "Ann Lee", type: "person", aliases: ["Annie"], relationships: [{ toEntityId: "ent:acme", relationType: "works_with" }],
  });
  assert.deepEqual(ann, { id: `${namespace}#ent:ann`, entityId: `${namespace}#ent:ann`, created: true, links: 1, missing: [`${namespace}#ent:acme`] });
  assert.equal((await call("memory_link_entity", { entity_id: "ent:ann", name: "Ann Lee", type: "person" })).created, false);
  await call("memory_link_entity", { entityId: "ent:acme", name: "Acme", type: "company" });
  const found = await call("memory_get_entity", { id: "annie" });
  assert.equal(found.entity.name, "Ann Lee");
  assert.equal(found.links[0].relation, "works_with");
  assert.equal((await call("memory_get_entity", { id: "annie", namespace: `${namespace}/elsewhere` })).entity, null);
  assert.equal((await call("memory_search_entities", { query: "acme" })).entities[0].entityId, `${namespace}#ent:acme`);

  // A misspelled name is taken for the nearest one, and the answer says so.
  const near = await call("memory_get_entity", { id: "anie" });
  assert.equal(near.entity.name, "Ann Lee");
  assert.deepEqual(near.corrected, [{ given: "anie", entityId: `${namespace}#ent:ann`, name: "Ann Lee" }]);

  // A link that ended in June is walked as of May, not July, and as_of agrees.
  const keys = ["plan", "build", "launch"];
  for (const key of keys) await call("memory_store", { key, value: `The ${key} of the rocket.` });
  await call("memory_link", { source_id: "plan", target_id: "build", relation: "led_to", valid_from: "2026-01-01" });
  const linked = await call("memory_link", { source_id: "build", target_id: "launch", relation: "led_to", valid_from: "2026-01-01" });
  assert.equal(linked.created, true);
  const { version } = await call("memory_recall", { key: "build" });
  const ended = await call("memory_end_link", { source_id: "build", target_id: "launch", relation: "led_to", valid_until: "2026-06-15" });
  assert.deepEqual(ended, { found: true, previous_valid_until: null });
  const walk = async (more) => (await call("memory_graph_query", { source_id: "plan", max_depth: 2, ...more })).nodes.map((n) => n.id.split("#")[1]);
  assert.deepEqual(await walk({ valid_at: "2026-05-01" }), ["build", "launch"]);
  assert.deepEqual(await walk({ valid_at: "2026-07-01" }), ["build"]);
  assert.deepEqual(await walk({ valid_at: "2026-07-01", as_of: `v${version}` }), ["build", "launch"]);
  assert.deepEqual(await walk({ allowed_agents: [] }), []);

  // A ring returns at depth 5 without repeats.
  const ring = Array.from({ length: 12 }, (_, i) => `ring-${i}`);
  for (const key of ring) await call("memory_store", { key, value: key });
  for (const [i, key] of ring.entries()) await call("memory_link", { source_id: key, target_id: ring[(i + 1) % ring.length], relation: "before" });
  const reached = (await operation("graph_query", { source_id: ring[10], max_depth: 5 })).result.nodes.map((n) => n.id.split("#")[1]);
  assert.deepEqual(reached, ["ring-11", "ring-0", "ring-1", "ring-2", "ring-3"]);
  const { paths } = await call("memory_find_paths", { source_id: "ring-1", target_id: "ring-10" });
  assert.deepEqual(paths.map((p) => p.map((id) => id.split("#")[1])), [["ring-1", "ring-0", "ring-11", "ring-10"]]);

  const theme = await call("memory_create_theme", { name: "Rockets", description: "What flew.", factIds: keys });
  assert.equal((await call("memory_search_themes", { query: "rockets" })).themes[0].themeId, theme.themeId);
  const graph = await call("memory_export_graph", {});
  assert.ok(graph.nodes.length >= 18 && graph.edges.length >= 17);
  assert.equal((await refused("memory_export_graph", { limit: 2 })).code, "exhausted");
  assert.equal((await refused("memory_link", { source_id: "plan", target_id: "none" })).code, "not_found");
  assert.equal((await refused("memory_link", { source_id: "plan", target_id: "build", relation: "eats" })).code, "invalid_argument");
  assert.equal((await call("memory_delete_theme", { themeId: theme.themeId })).success, true);
  assert.equal((await call("memory_delete_entity", { entityId: "ent:acme" })).success, true);
}
