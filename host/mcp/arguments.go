package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	maxNesting  = 512    // how deep brackets may be nested in a call's arguments
	maxMembers  = 10_000 // how many members an object may have that is taken apart
	maxElements = 10_000 // how many elements a list may have that is taken apart
	maxProblems = 5      // how many mistakes one error names
	gotLength   = 60     // how many characters of a wrong argument an error repeats
)

// arguments are what a call was given. Its methods read one parameter each: they take what is meant where that
// is plain ("10" for 10, "tag" for ["tag"]), and note what is wrong otherwise, so that err can name all mistakes
// of a call at once. A parameter that is null, or an empty text, counts as not given.
type arguments struct {
	tool     string
	within   string // what names are prefixed with in errors, such as "items[2]."
	members  map[string]json.RawMessage
	problems *problems
}

type problems struct {
	messages   []string
	parameters []string
}

// parseArguments reads the arguments of a call: a JSON object, or nothing. Nothing in them passes through a
// float64. A name that is given twice is a mistake, because nobody can say which one is meant.
func parseArguments(tool string, raw json.RawMessage) (*arguments, error) {
	if depth := memory.Nesting(raw); depth > maxNesting {
		return nil, invalid(nil, "the arguments are nested %d deep: at most %d are allowed", depth, maxNesting)
	}
	if text, ok := stringOf(raw); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		raw = json.RawMessage(text) // encoded twice
	}
	a := &arguments{tool: tool, problems: &problems{}}
	if absent(raw) {
		return a, nil
	}
	members, err := membersOf(raw)
	if err != nil {
		return nil, invalid(nil, "the arguments of %s must be a JSON object: %v", tool, err)
	}
	a.members = members
	return a, nil
}

// membersOf splits an object into its members. It must not be nested deeper than encoding/json can follow.
func membersOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
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

// twiceError says that an object has a member twice.
type twiceError struct{ name string }

func (e *twiceError) Error() string { return got([]byte(strconv.Quote(e.name))) + " is given twice" }

// err is the error that names what is wrong with the parameters read so far.
func (a *arguments) err() error {
	p := a.problems
	if len(p.messages) == 0 {
		return nil
	}
	messages := p.messages
	if len(messages) > maxProblems {
		messages = append(slices.Clone(messages[:maxProblems]), fmt.Sprintf("and %d more", len(messages)-maxProblems))
	}
	return invalid(map[string]any{"parameters": p.parameters[:min(len(p.parameters), maxProblems)]}, "%s", strings.Join(messages, "; "))
}

// wrong notes that a parameter is not what it must be.
func (a *arguments) wrong(name, expected string, raw json.RawMessage) {
	if halfPair(raw) {
		a.fault(name, fmt.Sprintf("%s%s is not valid Unicode: it has half of a surrogate pair", a.within, name))
		return
	}
	a.fault(name, fmt.Sprintf("%s%s must be %s, got %s", a.within, name, expected, got(raw)))
}

func (a *arguments) fault(name, message string) {
	a.problems.messages = append(a.problems.messages, message)
	a.problems.parameters = append(a.problems.parameters, a.within+name)
}

// missing notes that a parameter is needed; what says what to put there.
func (a *arguments) missing(name, what string) {
	a.fault(name, fmt.Sprintf("%s needs %s%s: %s", a.tool, a.within, name, what))
}

// get gives a parameter as it came, and whether it was given.
func (a *arguments) get(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok && !absent(raw)
}

// value gives a parameter that may be any JSON value, null too.
func (a *arguments) value(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok
}

// text reads a text. A number is taken as its digits.
func (a *arguments) text(name string) string {
	raw, ok := a.get(name)
	if !ok {
		return ""
	}
	text, ok := textOf(raw)
	if !ok {
		a.wrong(name, "text", raw)
	}
	return text
}

// needText is text for a parameter that must be given.
func (a *arguments) needText(name, what string) string {
	before := len(a.problems.messages)
	text := a.text(name)
	if text == "" && len(a.problems.messages) == before {
		a.missing(name, what)
	}
	return text
}

// texts reads a list of texts. A single text is a list of one, unless it is itself a JSON list.
func (a *arguments) texts(name string) []string {
	raw, ok := a.get(name)
	if !ok {
		return nil
	}
	if a.tooLong(name, raw) {
		return nil
	}
	if texts, ok := textsOf(raw); ok {
		return texts
	}
	if text, ok := textOf(raw); ok {
		return []string{text}
	}
	a.wrong(name, "a list of texts", raw)
	return nil
}

// whole reads a whole number between two bounds.
func (a *arguments) whole(name string, fallback, from, to int64) int64 {
	raw, ok := a.get(name)
	if !ok {
		return fallback
	}
	n, ok := wholeOf(raw)
	if !ok || n < from || n > to {
		a.wrong(name, fmt.Sprintf("a whole number from %d to %d", from, to), raw)
		return fallback
	}
	return n
}

// version reads a version, such as 12 or "v12"; nil when it is not given.
func (a *arguments) version(name string) *uint64 {
	raw, ok := a.get(name)
	if !ok {
		return nil
	}
	if text, isText := stringOf(raw); isText {
		raw = json.RawMessage(strings.TrimPrefix(text, "v"))
	}
	n, ok := wholeOf(raw)
	if !ok || n < 0 {
		a.wrong(name, "a version, such as 12 (0: only if there is none)", a.members[name])
		return nil
	}
	version := uint64(n)
	return &version
}

// fraction reads a number from 0 to 1; nil when it is not given.
func (a *arguments) fraction(name string) *float64 {
	raw, ok := a.get(name)
	if !ok {
		return nil
	}
	f, err := strconv.ParseFloat(numeral(raw), 64)
	if err != nil || !(f >= 0 && f <= 1) {
		a.wrong(name, "a number from 0 to 1", raw)
		return nil
	}
	return &f
}

// numbers reads a list of numbers; nil when it is not given.
func (a *arguments) numbers(name string) []float32 {
	raw, ok := a.get(name)
	if !ok {
		return nil
	}
	var list []float32
	if err := json.Unmarshal(raw, &list); err != nil || bytes.Contains(raw, []byte("null")) {
		a.wrong(name, "a list of numbers", raw)
	}
	return list
}

// flag reads true or false; false when it is not given.
func (a *arguments) flag(name string) bool {
	raw, ok := a.get(name)
	if !ok {
		return false
	}
	text, isText := stringOf(raw)
	if !isText {
		text = string(raw)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true
	case "false":
		return false
	}
	a.wrong(name, "true or false", raw)
	return false
}

// choice reads one of some words; empty when it is not given.
func (a *arguments) choice(name string, words ...string) string {
	raw, ok := a.get(name)
	if !ok {
		return ""
	}
	text, _ := textOf(raw)
	word := strings.ToLower(strings.TrimSpace(text))
	if !slices.Contains(words, word) {
		a.wrong(name, "one of "+strings.Join(words, ", "), raw)
		return ""
	}
	return word
}

// choices reads one or several of some words.
func (a *arguments) choices(name string, words ...string) []string {
	var chosen []string
	for _, text := range a.texts(name) {
		word := strings.ToLower(strings.TrimSpace(text))
		if !slices.Contains(words, word) {
			a.wrong(name, "one or several of "+strings.Join(words, ", "), a.members[name])
			return nil
		}
		chosen = append(chosen, word)
	}
	return chosen
}

// object reads an object, or the text of one.
func (a *arguments) object(name string) map[string]json.RawMessage {
	raw, ok := a.get(name)
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
		a.fault(name, a.within+name+": "+twice.Error())
	} else if err != nil {
		a.wrong(name, "an object", raw)
	}
	return members
}

// inside splits an object that may come from a text, so that nothing vouches for how deep it is.
func (a *arguments) inside(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if memory.Nesting(raw) > maxNesting {
		return nil, errors.New("nested too deep")
	}
	return membersOf(raw)
}

// tooLong notes a list, or the text of one, that has more elements than are taken apart.
func (a *arguments) tooLong(name string, raw json.RawMessage) bool {
	list := []byte(raw)
	if text, ok := stringOf(raw); ok {
		list = bytes.TrimSpace([]byte(text))
	}
	if !bytes.HasPrefix(list, []byte("[")) {
		return false
	}
	n := jsonrpc.Length(list)
	if n > maxElements {
		a.fault(name, fmt.Sprintf("%s%s has %d elements: at most %d are allowed", a.within, name, n, maxElements))
	}
	return n > maxElements
}

// objects reads a list of objects, the text of one, or a single object. Each is read like arguments, and
// its mistakes are noted here.
func (a *arguments) objects(name string) []*arguments {
	raw, ok := a.get(name)
	if !ok {
		return nil
	}
	if a.tooLong(name, raw) {
		return nil
	}
	items, ok := listOf(raw)
	if !ok && memory.Nesting(raw) <= maxNesting && bytes.HasPrefix(raw, []byte("{")) {
		items, ok = []json.RawMessage{raw}, true
	}
	if !ok {
		a.wrong(name, "a list of objects", raw)
		return nil
	}
	list := make([]*arguments, 0, len(items))
	for i, item := range items {
		place := fmt.Sprintf("%s[%d]", name, i)
		members, err := a.inside(item)
		if err != nil {
			a.fault(place, fmt.Sprintf("%s%s must be an object: %v", a.within, place, err))
			continue
		}
		list = append(list, &arguments{tool: a.tool, within: a.within + place + ".", members: members, problems: a.problems})
	}
	return list
}

// inherit takes from around it the parameters that an object does not have itself.
func (a *arguments) inherit(around *arguments, names ...string) {
	for _, name := range names {
		if _, own := a.members[name]; own {
			continue
		}
		if raw, given := around.get(name); given {
			a.members[name] = raw
		}
	}
}

// same says which of some parameters a call that follows this one must repeat.
func (a *arguments) same(names ...string) string {
	var given []string
	for _, name := range names {
		if _, ok := a.get(name); ok {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		return ""
	}
	return " and the same " + strings.Join(given, " and ")
}

// asOf reads a moment in the past, or a version.
func (a *arguments) asOf(name string, now time.Time) memory.AsOf {
	at, err := memory.ParseAsOf(a.text(name), now)
	if err != nil {
		a.fault(name, fmt.Sprintf("%s%s: %v", a.within, name, err))
	}
	return at
}

// moment reads a moment with one of the domain's readers; zero when it is not given.
func (a *arguments) moment(name string, now time.Time, read func(string, time.Time) (time.Time, error)) time.Time {
	text := a.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := read(text, now)
	if err != nil {
		a.fault(name, fmt.Sprintf("%s%s: %v", a.within, name, err))
	}
	return t
}

// invalid is the error of a request that its caller must change.
func invalid(details map[string]any, format string, values ...any) *memory.Error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, values...), Details: details}
}
