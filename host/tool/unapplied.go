package tool

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// unapplied returns a result whose changes became a proposal: it says so first, and where they are. A member applied of the result that is a
// boolean becomes false; one of another kind is the tool's own.
func unapplied(object json.RawMessage, branch string) json.RawMessage {
	names := map[string]jsonrpc.Span{}
	jsonrpc.Members(object, 0, func(name string, value jsonrpc.Span) { names[name] = value })
	with := json.RawMessage(`{`)
	switch at, there := names["applied"]; {
	case !there:
		with = append(with, `"applied":false,`...)
	case string(at.Of(object)) == "true":
		object = slices.Concat(object[:at.From], json.RawMessage("false"), object[at.To:])
	}
	if _, there := names["proposal"]; !there {
		name, err := json.Marshal(branch)
		if err != nil { // unreachable: a name is a string
			return object
		}
		with = append(append(append(with, `"proposal":`...), name...), ',')
	}
	if len(names) == 0 {
		with = with[:max(1, len(with)-1)]
	}
	return append(with, object[1:]...)
}
