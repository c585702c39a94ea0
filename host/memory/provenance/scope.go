package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/namespace"
)

// Scope selects namespaces. The zero Scope is all of them.
type Scope struct {
	Namespaces []string `json:"namespaces"` // names, patterns and exceptions of package namespace; null: all
	// Withheld are digests of names and patterns that are left out. Who reads the scope does not learn them.
	Withheld []string `json:"withheld,omitempty"`
}

// Withhold returns the scope without namespaces, given by names and patterns such as "team/*".
func (s Scope) Withhold(list []string) Scope {
	withheld := slices.Clone(s.Withheld)
	for _, name := range list {
		withheld = append(withheld, digest(name))
	}
	slices.Sort(withheld)
	s.Withheld = slices.Compact(withheld)
	return s
}

func digest(name string) string {
	sum := sha256.Sum256([]byte("alcove withheld namespace\x00" + name))
	return hex.EncodeToString(sum[:16])
}

// isAll reports whether the scope has every namespace.
func (s Scope) isAll() bool { return s.Namespaces == nil && len(s.Withheld) == 0 }

// Covers reports whether the scope has a namespace.
func (s Scope) Covers(name string) bool {
	return namespace.Selects(s.Namespaces, name) && !s.withholds(name)
}

func (s Scope) withholds(name string) bool {
	if len(s.Withheld) == 0 {
		return false
	}
	if s.has(name) || s.has(namespace.All) {
		return true
	}
	for i, r := range name {
		if r == '/' && s.has(name[:i]+"/"+namespace.All) {
			return true
		}
	}
	return false
}

func (s Scope) has(name string) bool {
	_, found := slices.BinarySearch(s.Withheld, digest(name))
	return found
}

// Within returns what two scopes both have.
func (s Scope) Within(o Scope) Scope {
	both := Scope{Namespaces: s.Namespaces, Withheld: slices.Concat(s.Withheld, o.Withheld)}
	switch {
	case s.Namespaces == nil:
		both.Namespaces = o.Namespaces
	case o.Namespaces != nil && !slices.Equal(s.Namespaces, o.Namespaces):
		both.Namespaces = append([]string{}, namespace.Common(s.Namespaces, o.Namespaces)...) // nil would be all
	}
	slices.Sort(both.Withheld)
	both.Withheld = slices.Compact(both.Withheld)
	if both.Namespaces != nil { // a name would tell what is withheld
		both.Namespaces = slices.DeleteFunc(append([]string{}, both.Namespaces...), both.withholds)
	}
	return both
}

// Key is the same for equal scopes alone.
func (s Scope) Key() string {
	s.Namespaces = slices.Clone(s.Namespaces)
	slices.Sort(s.Namespaces)
	if len(s.Withheld) == 0 {
		s.Withheld = nil
	}
	text, _ := json.Marshal(s) // texts always are JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// String names what the scope has, for messages.
func (s Scope) String() string {
	text := "all namespaces"
	if s.Namespaces != nil {
		text = strings.Join(namespace.Names(s.Namespaces), ", ")
	}
	if len(s.Withheld) > 0 {
		text += " without what is withheld"
	}
	return text
}
