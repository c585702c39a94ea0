package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Got is what came of a step.
type Got struct {
	Answer   json.RawMessage
	Error    *Error // nil: there is an answer
	Memories json.RawMessage
	Records  map[string]json.RawMessage
}

// Error is an error as cases see it.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Differences are where it is not as expected.
func (g Got) Differences(e *Expect) []string {
	if e == nil {
		e = &Expect{}
	}
	lines := g.outcome(e)
	lines = append(lines, Differences("memories", e.Memories, g.Memories)...)
	for _, name := range slices.Sorted(maps.Keys(e.Records)) {
		lines = append(lines, Differences("records."+name, e.Records[name], g.Records[name])...)
	}
	return lines
}

// outcome compares the answer or the error. A case that expects neither expects some answer.
func (g Got) outcome(e *Expect) []string {
	switch {
	case e.Error != nil && g.Error == nil:
		return []string{fmt.Sprintf("answer: got %s, want the error %s", clipped(g.Answer), e.Error)}
	case e.Error == nil && g.Error != nil:
		return []string{fmt.Sprintf("error: got %s: %s, want an answer", g.Error.Code, g.Error.Message)}
	case g.Error == nil:
		return Differences("answer", e.Answer, g.Answer)
	}
	lines := Differences("error", e.Error, g.error(e.Error))
	if len(lines) > 0 && isText(e.Error) {
		lines[0] += ": " + g.Error.Message
	}
	return lines
}

// error is the error in the form that is expected: its code, or an object.
func (g Got) error(want json.RawMessage) json.RawMessage {
	var v any = g.Error
	if isText(want) {
		v = g.Error.Code
	}
	data, _ := json.Marshal(v)
	return data
}

func isText(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) }

func clipped(raw json.RawMessage) string { v, _ := decode(raw); return text(v) }

// Update replaces what a step of a case expects by what came, where that differs: patterns that fit stay.
func (c *Case) Update(step int, g Got) {
	s := c.step(step)
	was := s.Expect
	if was == nil {
		was = &Expect{}
	}
	now := &Expect{}
	if g.Error == nil {
		now.Answer = updated(was.Answer, g.Answer)
	} else {
		want := was.Error
		if want == nil {
			want = json.RawMessage(`""`)
		}
		now.Error = updated(want, g.error(want))
	}
	if was.Memories != nil {
		now.Memories = updated(was.Memories, g.Memories)
	}
	for name, want := range was.Records {
		if now.Records == nil {
			now.Records = map[string]json.RawMessage{}
		}
		now.Records[name] = updated(want, g.Records[name])
	}
	s.Expect = now
}

// updated is a value in which the patterns of want stay that fit.
func updated(want, got json.RawMessage) json.RawMessage {
	switch {
	case want == nil:
		return itself(got)
	case len(Differences("", want, got)) == 0:
		return want
	}
	var members, given map[string]json.RawMessage
	if json.Unmarshal(want, &members) == nil && members != nil && json.Unmarshal(got, &given) == nil && given != nil && !patterned(members) {
		for key, value := range given {
			given[key] = updated(members[key], value)
		}
		return encoded(given, got)
	}
	var elements, list []json.RawMessage
	if json.Unmarshal(want, &elements) == nil && json.Unmarshal(got, &list) == nil && len(elements) == len(list) && list != nil {
		for i, value := range list {
			list[i] = updated(elements[i], value)
		}
		return encoded(list, got)
	}
	return itself(got)
}

// itself is a value that stands for itself, whatever its keys are.
func itself(got json.RawMessage) json.RawMessage {
	if len(Differences("", got, got)) == 0 {
		return got
	}
	return encoded(map[string]json.RawMessage{"$just": got}, got)
}

func patterned(members map[string]json.RawMessage) bool {
	for key := range members {
		if !strings.HasPrefix(key, "$") {
			return false
		}
	}
	return len(members) > 0
}

func encoded(v any, otherwise json.RawMessage) json.RawMessage {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	if out.Encode(v) != nil {
		return otherwise
	}
	return bytes.TrimSpace(data.Bytes())
}

// Rewrite is the text of a file in which some cases, by their lines, are replaced.
func Rewrite(file []byte, changed map[int]Case) ([]byte, error) {
	lines := bytes.Split(file, []byte("\n"))
	for at, c := range changed {
		var data bytes.Buffer
		out := json.NewEncoder(&data)
		out.SetEscapeHTML(false)
		if err := out.Encode(c); err != nil {
			return nil, &LineError{at, err}
		}
		lines[at-1] = bytes.TrimSpace(data.Bytes())
	}
	return bytes.Join(lines, []byte("\n")), nil
}
