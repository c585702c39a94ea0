// Package cases reads the cases of a family's test, and compares what they expect with what came.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// Bounds of a file of cases.
const (
	MostBytes   = 16 << 20 // of the file
	mostLine    = 1 << 20  // bytes
	mostCases   = 1_000
	mostSteps   = 100 // of a case
	longestName = 200 // bytes
	deepest     = 64  // levels of a value
)

// Start is when the first step of a case happens, unless it says so.
const Start = "2026-06-01T12:00:00Z"

// Case is a line of a file: what the data begins with, and what is then done.
type Case struct {
	Name string            `json:"name"`
	Seed []json.RawMessage `json:"seed,omitempty"` // entries as in a file of a seed
	Step
	Then []Step `json:"then,omitempty"` // what follows, on the same data

	Line  int       `json:"-"` // in the file, from 1 on
	Begin seed.Seed `json:"-"` // what Seed says
}

// Steps are all steps of the case.
func (c *Case) Steps() []Step { return append([]Step{c.Step}, c.Then...) }

// Step is a call of a tool, a hook that is asked or a job that runs, and what is expected of it.
type Step struct {
	Now       string          `json:"now,omitempty"` // when it happens, as Start; empty: with the step before
	Caller    *Caller         `json:"caller,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Hook      abi.Hook        `json:"hook,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"` // of the hook
	Job       string          `json:"job,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"` // of the job
	Expect    *Expect         `json:"expect,omitempty"`
}

// Caller is who asks; nil is the owner of the data.
type Caller struct {
	Agent string   `json:"agent,omitempty"`
	Read  []string `json:"read,omitempty"`  // namespaces; with Write empty, too: all
	Write []string `json:"write,omitempty"` // likewise
}

// Expect has patterns of what came. What is nil is not looked at.
type Expect struct {
	Answer   json.RawMessage            `json:"answer,omitempty"`
	Error    json.RawMessage            `json:"error,omitempty"`    // a code, or a pattern of an object with code and message
	Memories json.RawMessage            `json:"memories,omitempty"` // of an object with the memories of the namespace, by their keys
	Records  map[string]json.RawMessage `json:"records,omitempty"`  // likewise, for each collection
}

// LineError is the error of a line.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Read reads a file of cases. Empty lines are left out. An error of a line is a *LineError.
func Read(r io.Reader) ([]Case, error) {
	data, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MostBytes {
		return nil, fmt.Errorf("the file has more than %d bytes, which is the limit: split it", MostBytes)
	}
	var list []Case
	names := map[string]int{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		c, err := parse(line)
		if err == nil && len(list) == mostCases {
			err = fmt.Errorf("the file has more than %d cases, which is the limit", mostCases)
		}
		if before, twice := names[c.Name]; err == nil && twice {
			err = fmt.Errorf("the case %q has the name of line %d: give it another one", c.Name, before)
		}
		if err != nil {
			return nil, &LineError{i + 1, err}
		}
		c.Line, names[c.Name] = i+1, i+1
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New(`the file has no cases: give lines such as {"name": "it greets", "tool": "tea_greet", "arguments": {"name": "Ada"}, "expect": {"answer": {"greeting": {"$is": "string"}}}}`)
	}
	return list, nil
}

// parse reads a line.
func parse(line []byte) (c Case, err error) {
	if len(line) > mostLine {
		return c, fmt.Errorf("it has %d bytes: at most %d are allowed", len(line), mostLine)
	}
	if !utf8.Valid(line) {
		return c, errors.New("it is not UTF-8")
	}
	if jsontext.Depth(line) > deepest {
		return c, fmt.Errorf("its values are nested more than %d levels deep, which is the limit", deepest)
	}
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return c, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("something follows the case: give each its own line")
	}
	return c, c.check()
}

func (c *Case) check() error {
	if c.Name == "" || len(c.Name) > longestName || strings.ContainsFunc(c.Name, unicode.IsControl) {
		return fmt.Errorf("name is %.80q: give a text of at most %d bytes without control characters", c.Name, longestName)
	}
	for i, entry := range c.Seed {
		if err := c.Begin.Add(entry); err != nil {
			return fmt.Errorf("read entry %d of seed, as %s: %w", i+1, seed.Example, err)
		}
	}
	if 1+len(c.Then) > mostSteps {
		return fmt.Errorf("it has %d steps: at most %d are allowed", 1+len(c.Then), mostSteps)
	}
	steps := c.Steps()
	for i := range steps {
		err := steps[i].check()
		if err == nil && i > 0 && At(steps, i).Before(At(steps, i-1)) {
			err = fmt.Errorf("now is %s, before that of the step before", steps[i].Now)
		}
		if err != nil && i > 0 {
			err = fmt.Errorf("step %d: %w", i+1, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step is a step that may be changed.
func (c *Case) step(i int) *Step {
	if i == 0 {
		return &c.Step
	}
	return &c.Then[i-1]
}

// At is the instant of the step, as the steps before set it.
func At(steps []Step, i int) time.Time {
	for ; i >= 0; i-- {
		if at, err := time.Parse(time.RFC3339, steps[i].Now); err == nil {
			return at
		}
	}
	at, _ := time.Parse(time.RFC3339, Start)
	return at
}

func (s *Step) check() error {
	if err := s.checkAsked(); err != nil {
		return err
	}
	if s.Now != "" {
		if _, err := time.Parse(time.RFC3339, s.Now); err != nil {
			return fmt.Errorf("now is %.80q: give an instant, such as %q", s.Now, Start)
		}
	}
	if e := s.Expect; e != nil {
		return e.check()
	}
	return nil
}

// checkAsked checks that one thing is asked, and only with what belongs to it.
func (s *Step) checkAsked() error {
	asked := 0
	for _, part := range []struct {
		what, with string
		given      bool
		more       json.RawMessage
	}{{"tool", "arguments", s.Tool != "", s.Arguments}, {"hook", "request", s.Hook != "", s.Request}, {"job", "payload", s.Job != "", s.Payload}} {
		if part.given {
			asked++
		} else if part.more != nil {
			return fmt.Errorf("it has %s, and no %s", part.with, part.what)
		}
	}
	if asked != 1 {
		return errors.New("it has to have one of tool, hook and job")
	}
	if s.Arguments != nil && !isObject(s.Arguments) {
		return errors.New("arguments is not an object")
	}
	switch example := Example(s.Hook); {
	case s.Hook == "":
		return nil
	case example == "":
		return fmt.Errorf("hook is %.80q: give store, stored, merged, session_end, rank or embed", s.Hook)
	case s.Request == nil:
		return fmt.Errorf("the hook %s needs its request, such as %s", s.Hook, example)
	}
	return nil
}

// Example is a request of a hook that a case can ask; empty: it can ask no such hook.
func Example(hook abi.Hook) string {
	switch hook {
	case abi.HookStore, abi.HookStored:
		return `{"entries": [{"key": "a", "value": "text"}]}`
	case abi.HookMerged:
		return `{"merge": {"source": "trial", "target": "default", "keys": [{"namespace": "default", "key": "a"}]}}`
	case abi.HookSessionEnd:
		return `{"session": {"session": "s1", "calls": 3}}`
	case abi.HookRank:
		return `{"query": "tea", "candidates": [{"score": 0.5}, {"score": 0.2}]}`
	case abi.HookEmbed:
		return `{"texts": ["tea"], "purpose": "query"}`
	}
	return ""
}

// OfHook is a case that asks a hook, on what the data begins with.
func OfHook(hook abi.Hook, request json.RawMessage, begin seed.Seed) (Case, error) {
	c := Case{Name: "hook", Step: Step{Hook: hook, Request: request}, Begin: begin}
	return c, c.check()
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

func (e *Expect) check() error {
	if e.Answer != nil && e.Error != nil {
		return errors.New("expect has both answer and error")
	}
	named := map[string]json.RawMessage{"answer": e.Answer, "error": e.Error, "memories": e.Memories}
	for name, pattern := range e.Records {
		named["records of "+name] = pattern
	}
	for name, pattern := range named {
		if pattern == nil {
			continue
		}
		if _, err := readPattern(pattern); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
