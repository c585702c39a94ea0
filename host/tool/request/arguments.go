// Package request declares the parameters of a tool, and reads the arguments of a call by them.
package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	MostNesting = 512    // depth of brackets in a call's arguments
	maxMembers  = 10_000 // members of a decoded object
	maxElements = 10_000 // elements of a decoded list
	maxProblems = 5      // mistakes named in one error
	gotLength   = 60     // characters of a wrong argument quoted in an error
)

// Arguments holds the arguments of a call by parameter name. Each method reads one parameter: it accepts every unambiguous
// form ("10" for 10, "tag" for ["tag"]) and records any other as a mistake, so that Err names all mistakes of a call at
// once. A parameter that is null or an empty text counts as missing.
type Arguments struct {
	tool     string
	within   string // prefix of names in errors, such as "items[2]."
	members  map[string]json.RawMessage
	spelled  map[string]string // parameter → the caller's spelling, if different
	passes   bool              // unknown arguments reach the tool
	tagged   bool              // the tool has a list of tags
	problems *problems
}

// problems collects the mistakes in a call's arguments, including those nested in lists and objects.
type problems struct {
	messages   []string
	parameters []string
	unknown    []string // names of unknown arguments
	notes      []string // on arguments that were not taken as they are
}

// Parse parses the arguments of a call: a JSON object, the text of one, or nothing. It renames them to the tool's parameters. No number
// passes through a float64. A repeated name is ambiguous, and a mistake.
func Parse(n *Names, raw json.RawMessage) (*Arguments, error) {
	if depth := jsontext.Depth(raw); depth > MostNesting {
		return nil, Invalid(nil, "the arguments are nested %d deep: at most %d are allowed", depth, MostNesting)
	}
	if text, ok := stringOf(raw); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		raw = json.RawMessage(text) // encoded twice
	}
	a := &Arguments{tool: n.Tool, passes: n.Passes, tagged: n.Types[tagsParameter] == "array", problems: &problems{}}
	if !absent(raw) {
		members, err := membersOf(raw)
		if err != nil {
			return nil, Invalid(nil, "the arguments of %s must be a JSON object: %v", n.Tool, err)
		}
		a.members = members
	}
	a.rename(n)
	a.fill(n.Preset)
	a.splitTags()
	return a, nil
}

// fill sets missing arguments.
func (a *Arguments) fill(preset map[string]json.RawMessage) {
	for name, value := range preset {
		a.Default(name, value)
	}
}

// Default sets an argument that is missing.
func (a *Arguments) Default(name string, value json.RawMessage) {
	if given, ok := a.members[name]; ok && !absent(given) {
		return
	}
	if a.members == nil {
		a.members = map[string]json.RawMessage{}
	}
	a.members[name] = value
}

// Separate moves some parameters into Arguments of their own.
func (a *Arguments) Separate(names map[string]bool) *Arguments {
	apart := &Arguments{tool: a.tool, within: a.within, members: map[string]json.RawMessage{}, spelled: a.spelled, problems: a.problems}
	for name := range names {
		if raw, given := a.members[name]; given {
			apart.members[name] = raw
			delete(a.members, name)
		}
	}
	return apart
}

// Members splits a JSON object into its members, and refuses repeated ones and deep nesting.
func Members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if depth := jsontext.Depth(raw); depth > MostNesting {
		return nil, fmt.Errorf("it is nested %d deep: at most %d are allowed", depth, MostNesting)
	}
	return membersOf(raw)
}

// membersOf splits an object into its members. It must not be nested deeper than encoding/json can follow.
func membersOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && utf8.Valid(trimmed) && json.Valid(trimmed) {
		return membersOfObject(trimmed)
	}
	return membersByToken(raw)
}

// membersOfObject splits a valid object into its members, several times faster than a decoder does.
func membersOfObject(object []byte) (members map[string]json.RawMessage, err error) {
	members = make(map[string]json.RawMessage, 8)
	jsonrpc.Members(object, 0, func(name string, value jsonrpc.Span) {
		_, twice := members[name]
		switch {
		case err != nil:
		case twice:
			err = &twiceError{name}
		case len(members) == maxMembers:
			err = fmt.Errorf("it has more than %d members", maxMembers)
		default:
			members[name] = bytes.Clone(value.Of(object))
		}
	})
	return members, err
}

// membersOfElement splits an element of a valid list, which is not nested too deep either.
func membersOfElement(element json.RawMessage) (map[string]json.RawMessage, error) {
	if len(element) > 0 && element[0] == '{' && utf8.Valid(element) {
		return membersOfObject(element)
	}
	return membersOf(element)
}

// membersByToken finds out what is wrong with what is no valid object.
func membersByToken(raw json.RawMessage) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return nil, errors.New("it is not valid JSON")
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("got %s", got(raw))
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		text, _ := name.(string)
		if _, twice := members[text]; twice {
			return nil, &twiceError{text}
		}
		if len(members) == maxMembers {
			return nil, fmt.Errorf("it has more than %d members", maxMembers)
		}
		members[text] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("it is not valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return members, nil
}

// twiceError means that an object has a repeated member.
type twiceError struct{ name string }

func (e *twiceError) Error() string { return got([]byte(strconv.Quote(e.name))) + " is given twice" }

// Err returns an error that names the mistakes in the parameters read so far.
func (a *Arguments) Err() error {
	p := a.problems
	if len(p.messages) == 0 {
		return nil
	}
	messages := p.messages
	if len(messages) > maxProblems {
		messages = append(slices.Clone(messages[:maxProblems]), fmt.Sprintf("and %d more", len(messages)-maxProblems))
	}
	return Invalid(map[string]any{"parameters": p.parameters[:min(len(p.parameters), maxProblems)]}, "%s", strings.Join(messages, "; "))
}

// wrong records that a parameter is not of the expected form.
func (a *Arguments) wrong(name, expected string, raw json.RawMessage) {
	if halfPair(raw) {
		a.Fault(name, fmt.Sprintf("%s%s is not valid Unicode: it has half of a surrogate pair", a.within, a.label(name)))
		return
	}
	a.Fault(name, fmt.Sprintf("%s%s must be %s, got %s", a.within, a.label(name), expected, got(raw)))
}

// Wrong records that a parameter is not what is expected.
func (a *Arguments) Wrong(name, expected string) { a.wrong(name, expected, a.members[name]) }

// Fault records a mistake in a parameter.
func (a *Arguments) Fault(name, message string) {
	a.problems.messages = append(a.problems.messages, message)
	a.problems.parameters = append(a.problems.parameters, a.within+a.label(name))
}

// Missing records that a required parameter is missing; what describes its value.
func (a *Arguments) Missing(name, what string) {
	a.Fault(name, fmt.Sprintf("%s needs %s%s: %s", a.tool, a.within, name, what))
}

// Get returns the raw value of a parameter, and whether it was given.
func (a *Arguments) Get(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok && !absent(raw)
}

// Value returns a parameter that may be any JSON value, including null.
func (a *Arguments) Value(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok
}

// Text reads a text. A number is read as its digits.
func (a *Arguments) Text(name string) string {
	raw, ok := a.Get(name)
	if !ok {
		return ""
	}
	text, ok := Text(raw)
	if !ok {
		a.wrong(name, "text", raw)
	}
	return text
}

// Flag reads true or false, or returns false if it is missing.
func (a *Arguments) Flag(name string) bool {
	raw, ok := a.Get(name)
	if !ok {
		return false
	}
	flag, ok := Flag(raw)
	if !ok {
		a.wrong(name, "true or false", raw)
	}
	return flag
}

// object reads an object, or the text of one; nil if it is missing.
func (a *Arguments) object(name string) map[string]json.RawMessage {
	raw, ok := a.Get(name)
	if !ok {
		return nil
	}
	object := raw
	if text, isText := stringOf(raw); isText {
		object = json.RawMessage(text)
	}
	members, err := a.inside(object)
	var twice *twiceError
	if errors.As(err, &twice) {
		a.Fault(name, a.within+a.label(name)+": "+twice.Error())
	} else if err != nil {
		a.wrong(name, "an object", raw)
	}
	return members
}

// Nested reads an object as Arguments, whose mistakes are recorded in a. They are empty if it is missing.
func (a *Arguments) Nested(name string) *Arguments {
	return &Arguments{tool: a.tool, within: a.within + name + ".", members: a.object(name), problems: a.problems}
}

// Has reports whether a parameter was given.
func (a *Arguments) Has(name string) bool {
	_, given := a.Get(name)
	return given
}

// Given returns the arguments by parameter.
func (a *Arguments) Given() map[string]json.RawMessage { return a.members }

// inside splits an object into its members. It checks the depth, as the object may come from a text.
func (a *Arguments) inside(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if jsontext.Depth(raw) > MostNesting {
		return nil, errors.New("nested too deep")
	}
	return membersOf(raw)
}

// tooLong reports whether a list, or the text of one, has more than maxElements elements, and records that as a mistake.
func (a *Arguments) tooLong(name string, raw json.RawMessage) bool {
	list := []byte(raw)
	if text, ok := stringOf(raw); ok {
		list = bytes.TrimSpace([]byte(text))
	}
	if !bytes.HasPrefix(list, []byte("[")) {
		return false
	}
	n := jsonrpc.Length(list)
	if n > maxElements {
		a.Fault(name, fmt.Sprintf("%s%s has %d elements: at most %d are allowed", a.within, a.label(name), n, maxElements))
	}
	return n > maxElements
}

// objects splits a list of objects, the text of one, or a single object. Mistakes in their members are recorded in a.
func (a *Arguments) objects(name string, raw json.RawMessage) []*Arguments {
	if a.tooLong(name, raw) {
		return nil
	}
	items, ok := listOf(raw)
	if !ok && jsontext.Depth(raw) <= MostNesting && bytes.HasPrefix(raw, []byte("{")) {
		items, ok = []json.RawMessage{raw}, true
	}
	if !ok {
		a.wrong(name, "a list of objects", raw)
		return nil
	}
	list := make([]*Arguments, 0, len(items))
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", a.label(name), i)
		members, err := membersOfElement(item)
		if err != nil {
			a.Fault(path, fmt.Sprintf("%s%s must be an object: %v", a.within, path, err))
			continue
		}
		list = append(list, &Arguments{tool: a.tool, within: a.within + path + ".", members: members, tagged: a.tagged, problems: a.problems})
	}
	return list
}

// tagsParameter is the list of texts that is often given as one text with commas.
const tagsParameter = "tags"

// splitTags makes a list of tags that were given as one text with commas, and notes it.
func (a *Arguments) splitTags() {
	text, isText := stringOf(a.members[tagsParameter])
	if !a.tagged || !isText || !strings.Contains(text, ",") || strings.HasPrefix(strings.TrimSpace(text), "[") {
		return
	}
	var tags []string
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	list, err := jsontext.Encode(tags)
	if err != nil || len(tags) == 0 {
		return
	}
	a.members[tagsParameter] = list
	a.problems.notes = append(a.problems.notes, fmt.Sprintf("%s%s was taken as the list %s: give a list.", a.within, a.label(tagsParameter), Clip(string(list), 200)))
}

// Drop ignores a parameter, and notes it.
func (a *Arguments) Drop(name, note string) {
	delete(a.members, name)
	a.problems.notes = append(a.problems.notes, note)
}

// Inherit copies missing parameters from the enclosing arguments.
func (a *Arguments) Inherit(around *Arguments, names ...string) {
	for _, name := range names {
		if _, own := a.members[name]; own {
			continue
		}
		if raw, given := around.Get(name); given {
			if a.members == nil {
				a.members = map[string]json.RawMessage{}
			}
			a.members[name] = raw
		}
	}
}

// Invalid returns the error of a request that its caller must change.
func Invalid(details map[string]any, format string, values ...any) *memory.Error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, values...), Details: details}
}
