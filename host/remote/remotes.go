package remote

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/regular"
)

const (
	mostRemotes    = 64
	longestName    = 40      // bytes of a remote's name
	longestFile    = 1 << 20 // bytes of the file of remotes
	longestKeyFile = 8 << 10
	longestCAFile  = 1 << 20
)

// Config is the configuration of a remote. The key is in a separate file.
type Config struct {
	Name     string          `json:"name"`
	URL      string          `json:"url"`
	KeyFile  string          `json:"key_file,omitempty"` // an absolute path; empty: no key
	CAFile   string          `json:"ca_file,omitempty"`  // certificates in PEM to trust; empty: the system's
	Never    []string        `json:"never,omitempty"`    // namespaces that are neither sent nor received
	Strategy memory.Strategy `json:"strategy,omitempty"` // of conflicts; empty: memory.Newest
	History  Histories       `json:"history,omitempty"`  // the versions to exchange; empty: NewestVersions
}

func (c Config) check() error {
	if c.Name == "" || len(c.Name) > longestName || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return invalid("the name of a remote is 1 to %d lower-case letters, digits, - and _: %q is not", longestName, clip(c.Name))
	}
	if _, err := checkURL(c.URL); err != nil {
		return err
	}
	for _, file := range []string{c.KeyFile, c.CAFile} {
		if file != "" && !filepath.IsAbs(file) {
			return invalid("the path %q of a remote's file is not absolute", clip(file))
		}
	}
	return cmp.Or(checkStrategy(c.Strategy), c.History.check())
}

func checkStrategy(s memory.Strategy) error {
	if s != "" && !slices.Contains([]memory.Strategy{memory.Strict, memory.Source, memory.Target, memory.Newest, memory.Fields}, s) {
		return invalid("strategy %q is not one of newest, strict, source, target, fields", clip(string(s)))
	}
	return nil
}

// client connects to the remote.
func (c Config) client() (*Client, error) {
	var key string
	var roots *x509.CertPool
	if c.KeyFile != "" {
		data, err := regular.Read(c.KeyFile, longestKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the key of remote %s: %w", c.Name, err)
		}
		if key = strings.TrimSpace(string(data)); key == "" {
			return nil, invalid("%s is empty: put the key there that alcove key create printed", c.KeyFile)
		}
	}
	if c.CAFile != "" {
		data, err := regular.Read(c.CAFile, longestCAFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificates to trust of remote %s: %w", c.Name, err)
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(data) {
			return nil, invalid("%s has no certificate in PEM", c.CAFile)
		}
	}
	return newClient(c.URL, key, roots)
}

// Remotes are the remotes of a data directory.
type Remotes struct {
	Path  string // of their file
	Space *Space

	mu   sync.Mutex
	last map[string]Done // the last exchange since the start, by name
}

// Done is the result of an exchange.
type Done struct {
	At     time.Time `json:"at"`
	Pulled *Result   `json:"pulled,omitempty"`
	Pushed *Result   `json:"pushed,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// List returns the remotes.
func (r *Remotes) List() ([]Config, error) {
	data, err := regular.Read(r.Path, longestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return []Config{}, nil
	}
	var file struct {
		Remotes []Config `json:"remotes"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the remotes: %w", err)
	}
	return file.Remotes, nil
}

// named returns a remote; with an empty name the only one.
func (r *Remotes) named(name string) (Config, error) {
	list, err := r.List()
	if err != nil {
		return Config{}, err
	}
	if name == "" && len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, c := range list {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	known := "there is none yet: alcove remote add NAME URL"
	if len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return Config{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no remote %q: %s", clip(name), known)}
}

// Add keeps a remote.
func (r *Remotes) Add(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	if _, err := c.client(); err != nil {
		return err
	}
	return r.change(func(list []Config) ([]Config, error) {
		if slices.ContainsFunc(list, func(o Config) bool { return o.Name == c.Name }) {
			return nil, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("there is a remote %q: remove it first, or choose another name", c.Name)}
		}
		if len(list) == mostRemotes {
			return nil, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("there are %d remotes, which is the limit: remove one", mostRemotes)}
		}
		return append(list, c), nil
	})
}

// Change changes the configuration of a remote. Nil fields stay.
type Change struct {
	Name     string           `json:"name"`
	History  *Histories       `json:"history,omitempty"`
	Strategy *memory.Strategy `json:"strategy,omitempty"`
}

// Set changes the configuration of a remote.
func (r *Remotes) Set(c Change) error {
	if _, err := r.named(c.Name); err != nil {
		return err
	}
	return r.change(func(list []Config) ([]Config, error) {
		for i := range list {
			if list[i].Name != c.Name {
				continue
			}
			if c.History != nil {
				list[i].History = *c.History
			}
			if c.Strategy != nil {
				list[i].Strategy = *c.Strategy
			}
			return list, list[i].check()
		}
		return list, nil
	})
}

// Remove removes a remote. Received memories stay.
func (r *Remotes) Remove(name string) error {
	if _, err := r.named(name); err != nil {
		return err
	}
	return r.change(func(list []Config) ([]Config, error) {
		return slices.DeleteFunc(list, func(c Config) bool { return c.Name == name }), nil
	})
}

func (r *Remotes) change(change func([]Config) ([]Config, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.List()
	if err == nil {
		list, err = change(list)
	}
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(map[string]any{"remotes": list}, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(r.Path, append(data, '\n'), 0o600)
}

// Request configures an exchange with a remote.
type Request struct {
	Remote     string          `json:"remote,omitempty"` // empty: the only one
	Branch     string          `json:"branch,omitempty"`
	Namespaces []string        `json:"namespaces,omitempty"` // empty: all
	Never      []string        `json:"never,omitempty"`      // in addition to those of the remote
	Strategy   memory.Strategy `json:"strategy,omitempty"`   // empty: the remote's
	History    Histories       `json:"history,omitempty"`    // empty: the remote's
	Pull       bool            `json:"pull,omitempty"`
	Push       bool            `json:"push,omitempty"`
}

// exchange completes a request from the configuration of the remote.
func (q Request) exchange(c Config) (Exchange, error) {
	e := Exchange{Remote: c.Name, Branch: q.Branch, Namespaces: q.Namespaces, Never: slices.Concat(c.Never, q.Never), Strategy: q.Strategy, History: cmp.Or(q.History, c.History)}
	if len(e.Namespaces) == 0 {
		e.Namespaces = nil
	}
	if e.Strategy == "" {
		e.Strategy = c.Strategy
	}
	return e, cmp.Or(checkStrategy(e.Strategy), e.History.check(), checkBranch(q.Branch))
}

// Sync pulls from and pushes to a remote.
func (r *Remotes) Sync(ctx context.Context, q Request) (Done, error) {
	c, err := r.named(q.Remote)
	if err != nil {
		return Done{}, err
	}
	e, err := q.exchange(c)
	if err != nil {
		return Done{}, err
	}
	peer, err := c.client()
	if err != nil {
		return Done{}, err
	}
	done, err := r.sync(ctx, peer, e, q)
	r.note(c.Name, done, err)
	return done, err
}

func (r *Remotes) sync(ctx context.Context, peer Peer, e Exchange, q Request) (done Done, err error) {
	done.At = time.Now().UTC()
	if q.Pull {
		got, err := r.Space.Pull(ctx, peer, e)
		if err != nil {
			return done, err
		}
		done.Pulled = &got
	}
	if q.Push {
		got, err := r.Space.Push(ctx, peer, e)
		if err != nil {
			return done, err
		}
		done.Pushed = &got
	}
	return done, nil
}

func (r *Remotes) note(name string, done Done, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]Done{}
	}
	if err != nil {
		done.Error = err.Error()
	}
	r.last[name] = done
}

// Status is the difference between a branch and a remote.
type Status struct {
	Config
	Branch  string `json:"branch"`
	ToPull  int    `json:"to_pull"` // versions that this space lacks
	ToPush  int    `json:"to_push"`
	More    bool   `json:"more,omitempty"`    // there are more than counted
	Waiting bool   `json:"waiting,omitempty"` // an exchange was interrupted, and will be continued
	Last    *Done  `json:"last,omitempty"`    // since the server started
	Error   string `json:"error,omitempty"`   // why the remote did not answer
}

// Status compares a branch with a remote.
func (r *Remotes) Status(ctx context.Context, q Request) (s Status, err error) {
	if s.Config, err = r.named(q.Remote); err != nil {
		return s, err
	}
	e, err := q.exchange(s.Config)
	if err != nil {
		return s, err
	}
	e = e.withDefaults()
	s.Branch = e.Branch
	_, s.Waiting = (&receiver{space: r.Space.Memory, caller: r.Space.Caller, tracking: trackingBranch(e.Remote, e.Branch)}).state(ctx)
	r.mu.Lock()
	if last, ok := r.last[s.Name]; ok {
		s.Last = &last
	}
	r.mu.Unlock()
	if err := r.compare(ctx, e, &s); err != nil {
		s.Error = err.Error()
	}
	return s, nil
}

func (r *Remotes) compare(ctx context.Context, e Exchange, s *Status) error {
	peer, err := s.client()
	if err != nil {
		return err
	}
	if _, err := r.Space.Memory.As(r.Space.Caller).Peer(ctx, e.Branch, 0, e.scope(), memory.ToRead); err != nil {
		return err // a pull makes the branch
	}
	ours, theirs, err := r.Space.handshake(ctx, peer, e, false)
	if err != nil {
		return err
	}
	pg, err := peer.Versions(ctx, request{Branch: e.Branch, At: theirs.At, Scope: theirs.Scope, Known: ours.Known})
	if err != nil {
		return err
	}
	s.ToPull, s.More = len(pg.versions), pg.next != ""
	pg, err = listed(ctx, r.Space.Memory.As(r.Space.Caller), ours, provenance.Knowledge(theirs.Known), "", 0)
	s.ToPush, s.More = len(pg.versions), s.More || pg.next != ""
	return err
}
