package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/jsonrpc"
	"github.com/alcove-memory/alcove/host/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	maxNesting  = 512    // how deep brackets may be nested in a call's arguments
	maxMembers  = 10_000 // how many members an object may have that is taken apart
	maxElements = 10_000 // how many elements a list may have that is taken apart
	maxProblems = 5      // how many mistakes one error names
	gotLength   = 60     // how many characters of a wrong argument an error repeats
)

// Arguments are what a call was given, under the names of the tool's parameters. Each method reads one parameter: it accepts
// every unambiguous form ("10" for 10, "tag" for ["tag"]) and notes any other as a mistake, so that Err names all mistakes of
// a call at once. A parameter that is null, or an empty text, counts as not given.
type Arguments struct {
	tool     string
	within   string // what names are prefixed with in errors, such as "items[2]."
	members  map[string]json.RawMessage
	spelled  map[string]string // parameters that were given in another spelling
	passes   bool              // the tool gets the arguments too that it does not know
	problems *problems
}

// problems are what is wrong with the arguments of a call, those in lists and objects included.
type problems struct {
	messages   []string
	parameters []string
	unknown    []string // the names of arguments that the tool does not know
}

// parseArguments reads the arguments of a call: a JSON object, or nothing. Nothing in them passes through a
// float64. A name that is given twice is ambiguous, and a mistake.
func parseArguments(tool string, raw json.RawMessage) (*Arguments, error) {
	if depth := jsontext.Depth(raw); depth > maxNesting {
		return nil, Invalid(nil, "the arguments are nested %d deep: at most %d are allowed", depth, maxNesting)
	}
	if text, ok := stringOf(raw); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		raw = json.RawMessage(text) // encoded twice
	}
	a := &Arguments{tool: tool, problems: &problems{}}
	if absent(raw) {
		return a, nil
	}
	members, err := membersOf(raw)
	if err != nil {
		return nil, Invalid(nil, "the arguments of %s must be a JSON object: %v", tool, err)
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

// Err is the error that names what is wrong with the parameters read so far.
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

// wrong notes that a parameter is not what it must be.
func (a *Arguments) wrong(name, expected string, raw json.RawMessage) {
	if halfPair(raw) {
		a.Fault(name, fmt.Sprintf("%s%s is not valid Unicode: it has half of a surrogate pair", a.within, a.label(name)))
		return
	}
	a.Fault(name, fmt.Sprintf("%s%s must be %s, got %s", a.within, a.label(name), expected, got(raw)))
}

// Fault notes a mistake in a parameter.
func (a *Arguments) Fault(name, message string) {
	a.problems.messages = append(a.problems.messages, message)
	a.problems.parameters = append(a.problems.parameters, a.within+a.label(name))
}

// Missing notes that a parameter is needed; what says what to put there.
func (a *Arguments) Missing(name, what string) {
	a.Fault(name, fmt.Sprintf("%s needs %s%s: %s", a.tool, a.within, name, what))
}

// Get gives a parameter as it came, and whether it was given.
func (a *Arguments) Get(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok && !absent(raw)
}

// Value gives a parameter that may be any JSON value, null too.
func (a *Arguments) Value(name string) (json.RawMessage, bool) {
	raw, ok := a.members[name]
	return raw, ok
}

// Text reads a text. A number is taken as its digits.
func (a *Arguments) Text(name string) string {
	raw, ok := a.Get(name)
	if !ok {
		return ""
	}
	text, ok := textOf(raw)
	if !ok {
		a.wrong(name, "text", raw)
	}
	return text
}

// NeedText is text for a parameter that must be given.
func (a *Arguments) NeedText(name, what string) string {
	before := len(a.problems.messages)
	text := a.Text(name)
	if text == "" && len(a.problems.messages) == before {
		a.Missing(name, what)
	}
	return text
}

// Texts reads a list of texts. A single text is a list of one, unless it is itself a JSON list.
func (a *Arguments) Texts(name string) []string {
	raw, ok := a.Get(name)
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

// Whole reads a whole number between two bounds.
func (a *Arguments) Whole(name string, fallback, from, to int64) int64 {
	raw, ok := a.Get(name)
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

// Version reads a version, such as 12 or "v12"; nil when it is not given.
func (a *Arguments) Version(name string) *uint64 {
	raw, ok := a.Get(name)
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

// Fraction reads a number from 0 to 1; nil when it is not given.
func (a *Arguments) Fraction(name string) *float64 {
	raw, ok := a.Get(name)
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

// Numbers reads a list of numbers; nil when it is not given.
func (a *Arguments) Numbers(name string) []float32 {
	raw, ok := a.Get(name)
	if !ok {
		return nil
	}
	var list []float32
	if err := json.Unmarshal(raw, &list); err != nil || bytes.Contains(raw, []byte("null")) {
		a.wrong(name, "a list of numbers", raw)
	}
	return list
}

// Flag reads true or false; false when it is not given.
func (a *Arguments) Flag(name string) bool {
	raw, ok := a.Get(name)
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

// Choice reads one of some words; empty when it is not given.
func (a *Arguments) Choice(name string, words ...string) string {
	raw, ok := a.Get(name)
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

// Choices reads one or several of some words.
func (a *Arguments) Choices(name string, words ...string) []string {
	var chosen []string
	for _, text := range a.Texts(name) {
		word := strings.ToLower(strings.TrimSpace(text))
		if !slices.Contains(words, word) {
			a.wrong(name, "one or several of "+strings.Join(words, ", "), a.members[name])
			return nil
		}
		chosen = append(chosen, word)
	}
	return chosen
}

// Object reads an object, or the text of one.
func (a *Arguments) Object(name string) map[string]json.RawMessage {
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

// Nested reads an object as arguments of its own, whose mistakes are noted here; it is empty when there is none.
func (a *Arguments) Nested(name string) *Arguments {
	return &Arguments{tool: a.tool, within: a.within + name + ".", members: a.Object(name), problems: a.problems}
}

// Raw reads an object, or the text of one, without taking it apart.
func (a *Arguments) Raw(name string) json.RawMessage {
	raw, ok := a.Get(name)
	if !ok {
		return nil
	}
	text, isText := stringOf(raw)
	if !isText {
		text = string(raw)
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		a.wrong(name, "an object", raw)
		return nil
	}
	return json.RawMessage(text)
}

// Has reports whether a parameter was given.
func (a *Arguments) Has(name string) bool {
	_, given := a.Get(name)
	return given
}

// Names lists the parameters that were given.
func (a *Arguments) Names() []string { return slices.Sorted(maps.Keys(a.members)) }

// Translate gives a word of a parameter in place of another that means the same.
func (a *Arguments) Translate(name string, words map[string]string) {
	raw, _ := a.Get(name)
	text, _ := stringOf(raw)
	if word, ok := words[strings.ToLower(strings.TrimSpace(text))]; ok {
		a.members[name] = json.RawMessage(strconv.Quote(word))
	}
}

// inside splits an object that may come from a text, so that nothing vouches for how deep it is.
func (a *Arguments) inside(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if jsontext.Depth(raw) > maxNesting {
		return nil, errors.New("nested too deep")
	}
	return membersOf(raw)
}

// tooLong notes a list, or the text of one, that has more elements than are taken apart.
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

// Objects reads a list of objects, the text of one, or a single object. Each is read like arguments, and
// its mistakes are noted here.
func (a *Arguments) Objects(name string) []*Arguments {
	raw, ok := a.Get(name)
	if !ok {
		return nil
	}
	if a.tooLong(name, raw) {
		return nil
	}
	items, ok := listOf(raw)
	if !ok && jsontext.Depth(raw) <= maxNesting && bytes.HasPrefix(raw, []byte("{")) {
		items, ok = []json.RawMessage{raw}, true
	}
	if !ok {
		a.wrong(name, "a list of objects", raw)
		return nil
	}
	list := make([]*Arguments, 0, len(items))
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", a.label(name), i)
		members, err := a.inside(item)
		if err != nil {
			a.Fault(path, fmt.Sprintf("%s%s must be an object: %v", a.within, path, err))
			continue
		}
		list = append(list, &Arguments{tool: a.tool, within: a.within + path + ".", members: members, problems: a.problems})
	}
	return list
}

// Inherit takes from around it the parameters that an object does not have itself.
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

// AsOf reads a moment in the past, or a version.
func (a *Arguments) AsOf(name string, now time.Time) memory.AsOf {
	at, err := memory.ParseAsOf(a.Text(name), now)
	if err != nil {
		a.Fault(name, fmt.Sprintf("%s%s: %v", a.within, a.label(name), err))
	}
	return at
}

// Moment reads a moment with one of the domain's readers; zero when it is not given.
func (a *Arguments) Moment(name string, now time.Time, read func(string, time.Time) (time.Time, error)) time.Time {
	text := a.Text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := read(text, now)
	if err != nil {
		a.Fault(name, fmt.Sprintf("%s%s: %v", a.within, a.label(name), err))
	}
	return t
}

// Invalid is the error of a request that its caller must change.
func Invalid(details map[string]any, format string, values ...any) *memory.Error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, values...), Details: details}
}
