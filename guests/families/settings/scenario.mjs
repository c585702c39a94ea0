// The acceptance of the family settings, run by host/integration/clients.
export const family = "settings";
export const intent = "change a configuration setting and roll back";

export async function run({ assert, call, refused, namespace }) {
  const weight = (name) => `ranking_weight_${name}`;

  // Weights that add up to 1.2 are refused with the rule, and nothing is changed; five together apply or none do.
  const before = (await call("memory_get_config")).config;
  assert.ok(Object.keys(before).length > 20, `${Object.keys(before).length} settings`);
  const wrong = await refused("memory_update_config", { key: weight("semantic"), value: 0.65 });
  assert.equal(wrong.code, "invalid_argument");
  assert.match(wrong.message, /sum of .*ranking_weight_semantic.* is 1 ± 0.01.*add up to 1.2/s);
  assert.match(wrong.details.faults[0].rule, /sum of/);
  const five = { semantic: 0.4, lexical: 0.2, importance: 0.2, freshness: 0.1, outcome: 0.1 };
  const changes = Object.fromEntries(Object.entries(five).map(([name, value]) => [weight(name), value]));
  await refused("memory_update_config", { changes: { ...changes, [weight("outcome")]: 7 } });
  assert.deepEqual((await call("memory_get_config")).config, before);
  const scoped = await call("memory_set_scope_policy", { scopeId: namespace, policies: changes });
  assert.equal(Object.keys(scoped.versions).length, 5);
  assert.equal((await call("memory_get_config", { key: weight("semantic") })).value, 0.4);
  assert.equal((await call("memory_get_config", { key: weight("semantic"), namespace: `${namespace}/other` })).value, before[weight("semantic")]);

  // An override in one scope changes scores there, and only there, at once.
  const other = `${namespace}/other`;
  const score = async (where) => {
    const { results } = await call("memory_explain_ranking", { query: "kettle", namespace: where });
    return results[0].parts.importance;
  };
  for (const where of [namespace, other]) await call("memory_store", { key: "kettle", value: "The kettle is blue.", type: "decision", namespace: where });
  assert.equal(await score(namespace), 0.8);
  await call("memory_set_scope_policy", { scopeId: namespace, policyKey: "importance_weight_decision", policyValue: 0.3 });
  assert.equal(await score(namespace), 0.3);
  assert.equal(await score(other), 0.8);
  assert.deepEqual((await call("memory_list_scope_policies", { scopeId: namespace })).policies.filter((p) => p.policyKey.startsWith("importance")).map((p) => [p.policyValue, p.priority]), [[0.3, 100]]);

  // A fact that is stored after a change of its weight gets the new one, and facts stored before keep theirs.
  const decide = (content, where) => call("memory_store_fact", { content, factType: "decision", namespace: where });
  assert.equal((await decide("We keep the kettle, as it is.", namespace)).importance, 0.3);
  assert.equal((await decide("We keep the kettle, as it is.", other)).importance, 0.8);

  // A rollback restores the value as a new version, and the history lists three.
  const key = "importance_weight_decision";
  await call("memory_set_scope_policy", { scopeId: namespace, policyKey: key, policyValue: 0.9, reason: "an experiment" });
  const back = await call("memory_rollback_config", { key, version: 1, scopeId: namespace, reason: "it was worse" });
  assert.deepEqual([back.version, back.value], [3, 0.3]);
  const { versions } = await call("memory_config_history", { key, scopeId: namespace });
  assert.deepEqual(versions.map((v) => [v.version, v.from, v.to, v.reason ?? ""]), [[3, 0.9, 0.3, "it was worse"], [2, 0.3, 0.9, "an experiment"], [1, null, 0.3, ""]]);
  assert.ok(versions.every((v) => v.updatedBy !== undefined && v.updatedAt));

  // For everything: changed with a version that is expected, and put back.
  const system = await call("memory_update_config", { namespace: undefined, key: "importance_weight_note", value: 0.45, reason: namespace });
  const stale = await refused("memory_update_config", { namespace: undefined, key: "importance_weight_note", value: 0.5, expect_version: system.versions.importance_weight_note - 1 });
  assert.equal(stale.code, "conflict");
  assert.equal((await call("memory_get_config", { key: "importance_weight_note" })).source, "system");
  await call("memory_update_config", { namespace: undefined, key: "importance_weight_note", value: null });
  assert.equal((await call("memory_get_config", { key: "importance_weight_note" })).source, "default");
  assert.ok((await call("memory_list_configs", { category: "decay_rates" })).configs.length >= 9);
  const semantic = await call("memory_get_semantic_config");
  assert.equal(semantic.enabled, true);
  assert.match((await refused("memory_regenerate_vectors")).code, /denied|unavailable/);
}
