// Package provenance says what a family was built from: a statement of in-toto, with the predicate that SLSA gives provenance, in an
// envelope that keys sign. It is what its signer says, and no proof that the build was so.
package provenance

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/registry/signature"
)

// Types of a statement.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://github.com/alcove-memory/alcove/build/family/v1"
	builder       = "https://github.com/alcove-memory/alcove"
	program       = "alcove" // whose version a builder has
	ofTool        = "version"
)

// Bounds of a statement.
const (
	MostMaterials = 2000 // source files, and tools
	longestName   = 1024 // bytes
)

// Build is what a module was built from, and by what.
type Build struct {
	Family  string     `json:"family"`
	Version string     `json:"version"`
	SHA256  string     `json:"sha256"`            // of the module
	Alcove  string     `json:"alcove"`            // version of the program that packed it; empty: another one built it
	Builder string     `json:"builder"`           // what built it, as an address
	Command []string   `json:"command,omitempty"` // of the build; none: the module was given
	Sources []Material `json:"sources"`
	Tools   []Material `json:"tools"` // compilers and engines
}

// Material is something that a module was built from or with.
type Material struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     predicate    `json:"predicate"`
}

// descriptor is a resource as in-toto describes one.
type descriptor struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type predicate struct {
	Definition definition `json:"buildDefinition"`
	Details    details    `json:"runDetails"`
}

type definition struct {
	BuildType    string       `json:"buildType"`
	Parameters   parameters   `json:"externalParameters"`
	Dependencies []descriptor `json:"resolvedDependencies"`
}

type parameters struct {
	Family  string   `json:"family"`
	Version string   `json:"version"`
	Command []string `json:"command,omitempty"`
}

type details struct {
	Builder struct {
		ID      string            `json:"id"`
		Version map[string]string `json:"version,omitempty"`
	} `json:"builder"`
}

// Sign returns the statement of a build in an envelope with a signature by each key. Equal builds have equal statements: there is no time.
func Sign[K crypto.Signer](b Build, keys ...K) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	s := statement{Type: statementType, PredicateType: predicateType, Subject: []descriptor{{Name: b.Family, Digest: map[string]string{"sha256": b.SHA256}}}}
	s.Predicate.Definition = definition{BuildType: buildType, Parameters: parameters{b.Family, b.Version, b.Command}, Dependencies: []descriptor{}}
	s.Predicate.Details.Builder.ID = builder
	s.Predicate.Details.Builder.Version = map[string]string{program: b.Alcove}
	for _, m := range slices.Concat(b.Sources, b.Tools) {
		s.Predicate.Definition.Dependencies = append(s.Predicate.Definition.Dependencies, m.described())
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	e, err := signature.SignEnvelope(signature.InToto, payload, keys...)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(e)
	if err == nil {
		_, _, err = Open(data) // within the bounds
	}
	return data, err
}

func (m Material) described() descriptor {
	d := descriptor{Name: m.Name}
	if m.SHA256 != "" {
		d.Digest = map[string]string{"sha256": m.SHA256}
	}
	if m.Version != "" {
		d.URI = "pkg:generic/" + url.PathEscape(m.Name) + "@" + url.PathEscape(m.Version)
		d.Annotations = map[string]string{ofTool: m.Version}
	}
	return d
}

// Open reads an envelope with provenance, whose signatures are not verified yet. What it has of a build that Alcove did not describe is
// the module, the builder, and materials.
func Open(data []byte) (b Build, e signature.Envelope, err error) {
	if e, err = signature.OpenEnvelope(data); err != nil {
		return b, e, err
	}
	if e.PayloadType != signature.InToto {
		return b, e, fmt.Errorf("the envelope has %.100q, and not %s", e.PayloadType, signature.InToto)
	}
	var s statement
	if err := json.Unmarshal(e.Payload, &s); err != nil {
		return b, e, fmt.Errorf("read the statement: %w", err)
	}
	if s.Type != statementType || s.PredicateType != predicateType {
		return b, e, fmt.Errorf("the statement is of the type %.100q with %.100q: only %s is read", s.Type, s.PredicateType, predicateType)
	}
	if len(s.Subject) != 1 {
		return b, e, fmt.Errorf("the statement is about %d artifacts, not one", len(s.Subject))
	}
	return s.build(), e, s.build().check()
}

func (s statement) build() Build {
	d := s.Predicate.Definition
	b := Build{SHA256: s.Subject[0].Digest["sha256"], Builder: s.Predicate.Details.Builder.ID, Sources: []Material{}, Tools: []Material{}}
	if d.BuildType == buildType {
		b.Family, b.Version, b.Command, b.Alcove = d.Parameters.Family, d.Parameters.Version, d.Parameters.Command, s.Predicate.Details.Builder.Version[program]
	}
	for _, r := range d.Dependencies {
		m := Material{r.Name, r.Annotations[ofTool], r.Digest["sha256"]}
		if m.Name == "" {
			m.Name = r.URI
		}
		if m.Version != "" {
			b.Tools = append(b.Tools, m)
		} else {
			b.Sources = append(b.Sources, m)
		}
	}
	return b
}

var sumForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

func (b Build) check() error {
	if !sumForm().MatchString(b.SHA256) {
		return fmt.Errorf("the module's digest is %.80q, and not a SHA-256", b.SHA256)
	}
	materials := slices.Concat(b.Sources, b.Tools)
	if len(materials) > MostMaterials {
		return fmt.Errorf("it was built from %d files and tools: the limit is %d", len(materials), MostMaterials)
	}
	for _, m := range materials {
		if m.Name == "" || len(m.Name)+len(m.Version) > longestName {
			return fmt.Errorf("the name of a source %.80q is empty, or longer than %d bytes", m.Name, longestName)
		}
	}
	if long := strings.Join(b.Command, " "); len(long) > longestName {
		return fmt.Errorf("the command of the build has more than %d bytes", longestName)
	}
	return nil
}

// ErrOther is the error of provenance of another module.
var ErrOther = errors.New("the provenance is of another module")

// Of reads provenance that must be of the module with a digest.
func Of(data []byte, digest string) (Build, signature.Envelope, error) {
	b, e, err := Open(data)
	if err == nil && b.SHA256 != digest {
		err = fmt.Errorf("%w: of the one with the SHA-256 %s", ErrOther, b.SHA256)
	}
	return b, e, err
}
