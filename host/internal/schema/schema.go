// Package schema validates JSON against untrusted JSON Schemas, within bounds of time and memory.
//
// A schema can make its check take for ever in few bytes: alternatives that refer to each other, numbers of a billion digits,
// patterns that unfold. Nothing that is given to this package, schema or value, makes it panic or work for more than some
// seconds.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds of what is checked.
const (
	Longest     = 256 << 10 // bytes of a schema
	deepest     = 100       // how deep a schema may be nested
	deepestData = 1000      // and a value
	maxSteps    = 1 << 19   // of a check; a step takes a microsecond or less
	mostFaults  = 5         // that Check names, and members of each

	longestError = 500 // bytes of what is wrong with a schema
	longestFault = 300 // and with a value
	longestPath  = 200 // to it
)

// ErrTooMuch says that a check was given up because it took too long.
var ErrTooMuch = errors.New("checking it against its schema takes too long")

// Schema is a compiled schema. It may be used from many goroutines at once, which take turns.
type Schema struct {
	mu       sync.Mutex
	compiled *jsonschema.Schema
	budget   *budget
	heaviest int // how much work the check of a single value may be, before its parts are
}

// Compile compiles a schema. It may refer to nothing outside of itself.
func Compile(text []byte) (s *Schema, err error) {
	if len(text) > Longest {
		return nil, fmt.Errorf("the schema has %d bytes: at most %d are allowed", len(text), Longest)
	}
	document, err := decode(text, deepest)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	s = &Schema{budget: &budget{most: maxSteps}}
	err = s.budget.during(func() error {
		s.compiled, err = s.compile(document)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// nowhere loads nothing.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %.100q: schemas must stand alone", url)
}

func (s *Schema) compile(document any) (*jsonschema.Schema, error) {
	const name = "mem:///schema"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nowhere{})
	compiler.UseRegexpEngine(s.budget.pattern)
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "mem:///steps", Compile: s.count})
	compiler.AssertVocabs()
	if err := compiler.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiled, err := compiler.Compile(name)
	var invalid *jsonschema.SchemaValidationError
	var wrong *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &wrong) {
		m := &Misfit{}
		m.collect(wrong, mostFaults)
		return nil, fmt.Errorf("compile the schema: %s", clip(m.Error(), longestError))
	}
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %s", clip(err.Error(), longestError))
	}
	return compiled, nil
}

// count makes the check of each schema in the schema a step, and refuses what could not be counted.
func (s *Schema) count(_ *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
	if _, has := object["contains"]; has {
		return nil, errors.New("contains is not supported: say what all items are, with items")
	}
	required, _ := object["required"].([]any)
	s.heaviest = max(s.heaviest, weight(object["enum"])+weight(object["const"])+len(required))
	unique, _ := object["uniqueItems"].(bool)
	return step{s.budget, unique}, nil
}

// Check checks a value. A mismatch is a *Misfit with a few faults.
func (s *Schema) Check(value []byte) error { return s.CheckUpTo(value, mostFaults) }

// CheckUpTo is Check with a number of faults to name.
func (s *Schema) CheckUpTo(value []byte, most int) error {
	data, err := decode(value, deepestData)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.budget.during(func() error {
		s.budget.spend(weight(data) / 16 * s.heaviest)
		return s.compiled.Validate(data)
	})
	var wrong *jsonschema.ValidationError
	if errors.As(err, &wrong) {
		m := &Misfit{}
		m.collect(wrong, most)
		return m
	}
	return err
}

// decode reads JSON that can be checked.
func decode(text []byte, depth int) (any, error) {
	if err := plain(text, depth); err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	return value, nil
}

// weight is how many values are in a value.
func weight(value any) int {
	n := 1
	switch v := value.(type) {
	case nil:
		return 0
	case map[string]any:
		for _, each := range v {
			n += weight(each)
		}
	case []any:
		for _, each := range v {
			n += weight(each)
		}
	}
	return n
}

// Misfit is how a value does not fit a schema.
type Misfit struct {
	Faults []Fault // some of them, never none
	More   int     // how many there are beside
}

// Fault is one thing that is wrong.
type Fault struct {
	At      string   // the members that lead there, between dots; empty: the value itself
	Path    []string // the same, whole
	Missing []string // members that are not there and must be
	Unknown []string // members that are there and must not be
	Says    string   // what is wrong; of missing members, too
}

func (m *Misfit) Error() string {
	var said []string
	for _, f := range m.Faults {
		said = append(said, strings.TrimPrefix(f.At+": "+f.Says, ": "))
	}
	if m.More > 0 {
		said = append(said, fmt.Sprintf("and %d more", m.More))
	}
	return strings.Join(said, "; ")
}

// collect finds the errors that say something; the others only say where those are.
func (m *Misfit) collect(e *jsonschema.ValidationError, most int) {
	for _, cause := range e.Causes {
		m.collect(cause, most)
	}
	if len(e.Causes) > 0 {
		return
	}
	if len(m.Faults) >= most {
		m.More++
		return
	}
	f := Fault{At: clip(strings.Join(e.InstanceLocation, "."), longestPath), Path: e.InstanceLocation}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		f.Missing = k.Missing[:min(len(k.Missing), most)]
	case *kind.AdditionalProperties:
		f.Unknown = k.Properties[:min(len(k.Properties), most)]
	}
	f.Says = clip(says(e), longestFault)
	m.Faults = append(m.Faults, f)
}

// says is what is wrong, without where.
func says(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("it has %d characters: at least %d are needed", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("it has %d characters: at most %d are allowed", k.Got, k.Want)
	}
	here := *e
	here.InstanceLocation = nil
	return strings.TrimPrefix(here.Error(), "at '': ")
}

// clip shortens text to a number of bytes, at a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
