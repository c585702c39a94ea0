package bridge

import "strconv"

// requestID is the member of a call's _meta by which the server recognises a call that is sent again.
const requestID = "alcove/request-id"

// stamp gives a tool call a request id, unless it has one or has no parameters to put it in. All other
// bytes stay as they are.
func stamp(m message, id string) []byte {
	if m.params == (span{}) || m.line[m.params.from] != '{' {
		return m.line
	}
	member := strconv.Quote(requestID) + ":" + strconv.Quote(id)
	meta := m.field(m.params, "_meta")
	if meta == (span{}) {
		return insert(m, m.params, `"_meta":{`+member+`}`)
	}
	if m.line[meta.from] != '{' || m.field(meta, requestID) != (span{}) {
		return m.line
	}
	return insert(m, meta, member)
}

// insert puts a member in front of those of the object at s.
func insert(m message, s span, member string) []byte {
	if m.line[skipSpace(m.line, s.from+1)] != '}' {
		member += ","
	}
	line := make([]byte, 0, len(m.line)+len(member))
	line = append(line, m.line[:s.from+1]...)
	line = append(line, member...)
	return append(line, m.line[s.from+1:]...)
}

// withID is the message with another id.
func withID(m message, id string) []byte {
	line := make([]byte, 0, len(m.line)+len(id)+2)
	line = append(line, m.line[:m.id.from]...)
	line = strconv.AppendQuote(line, id)
	return append(line, m.line[m.id.to:]...)
}
