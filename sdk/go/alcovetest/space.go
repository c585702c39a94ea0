// Package alcovetest runs a family in a go test, in a host in memory: the host's own code serves every operation, with its filters,
// limits, rights and errors, and commits what a request stages when it succeeds.
//
// A family runs natively, so that a debugger and the race detector see it, and nothing bounds its time and memory; Module runs a
// packed module in the sandbox, with its limits. All that the manifest asks for is granted, hooks included. Jobs run, and what was
// stored is told to the family, when the test says so.
package alcovetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/families"
	"github.com/alcove-memory/alcove/registry"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Guest is what serves requests: a family.
type Guest interface {
	Handle(host alcove.Host, kind alcove.Kind, request []byte) ([]byte, error)
}

// Space is a host with one family. Its fields may be changed between requests.
type Space struct {
	Now       time.Time      // default: noon of 1 June 2026; it never goes back behind what was stored
	Caller    string         // default: tester
	Namespace string         // default: default
	Branch    string         // default: default
	Read      []string       // namespaces that the caller may read beside those of Write; default: all
	Write     []string       // namespaces that the caller may write; default: all
	Key       string         // the id of the caller's API key; default: none, the caller is the owner's client
	Rights    []string       // further rights of the key, such as scope.admin; that to every family is among them
	Config    map[string]any // what differs from the manifest's defaults; nil stands for the default
	DryRun    bool
	Operator  bool // an operator calls, at the command line
	// Ops run operations instead of the host, such as what reaches outside; an error of theirs reaches the family as a host's does.
	Ops map[alcove.Op]func(request []byte) (response any, err error)

	Calls    []alcove.Op // that the family made, in order
	Logged   []string    // its log lines
	Progress []string    // as done/total message
	Notes    []string    // of the last request: what its caller is told beside

	t        testing.TB
	manifest *abi.Manifest
	families *family.Families
	space    *memory.Space
	proxy    *family.Proxy
	unhooked bool // what is stored is not passed to hooks
	host     *ops.Host
	tools    *tool.Dispatcher
	clock    clock
	guest    catalogue.Guest
	others   others
	last     []byte // what the family answered last
	failed   error  // what it failed with last
	requests int
}

// clock is what the host sees of Space.Now: background work reads it, too.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Manifest reads the manifest in a file.
func Manifest(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	return data
}

// New makes a space with a family, of a manifest as alcove family pack takes it.
func New(t testing.TB, guest Guest, manifest []byte) *Space {
	t.Helper()
	packed, err := sandbox.Pack(placeholder(), manifest)
	if err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	s := &Space{t: t}
	s.open(packed, func(_ context.Context, _ *sandbox.Sandbox, module []byte, _ string) (catalogue.Guest, error) {
		if other := s.others.of(module); other != nil {
			return &native{guest: other, space: s}, nil
		}
		return &native{guest: guest, space: s}, nil
	})
	return s
}

// Beside adds another native family to a space that New made, whose tools the first may call. Tool calls its tools, too; all else is about the
// first family.
func (s *Space) Beside(guest Guest, manifest []byte) {
	s.t.Helper()
	packed, err := sandbox.Pack(placeholder(), manifest)
	s.must(err)
	s.others.add(packed, guest)
	installed, err := s.families.Install(packed)
	s.must(err)
	name := installed.Manifest.Name
	_, err = s.families.Grant(grants.Request{Family: name, All: true})
	s.must(err)
	s.must(s.families.Load(s.t.Context(), name))
}

// others are the families that Beside added, by their packed modules.
type others struct {
	mu     sync.Mutex
	guests map[string]Guest
}

func (o *others) add(module []byte, guest Guest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.guests == nil {
		o.guests = map[string]Guest{}
	}
	o.guests[string(module)] = guest
}

func (o *others) of(module []byte) Guest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.guests[string(module)]
}

// Module makes a space with a packed module, which runs in the sandbox.
func Module(t testing.TB, path string) *Space {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	s := &Space{t: t}
	s.open(data, func(ctx context.Context, box *sandbox.Sandbox, module []byte, digest string) (catalogue.Guest, error) {
		m, err := box.Admit(ctx, module, sandbox.Options{Digest: digest, Vetted: true})
		if err != nil {
			return nil, err
		}
		return &packedModule{m, s}, nil
	})
	return s
}

// open opens a host, and installs the module with all that it asks for.
func (s *Space) open(module []byte, admit func(context.Context, *sandbox.Sandbox, []byte, string) (catalogue.Guest, error)) {
	s.t.Helper()
	s.Now, s.Caller, s.Namespace, s.Branch = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), "tester", memory.Default, memory.Default
	s.Config, s.Ops = map[string]any{}, map[alcove.Op]func([]byte) (any, error){}
	s.clock.set(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // before all that a test may store
	dir := s.t.TempDir()
	engine, err := bolt.Open(s.t.Context(), dir, bolt.Options{Now: s.clock.read, NoSync: true, MapSize: 16 << 20})
	s.must(err)
	s.proxy = family.NewProxy(nil)
	s.space, err = memory.Open(s.t.Context(), memory.Options{Engine: engine, Index: search.New(search.Options{}), Clock: s.clock.read, Hooks: s.hooks})
	s.must(err)
	compiled := filepath.Join(dir, "compiled")
	if cache, err := os.UserCacheDir(); err == nil {
		compiled = filepath.Join(cache, "alcove", "modules") // as alcove family call: a module is compiled once
	}
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: compiled}, Log: slog.New(lines{space: s})})
	s.must(err)
	s.tools = tool.NewDispatcher(tool.NewRegistry(families.New(s.proxy)), tool.Options{Clock: s.clock.read})
	s.families, err = family.New(s.t.Context(), family.Options{
		Space: s.space, Callable: families.NewCallable(s.tools), Proxy: s.proxy, Sandbox: box, Dir: dir, Files: &files.Files{Private: []string{dir}}, Clock: s.clock.read, Rand: s.name, Stepwise: true, Poll: time.Hour, Idle: time.Hour,
		Admit: func(ctx context.Context, module []byte, digest string) (catalogue.Guest, error) {
			guest, err := admit(ctx, box, module, digest)
			if s.others.of(module) == nil {
				s.guest = guest
			}
			return guest, err
		},
	})
	s.must(err)
	s.t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(s.families.Close(), box.Close(), s.space.Close(ctx), engine.Close()); err != nil {
			s.t.Errorf("close the host: %v", err)
		}
	})
	s.host = ops.NewHost(ops.Host{Space: s.space, Logger: slog.New(slog.DiscardHandler)})
	s.install(module)
}

func (s *Space) install(module []byte) {
	s.t.Helper()
	installed, err := s.families.Install(module)
	s.must(err)
	s.manifest = installed.Manifest
	hooks := map[abi.Hook]registry.On{}
	for hook, there := range map[abi.Hook]bool{
		abi.HookStore: s.manifest.Hooks.Store != nil, abi.HookStored: s.manifest.Hooks.Stored != nil, abi.HookMerged: s.manifest.Hooks.Merged != nil, abi.HookSessionEnd: s.manifest.Hooks.SessionEnd != nil, abi.HookRank: s.manifest.Hooks.Rank != nil,
		abi.HookEmbed: s.manifest.Hooks.Embed != nil, abi.HookJob: len(s.manifest.Hooks.Jobs) > 0,
	} {
		if there {
			hooks[hook] = registry.On{}
		}
	}
	if store := s.manifest.Hooks.Store; store != nil {
		hooks[abi.HookStore] = registry.On{OnFailure: store.OnFailure}
	}
	_, err = s.families.Grant(grants.Request{Family: s.manifest.Name, All: true, Hooks: hooks})
	s.must(err)
	s.must(s.families.Load(s.t.Context(), s.manifest.Name))
	s.must(s.families.Listen(s.t.Context()))
}

func (s *Space) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("alcovetest: %v", asError(err))
	}
}

// name is a name that was never given.
func (s *Space) name() string {
	s.requests++
	return fmt.Sprintf("r%d", s.requests)
}

// Revoke takes capabilities and hooks away from the family; * for all of them. Grant gives all that it asks for back.
func (s *Space) Revoke(names ...string) {
	s.t.Helper()
	_, err := s.families.Grant(grants.Request{Family: s.manifest.Name, Revoke: names})
	s.must(err)
}

// Root names a directory for operations on files, as alcove root add does.
func (s *Space) Root(name, dir string) {
	s.t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	s.must(err)
	s.must(s.families.SetRoot(name, &registry.Root{Dir: dir}))
}

// Allowance is how much each agent may store in a namespace. Zero fields are unlimited.
type Allowance = memory.Allowance

// Quota sets how much each agent may store in a namespace, as alcove quota set does.
func (s *Space) Quota(namespace string, q Allowance) {
	s.t.Helper()
	stage, err := s.space.As(memory.Caller{Rights: memory.FullRights()}).Stage(s.t.Context(), memory.Default)
	s.must(err)
	s.must(stage.SetQuota(s.t.Context(), namespace, q))
	_, err = stage.Commit(s.t.Context(), memory.Commit{})
	s.must(err)
}

// Grant gives the family a capability with a scope, in place of what it had of it.
func (s *Space) Grant(capability string, scope ...string) {
	s.t.Helper()
	_, err := s.families.Grant(grants.Request{Family: s.manifest.Name, Capabilities: []registry.Capability{{Name: abi.Capability(capability), Scope: scope}}})
	s.must(err)
}

// Published are the tools that the family has published, by their names.
func (s *Space) Published() map[string]abi.Tool {
	all := map[string]abi.Tool{}
	for _, d := range s.families.All() {
		for _, t := range d.Published {
			all[t.Name] = t
		}
	}
	return all
}

// Limit sets quotas of the family and limits of its requests, as alcove family grant --limit does.
func (s *Space) Limit(limits map[string]int64) {
	s.t.Helper()
	_, err := s.families.Grant(grants.Request{Family: s.manifest.Name, Limits: limits})
	s.must(err)
}

// caller is who asks.
func (s *Space) caller() memory.Caller {
	read, write := s.Read, s.Write
	if write == nil && read == nil {
		write = []string{memory.AllNamespaces}
	}
	rights := memory.RightsTo(read, write)
	if s.Key != "" {
		further := []memory.Right{memory.ToUse(memory.AllFamilies)}
		for _, right := range s.Rights {
			further = append(further, memory.Right(right))
		}
		rights = rights.LimitedTo(further)
	}
	return memory.Caller{Agent: s.Caller, Key: s.Key, Operator: s.Operator, Rights: rights}
}

// begin has the host see the fields of the space.
func (s *Space) begin() error {
	s.clock.set(s.Now)
	s.Notes = nil
	if len(s.Config) == 0 {
		return nil
	}
	values := map[string]json.RawMessage{}
	for key, v := range s.Config {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
		values[key] = data
	}
	_, err := s.families.Configure(s.t.Context(), s.manifest.Name, values)
	return err
}

// Setting is a key of the family's configuration, as it is now.
func (s *Space) Setting(key string, into any) error {
	if err := s.begin(); err != nil {
		return asError(err)
	}
	config, err := s.families.Configure(s.t.Context(), s.manifest.Name, nil)
	if err != nil {
		return asError(err)
	}
	if config[key] == nil {
		return fmt.Errorf("the manifest has no key %s", key)
	}
	return json.Unmarshal(config[key], into)
}

// asError is an error of the host as the family's callers see it.
func asError(err error) error {
	var ours *alcove.Error
	var known *memory.Error
	var guests *abi.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return err
	case errors.As(err, &known):
		return &alcove.Error{Code: alcove.Code(known.Code), Message: known.Message, Retryable: known.Retryable, Details: known.Details}
	case errors.As(err, &guests):
		return &alcove.Error{Code: alcove.Code(guests.Code), Message: guests.Message, Retryable: guests.Retryable, Details: guests.Details}
	}
	return err
}
