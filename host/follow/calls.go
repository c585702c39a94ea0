package follow

import (
	"encoding/json"
	"slices"
	"strings"
)

// Call is a call of a tool that a copy can answer like the leader.
type Call struct {
	Query bool // it ranks by words
	Mean  bool // and by meaning
}

// CallOf reads a call. ok is false if the leader is to answer it: it writes, counts, or tells of what a copy does not have.
func CallOf(tool string, arguments []byte) (c Call, ok bool) {
	known, ok := parameters()[tool]
	if !ok {
		return c, false
	}
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return c, false // the leader says what is wrong
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return c, false
		}
	}
	var mode string
	if raw, set := given["mode"]; set && json.Unmarshal(raw, &mode) != nil {
		return c, false
	}
	_, c.Query = given["query"]
	c.Mean = c.Query && mode != "lexical"
	return c, true
}

// MessageOf reads a call in a message of MCP that needs no session.
func MessageOf(message []byte) (c Call, ok bool) {
	var m struct {
		Method string
		Params map[string]json.RawMessage
	}
	if json.Unmarshal(message, &m) != nil || m.Method != "tools/call" {
		return c, false
	}
	var name string
	var meta map[string]json.RawMessage
	for member, value := range m.Params {
		var err error
		switch member {
		case "name":
			err = json.Unmarshal(value, &name)
		case "_meta":
			err = json.Unmarshal(value, &meta)
		case "arguments":
		default: // such as a task, which the server that began it knows
			return c, false
		}
		if err != nil {
			return c, false
		}
	}
	for member := range meta {
		if !strings.HasPrefix(member, "io.modelcontextprotocol/") { // such as a key
			return c, false
		}
	}
	return CallOf(name, m.Params["arguments"])
}

// parameters are those that change neither what is counted nor what a copy knows, by tool. A call with others, or with other spellings of
// them, is the leader's.
func parameters() map[string][]string {
	place := []string{"namespace", "branch", "as_of", "verbose", "fields"}
	return map[string][]string{
		"memory_recall":  append([]string{"key"}, place...),
		"memory_history": append([]string{"key", "limit", "authors"}, place...),
		"memory_search": append([]string{"query", "mode", "k", "offset", "tags", "no_tags", "prefix", "type", "agent", "state", "since", "until", "budget_tokens",
			"explain", "facets", "distinct", "expand"}, place...),
	}
}
