package migrate

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
)

// step is a call of a tool that replaces another.
type step struct {
	tool      string
	arguments []member
}

// recipe is what replaces a call.
type recipe struct {
	steps    []step
	parallel bool     // they are independent
	dropped  []string // parameters without a counterpart
	left     string   // why the call stays as it is; empty: it does not
}

// restArguments holds the arguments of a call that no recipe has used yet.
type restArguments struct{ rest []member }

func (t *restArguments) take(name string) *value {
	i := slices.IndexFunc(t.rest, func(m member) bool { return m.key == name })
	if i < 0 {
		return nil
	}
	v := t.rest[i].value
	t.rest = slices.Delete(slices.Clone(t.rest), i, i+1)
	return &v
}

// as takes an argument under another name.
func (t *restArguments) as(name string, now string) []member {
	if v := t.take(name); v != nil {
		return []member{{now, *v}}
	}
	return nil
}

// or takes an argument, or has a value in its place.
func (t *restArguments) or(name, now string, otherwise value) []member {
	if m := t.as(name, now); m != nil {
		return m
	}
	return []member{{now, otherwise}}
}

// common takes the arguments that each step has.
func (t *restArguments) common() (list []member) {
	for _, name := range []string{"scopeId", "scopeIds", "namespace", "branch"} {
		list = append(list, t.as(name, name)...)
	}
	return list
}

// dropped are the arguments that are left.
func (t *restArguments) dropped() (names []string) {
	for _, m := range t.rest {
		names = append(names, m.key)
	}
	return names
}

// result refers to a part of the result of a step before, the last one if step is 0.
func result(path string, step int) value {
	v := value{object: true, members: []member{{"$result", textValue(path)}}}
	if step > 0 {
		v.members = append(v.members, member{"step", rawValue(string(rune('0' + step)))})
	}
	return v
}

func listOf(v ...value) value { return value{list: true, elements: v} }

func with(parts ...[]member) []member { return slices.Concat(parts...) }

func is(name string, v value) []member { return []member{{name, v}} }

// replacing is what replaces a call of a deprecated tool.
func replacing(t successor.Tool, arguments []member) recipe {
	a := &restArguments{arguments}
	switch t.Name {
	case "memory_get_context":
		return getContext(a)
	case "memory_observe":
		fact := with(a.as("observation", "content"), is("factType", textValue("observation")))
		return recipe{steps: []step{{"memory_store_fact", with(fact, a.rest)}}}
	case "memory_register_agent":
		id := a.take("agentId")
		if id == nil {
			return recipe{left: "it has no agentId"}
		}
		return recipe{steps: []step{{"memory_register_agent_core", with(is("agentId", *id), a.rest)}, {"memory_embed_capabilities", is("agentId", *id)}}}
	case "memory_record_feedback":
		return recipe{steps: []step{{"memory_record_recall_usage", arguments}}}
	case "memory_summarize":
		return recipe{left: "the agent writes the summary itself: " + t.Text()}
	case "memory_prune":
		return prune(a)
	case "memory_vault_sync":
		return vaultSync(a)
	case "memory_checkpoint":
		return recipe{steps: []step{{"memory_save_checkpoint", arguments}}}
	case "memory_end_session":
		return endSession(a)
	}
	return recipe{left: "use " + t.Text()}
}

func getContext(a *restArguments) recipe {
	where, topic := a.common(), a.take("topic")
	if topic == nil {
		return recipe{left: "it has no topic"}
	}
	agent := a.as("agentId", "agentId")
	r := recipe{parallel: true, steps: []step{{"memory_search_facts", with(is("topic", *topic), a.or("maxFacts", "limit", rawValue("20")), where)}}}
	if v := a.take("includeEntities"); v == nil || v.raw != "false" {
		r.steps = append(r.steps, step{"memory_search_entities", with(is("query", *topic), is("limit", rawValue("10")))})
	}
	if v := a.take("includeThemes"); v == nil || v.raw != "false" {
		r.steps = append(r.steps, step{"memory_search_themes", with(is("query", *topic), is("limit", rawValue("20")))})
	}
	r.steps = append(r.steps, step{"memory_get_handoffs", with(agent, is("limit", rawValue("5")))}, step{"memory_get_notifications", with(agent, is("limit", rawValue("10")))})
	r.dropped = a.dropped()
	return r
}

func prune(a *restArguments) recipe {
	stale := step{"memory_list_stale_facts", with(a.as("olderThanDays", "olderThanDays"), a.as("limit", "limit"), a.common())}
	dry := a.take("dryRun")
	r := recipe{steps: []step{stale}, dropped: a.dropped()}
	if dry != nil && dry.raw == "false" {
		r.steps = append(r.steps, step{"memory_mark_facts_pruned", with(is("factIds", result("/facts/*/factId", 0)), is("reason", textValue("stale")))})
	}
	return r
}

func vaultSync(a *restArguments) recipe {
	where, direction := a.common(), a.take("direction").str()
	source := a.as("files", "files")
	target := a.as("target", "target")
	if source == nil && target == nil {
		source, target = is("source", textValue("mirror")), is("target", textValue("mirror"))
	}
	taken, exported := step{"memory_import_vault_to_facts", with(source, where)}, step{"memory_export_facts_to_vault", with(target, where)}
	switch direction {
	case "export":
		return recipe{steps: []step{exported}, dropped: a.dropped()}
	case "import":
		return recipe{steps: []step{taken}, dropped: a.dropped()}
	}
	return recipe{steps: []step{taken, exported}, dropped: a.dropped()}
}

func endSession(a *restArguments) recipe {
	where, summary := a.common(), a.take("summary")
	if summary == nil {
		return recipe{left: "it has no summary"}
	}
	conversation := a.as("conversationId", "conversationId")
	tags := listOf(textValue("session_summary"), textValue("handoff"))
	fact := with(a.or("contextSummary", "content", *summary), is("factType", textValue("session_summary")), is("tags", tags), conversation, where)
	to := a.as("toAgent", "toAgent")
	handoff := with(to, is("contextSummary", *summary), is("factIds", listOf(result("/factId", 0))), conversation)
	r := recipe{steps: []step{{"memory_store_fact", fact}}, dropped: a.dropped()}
	if to == nil {
		return r // nobody to hand it to
	}
	r.steps = append(r.steps, step{"memory_record_handoff", handoff})
	return r
}

// call is the one call that does what a recipe says: its tool and arguments.
func (r recipe) call() (tool string, arguments value) {
	if len(r.steps) == 1 {
		return r.steps[0].tool, value{object: true, members: r.steps[0].arguments}
	}
	operations := make([]value, len(r.steps))
	for i, s := range r.steps {
		operations[i] = value{object: true, members: with(is("method", textValue(s.tool)), is("params", value{object: true, members: s.arguments}))}
	}
	if r.parallel {
		return "memory_operation", value{object: true, members: is("batch", listOf(operations...))}
	}
	return "memory_operation", value{object: true, members: with(operations[0].members, is("then", listOf(operations[1:]...)))}
}
