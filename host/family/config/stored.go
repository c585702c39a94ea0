package config

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// namespace holds the settings, the same on all branches.
const namespace = "_"

// documents is the collection of settings: a record per scope. changes is the history: a record per change.
var (
	documents = memory.Collection{Name: "_settings", PerSpace: true, Internal: true}
	changes   = memory.Collection{Name: "_settings_log", PerSpace: true, Internal: true}
)

// Kind is a kind of scope.
type Kind string

// The kinds of scopes, farthest first.
const (
	System    Kind = "system"
	Namespace Kind = "namespace"
	Agent     Kind = "agent"
	OfFamily  Kind = "family"
)

// Scope is where a setting applies. System has no name.
type Scope struct {
	Kind Kind   `json:"scope"`
	Name string `json:"name,omitempty"`
}

func (s Scope) String() string {
	if s.Kind == System {
		return string(s.Kind)
	}
	return fmt.Sprintf("%s:%s", s.Kind, s.Name)
}

// longestName bounds the name of a scope, in bytes.
const longestName = 512

var namespaceForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]{1,128}$`) })

func (s Scope) check() error {
	switch {
	case s.Kind == System && s.Name != "":
		return invalid("scope system has no name: leave it out")
	case s.Kind == System:
		return nil
	case s.Kind != Namespace && s.Kind != Agent && s.Kind != OfFamily:
		return invalid("there is no scope %.64q: it is one of system, namespace, agent, family", s.Kind)
	case s.Name == "":
		return invalid("scope %s needs a name", s.Kind)
	case s.Kind == Namespace && !namespaceForm().MatchString(s.Name):
		return invalid("%.140q is not a name of a namespace: it has up to 128 letters, digits and . _ / -", s.Name)
	case len(s.Name) > longestName:
		return invalid("the name of the scope has %d bytes: at most %d are allowed", len(s.Name), longestName)
	}
	return nil
}

// document holds the settings of a scope by key.
type document map[string]entry

// entry is a key in a scope.
type entry struct {
	Value    json.RawMessage `json:"value,omitempty"` // absent: unset
	Priority int             `json:"priority,omitempty"`
	Version  uint64          `json:"version,omitempty"` // from 1
	At       time.Time       `json:"at,omitzero"`
	By       string          `json:"by,omitempty"`
}

func (e entry) set() bool { return len(e.Value) > 0 }

// count is the key of the record with the number of scopes.
const count = "scopes"

// scopeRecord is the record of a scope's settings.
type scopeRecord struct {
	scope  Scope
	record *memory.Record // nil: nothing is set
}

// read reads the records of some scopes, in their order.
func read(ctx context.Context, stage *memory.Stage, scopes []Scope) ([]scopeRecord, error) {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = s.String()
	}
	records, err := stage.Records(ctx, documents, namespace, names)
	if err != nil {
		return nil, err
	}
	list := make([]scopeRecord, len(scopes))
	for i, r := range records {
		list[i] = scopeRecord{scopes[i], r}
	}
	return list, nil
}

// readOne reads the settings of one scope.
func readOne(ctx context.Context, stage *memory.Stage, s Scope) (document, error) {
	list, err := read(ctx, stage, []Scope{s})
	if err != nil {
		return nil, err
	}
	return list[0].document()
}

// document decodes the settings of the scope.
func (k scopeRecord) document() (d document, err error) {
	if k.record == nil {
		return nil, nil
	}
	if err := json.Unmarshal(k.record.Value, &d); err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", k.scope, err)
	}
	return d, nil
}

// mostScopes bounds the scopes with settings.
const mostScopes = 10_000

// write stages the settings of a scope.
func write(ctx context.Context, stage *memory.Stage, s Scope, d document) error {
	there, err := stage.Records(ctx, documents, namespace, []string{s.String(), count})
	if err != nil {
		return err
	}
	if there[0] == nil {
		if err := countScope(ctx, stage, there[1]); err != nil {
			return err
		}
	}
	value, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return stage.PutRecord(ctx, documents, namespace, s.String(), value, nil)
}

// countScope counts a new scope.
func countScope(ctx context.Context, stage *memory.Stage, counted *memory.Record) error {
	n := 0
	if counted != nil {
		if err := json.Unmarshal(counted.Value, &n); err != nil {
			return fmt.Errorf("read how many scopes have settings: %w", err)
		}
	}
	if n >= mostScopes {
		return &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("%d namespaces, agents and families have settings of their own, which is the limit: set it in scope system", n),
			Details: map[string]any{"limit": mostScopes}}
	}
	value, err := json.Marshal(n + 1)
	if err != nil {
		return err
	}
	return stage.PutRecord(ctx, documents, namespace, count, value, nil)
}

func invalid(format string, args ...any) error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
