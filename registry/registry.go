// Package registry reads and writes the lock file of a data directory: the modules that may run there, and their grants.
package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/durable"
)

// File is the name of the lock file in a data directory.
const File = "alcove.lock"

// Bounds of a lock file.
const (
	FileLimit = 4 << 20 // bytes
	format    = 1
	mostNames = 1000 // families, and endpoints
)

// Lock is the operator's grants and endpoints. The zero Lock has none.
type Lock struct {
	Format int `json:"format"`
	// Locked has every server of the directory run only what the lock file names, and grant nothing.
	Locked bool `json:"locked,omitempty"`
	// Posture is what built-in families may do beyond their grants; empty: Careful.
	Posture Posture `json:"posture,omitempty"`
	// Shared has Personal hold though the server has API keys or other machines can connect to it.
	Shared    bool                `json:"posture_shared,omitempty"`
	Families  map[string]Grant    `json:"families,omitempty"`  // by name
	Endpoints map[string]Endpoint `json:"endpoints,omitempty"` // by the operator's name for it
	Roots     map[string]Root     `json:"roots,omitempty"`     // likewise
	Keys      map[string]Key      `json:"keys,omitempty"`      // trusted signers of modules, by the operator's name for them
	// Signatures is by how many trusted keys a module must be signed in a locked server; 0: by one, if there are keys.
	Signatures int `json:"signatures,omitempty"`
	// Catalogue is the digest of the first-party families that a locked server may run, hexadecimal; empty: those of the program.
	Catalogue string `json:"catalogue,omitempty"`
	// Release is the public key, as package signature formats it, by which the first-party families must be signed that a locked
	// server runs; empty: they need no signature.
	Release string `json:"release,omitempty"`
}

// Grant is the permissions of a family. It is valid for the module with its Digest alone; with Asked set, for the built-in
// family of its name in every release.
type Grant struct {
	Digest   string   `json:"digest"`             // SHA-256 of the module, hexadecimal
	Version  string   `json:"version,omitempty"`  // of the family
	Manifest string   `json:"manifest,omitempty"` // SHA-256 of the manifest's bytes, hexadecimal; empty: not known
	Source   string   `json:"source,omitempty"`   // where the module was installed from, for display
	Signers  []string `json:"signers,omitempty"`  // names of the keys that had signed it when it was installed, sorted
	// Writes is for display: how the capabilities let it change memories. It is written anew with each change, and not read.
	Writes   Writing `json:"writes,omitempty"`
	Disabled bool    `json:"disabled,omitempty"`
	Asked    *Asked  `json:"asked,omitempty"` // nil: not a built-in family
	// Follows has a built-in family keep what the posture gives it beyond this grant, except what is Denied: capabilities and hooks, sorted.
	Follows      bool             `json:"follows_posture,omitempty"`
	Denied       []string         `json:"denied,omitempty"`
	Capabilities []Capability     `json:"capabilities,omitempty"`
	Hooks        map[abi.Hook]On  `json:"hooks,omitempty"`
	Limits       map[string]int64 `json:"limits,omitempty"` // by their names: lower ones than the manifest asks for, quotas and budgets
	// methods are those of requests to endpoints, each once and in the order of the function Methods; empty: all.
	Methods []string `json:"http_methods,omitempty"`
	Guard   *Guard   `json:"guard,omitempty"` // nil: no other version serves a hook
}

// Asked is the request of a built-in family at the time of its grant. Further requests of a later release are not granted,
// and are shown as new.
type Asked struct {
	Manifest     string       `json:"manifest,omitempty"` // SHA-256 of the manifest's bytes, hexadecimal; empty: not known
	Capabilities []Capability `json:"capabilities,omitempty"`
	Hooks        []abi.Hook   `json:"hooks,omitempty"`
}

// Guard is the version of a family whose store hook an operator approved with on_failure refuse. It serves that hook, with
// its own grants, instead of the granted version.
type Guard struct {
	Digest       string           `json:"digest"` // SHA-256 of the module, hexadecimal
	Version      string           `json:"version,omitempty"`
	Capabilities []Capability     `json:"capabilities,omitempty"`
	Limits       map[string]int64 `json:"limits,omitempty"`
	Methods      []string         `json:"http_methods,omitempty"`
}

// Capability is a granted capability with its scope.
type Capability struct {
	Name  abi.Capability `json:"name"`
	Scope []string       `json:"scope,omitempty"` // its limits; * matches everything of its kind
	// During is the work of the family in which it holds; empty: all.
	During Work `json:"during,omitempty"`
}

// Work is a part of a family's work.
type Work string

// The parts of a family's work.
const (
	Calls Work = "calls" // tool calls, and store, rank and embed hooks
	Jobs  Work = "jobs"  // in the background: jobs, and the hooks stored and merged
)

// On configures a hook.
type On struct {
	OnFailure abi.OnFailure `json:"on_failure,omitempty"` // of the store hook; empty: the manifest's
	// Generations of the hooks stored and merged: how many hooks may answer each other until it is not told any more; 0: the manifest's.
	Generations int `json:"generations,omitempty"`
}

// Endpoint is an external server that families may be granted access to, under the operator's name for it.
type Endpoint struct {
	Kind    string `json:"kind"`               // openai, ollama or http
	URL     string `json:"url"`                // the base of its paths
	Model   string `json:"model,omitempty"`    // of openai and ollama
	KeyEnv  string `json:"key_env,omitempty"`  // the environment variable that has the key; it is never logged
	KeyFile string `json:"key_file,omitempty"` // or the file
	Auth    Auth   `json:"auth,omitempty"`     // what the key is for; empty: Bearer
	// Private lets the name in the URL have addresses of private networks and of this machine. An address in figures, and
	// localhost, need no such word.
	Private bool `json:"private,omitempty"`
	// AnswerBytes bounds the body of an answer; 0: 2 MiB, which is the most.
	AnswerBytes int64 `json:"answer_bytes,omitempty"`
}

// Root is a directory below which families may be granted files, under the operator's name for it.
type Root struct {
	Dir      string `json:"dir"` // absolute
	ReadOnly bool   `json:"read_only,omitempty"`
	// Namespace is the one that callers need a right to: to read it for reading, to write it for writing. Empty: to all.
	Namespace string `json:"namespace,omitempty"`
	MaxBytes  int64  `json:"max_bytes,omitempty"` // of all files below it, for writing; 0: 1 GiB
}

func (r Root) check() error {
	if !filepath.IsAbs(r.Dir) || filepath.Clean(r.Dir) != r.Dir {
		return fmt.Errorf("the directory %q is not an absolute path in its shortest form", r.Dir)
	}
	if r.MaxBytes < 0 {
		return fmt.Errorf("max_bytes is %d: give at least 0", r.MaxBytes)
	}
	return nil
}

// Auth is how requests to an endpoint are authenticated.
type Auth string

// The ways of authentication.
const (
	Bearer Auth = "bearer" // the key is in the header Authorization
	HMAC   Auth = "hmac"   // requests are signed with the key, and do not contain it; of the kind http
)

var (
	familyName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`) })
	endpointName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]{1,128}$`) })
	digestForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

// Read reads the lock file in a directory. A missing file is the zero Lock. An unreadable or invalid one is an error: to
// ignore it would lift its restrictions.
func Read(dir string) (Lock, error) {
	path := filepath.Join(dir, File)
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{Format: format}, nil
	}
	if err != nil {
		return Lock{}, fmt.Errorf("read the lock file %s: %w", path, err)
	}
	l, err := Parse(data)
	if err != nil {
		return Lock{}, fmt.Errorf("read the lock file %s: %w; correct it, or move it away to grant nothing", path, err)
	}
	return l, nil
}

// readRegular reads a regular file, up to just beyond the limit. It rejects other files without blocking, such as a FIFO.
func readRegular(path string) (data []byte, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO meanwhile
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return io.ReadAll(io.LimitReader(f, FileLimit+1))
}

var errNotRegular = errors.New("it is not a regular file: move it away")

// Parse decodes and validates a lock file.
func Parse(data []byte) (Lock, error) {
	if len(data) > FileLimit {
		return Lock{}, fmt.Errorf("it has more than %d bytes", FileLimit)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var l Lock
	if err := decoder.Decode(&l); err != nil {
		return Lock{}, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Lock{}, errors.New("something follows its JSON")
	}
	for name, g := range l.Families {
		g.Writes = ""
		l.Families[name] = g
	}
	return l, l.Check()
}

// Check validates a lock.
func (l Lock) Check() error {
	if l.Format != format {
		return fmt.Errorf("its format is %d; this program has %d", l.Format, format)
	}
	if len(l.Families) > mostNames || len(l.Endpoints) > mostNames || len(l.Roots) > mostNames {
		return fmt.Errorf("it has more than %d families, endpoints or roots", mostNames)
	}
	for name, r := range l.Roots {
		if !endpointName().MatchString(name) {
			return fmt.Errorf("%q cannot be the name of a root: use letters, digits and . _ / -", name)
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("root %s: %w", name, err)
		}
	}
	if err := l.checkKeys(); err != nil {
		return err
	}
	if err := l.checkPosture(); err != nil {
		return err
	}
	for name, g := range l.Families {
		if !familyName().MatchString(name) {
			return fmt.Errorf("%q cannot be the name of a family", name)
		}
		if err := g.check(); err != nil {
			return fmt.Errorf("family %s: %w", name, err)
		}
	}
	for name, e := range l.Endpoints {
		if !endpointName().MatchString(name) {
			return fmt.Errorf("%q cannot be the name of an endpoint: use letters, digits and . _ / -", name)
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("endpoint %s: %w", name, err)
		}
	}
	return nil
}

// Approved is the version of the family without whose store hook nothing may be stored, if there is such. A hook that leaves
// its failures to a manifest is one, for as long as whoever asks did not fill in what that says.
func (g Grant) Approved() (Guard, bool) {
	on, decided := g.Hooks[abi.HookStore]
	switch {
	case decided && (on.OnFailure == abi.OnFailureRefuse || on.OnFailure == ""):
		return Guard{Digest: g.Digest, Version: g.Version, Capabilities: g.Capabilities, Limits: g.Limits, Methods: g.Methods}, true
	case !decided && g.Guard != nil:
		return *g.Guard, true
	}
	return Guard{}, false
}

// Guards returns the families without whose store hook nothing may be stored, sorted.
func (l Lock) Guards() (families []string) {
	for _, name := range slices.Sorted(maps.Keys(l.Families)) {
		if _, ok := l.Families[name].Approved(); ok && !l.Families[name].Disabled {
			families = append(families, name)
		}
	}
	return families
}

func (g Grant) check() error {
	if err := checkGranted(g.Digest, g.Capabilities, g.Limits, g.Methods); err != nil {
		return err
	}
	if g.Manifest != "" && !digestForm().MatchString(g.Manifest) {
		return fmt.Errorf("manifest %q is not 64 hexadecimal digits", g.Manifest)
	}
	if err := g.checkDenied(); err != nil {
		return err
	}
	if len(g.Signers) > mostKeys || len(g.Source) > sourceLimit {
		return fmt.Errorf("it has more than %d signers, or a source of more than %d bytes", mostKeys, sourceLimit)
	}
	for hook, on := range g.Hooks {
		if hook.Kind() == 0 {
			return fmt.Errorf("there is no hook %q", hook)
		}
		switch on.OnFailure {
		case "", abi.OnFailureSkip, abi.OnFailureDefer, abi.OnFailureRefuse:
		default:
			return fmt.Errorf("hook %s: on_failure %q is not one of skip, defer, refuse", hook, on.OnFailure)
		}
		if on.Generations < 0 || on.Generations > abi.MostGenerations {
			return fmt.Errorf("hook %s: %d generations are not from 1 to %d", hook, on.Generations, abi.MostGenerations)
		}
	}
	if g.Asked != nil {
		if err := g.Asked.check(); err != nil {
			return fmt.Errorf("asked: %w", err)
		}
	}
	if g.Guard != nil {
		if err := checkGranted(g.Guard.Digest, g.Guard.Capabilities, g.Guard.Limits, g.Guard.Methods); err != nil {
			return fmt.Errorf("guard: %w", err)
		}
	}
	return nil
}

func (a *Asked) check() error {
	if a.Manifest != "" && !digestForm().MatchString(a.Manifest) {
		return fmt.Errorf("manifest %q is not 64 hexadecimal digits", a.Manifest)
	}
	for _, hook := range a.Hooks {
		if hook.Kind() == 0 {
			return fmt.Errorf("there is no hook %q", hook)
		}
	}
	return checkCapabilities(a.Capabilities)
}

func checkGranted(digest string, capabilities []Capability, limits map[string]int64, methods []string) error {
	if !digestForm().MatchString(digest) {
		return fmt.Errorf("digest %q is not 64 hexadecimal digits", digest)
	}
	for name, value := range limits {
		if !IsLimit(name) || value <= 0 {
			return fmt.Errorf("limit %s=%d: give a limit of manifests, a quota or a budget, and a value above 0", name, value)
		}
	}
	if err := checkMethods(methods); err != nil {
		return err
	}
	return checkCapabilities(capabilities)
}

func checkCapabilities(list []Capability) error {
	for _, c := range list {
		if !slices.Contains(abi.Capabilities(), c.Name) {
			return fmt.Errorf("there is no capability %q", c.Name)
		}
		if (c.Name.Scope() == "none") != (len(c.Scope) == 0) {
			return fmt.Errorf("capability %s needs a scope exactly if it has one: %s", c.Name, c.Name.Scope())
		}
		if c.During != "" && c.During != Calls && c.During != Jobs {
			return fmt.Errorf("capability %s: during %.64q is not one of %s, %s", c.Name, c.During, Calls, Jobs)
		}
	}
	return nil
}

func (e Endpoint) check() error {
	switch e.Kind {
	case "openai", "ollama":
		if e.Model == "" {
			return fmt.Errorf("an endpoint of the kind %s needs a model", e.Kind)
		}
	case "http":
	default:
		return fmt.Errorf("kind %q is not one of openai, ollama, http", e.Kind)
	}
	if e.KeyEnv != "" && e.KeyFile != "" {
		return errors.New("the key comes from key_env or from key_file, not from both")
	}
	switch {
	case e.Auth != "" && e.Auth != Bearer && e.Auth != HMAC:
		return fmt.Errorf("auth %.32q is not one of %s, %s", e.Auth, Bearer, HMAC)
	case e.Auth == HMAC && e.Kind != "http":
		return fmt.Errorf("an endpoint of the kind %s cannot have auth %s: only http can", e.Kind, HMAC)
	case e.Auth == HMAC && e.KeyEnv == "" && e.KeyFile == "":
		return fmt.Errorf("auth %s needs key_env or key_file", HMAC)
	}
	if e.AnswerBytes < 0 {
		return fmt.Errorf("answer_bytes is %d: give at least 0", e.AnswerBytes)
	}
	return checkURL(e.URL)
}

// Write replaces the lock file in a directory, durably: after a crash it is the old one or the new one.
func Write(dir string, l Lock) error {
	data, err := Encode(l)
	if err == nil {
		err = durable.WriteFile(filepath.Join(dir, File), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	return nil
}

// Encode returns a lock file's canonical bytes: equal locks have equal bytes.
func Encode(l Lock) ([]byte, error) {
	l.Format = format
	l.Families = written(l.Families)
	if err := l.Check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// Decides reports whether a lock has any decision of an operator.
func (l Lock) Decides() bool { return l.Locked || len(l.Families)+len(l.Endpoints)+len(l.Keys) > 0 }
