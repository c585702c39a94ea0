package core

import "encoding/json"

// Strata's tools for agents are this core under other names. Its granular tools for branches and search are, too, with parameters of other
// names; the rest of them belongs to the family developer.

// strata returns the old name of a core tool.
func strata(name string) []string { return []string{"strata_" + name} }

// lastWriterWins is Strata's name of the strategy newest.
const lastWriterWins = "last_writer_wins"

// oldBranchNames returns the aliases of memory_branch, with the action that each presets and the parameters that it spells otherwise.
func oldBranchNames() (aliases []string, presets map[string]map[string]json.RawMessage, spellings map[string]map[string]string) {
	presets, spellings = map[string]map[string]json.RawMessage{}, map[string]map[string]string{}
	aliases = strata("branch")
	for _, old := range []struct {
		name, action string
		spellings    map[string]string
	}{
		{"branch_create", "create", map[string]string{"branch_id": "name"}},
		{"branch_get", "list", map[string]string{"branch": "name"}},
		{"branch_list", "list", nil},
		{"branch_exists", "list", map[string]string{"branch": "name"}},
		{"branch_delete", "delete", map[string]string{"branch": "name"}},
		{"branch_fork", "fork", map[string]string{"destination": "name"}},
		{"branch_diff", "diff", map[string]string{"branch_a": "branch", "branch_b": "compare"}},
		{"branch_merge", "merge", nil},
		{"branch_switch", "switch", map[string]string{"branch": "name"}},
		{"space_switch", "switch", map[string]string{"space": "namespace"}},
	} {
		name := "strata_" + old.name
		aliases = append(aliases, name)
		presets[name], spellings[name] = map[string]json.RawMessage{"action": json.RawMessage(`"` + old.action + `"`)}, old.spellings
	}
	presets["strata_branch_merge"]["strategy"] = json.RawMessage(`"newest"`) // as it was when unsaid
	return aliases, presets, spellings
}

// oldSearchSpellings returns Strata's spellings of memory_search's parameters.
func oldSearchSpellings() map[string]map[string]string {
	return map[string]map[string]string{"strata_search": {"time_range": "...", "start": "since", "end": "until"}}
}
