package bridge

import (
	"encoding/json"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// message is a message as the server reads it, too.
type message struct{ jsonrpc.Message }

// word returns the string in a member of the object at s, or an empty one.
func (m message) word(s jsonrpc.Span, name string) string {
	return jsonrpc.Text(m.Field(s, name).Of(m.Line))
}

// words returns the strings in a member of the object at s; false: it is not a list of strings.
func (m message) words(s jsonrpc.Span, name string) ([]string, bool) {
	list := m.Field(s, name)
	var words []string
	if json.Unmarshal(list.Of(m.Line), &words) != nil || words == nil {
		return nil, false
	}
	return words, true
}
