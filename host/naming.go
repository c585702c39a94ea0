package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	namingWithin  = 10 * time.Second // for the transaction that renames or deletes a space
	namingLimit   = 4 << 10          // bytes of a request between servers
	namesInterval = 10 * time.Second // how often directories are renamed after their spaces
	sweepPause    = 200 * time.Millisecond
	identityFile  = "space-identity.txt" // in the data directory of a shared space: its identity
	identityLimit = 256                  // bytes
)

// naming lists, creates, renames and deletes shared spaces. It implements acts.Spaces.
type naming struct{ s *Spaces }

// List returns the spaces of the database.
func (n naming) List(ctx context.Context) ([]store.ListedSpace, error) {
	return n.s.sharing.table.Spaces(ctx)
}

// Create creates an empty space.
func (n naming) Create(ctx context.Context, name string) error {
	if err := folder.CheckName(name); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	return nameError(n.s.sharing.table.Add(ctx, name))
}

// Rename closes a space at its leader, and renames it.
func (n naming) Rename(ctx context.Context, name, to string) error {
	if err := folder.CheckName(to); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	return n.end(ctx, name, to)
}

// Delete closes a space at its leader, deletes it, and erases its data.
func (n naming) Delete(ctx context.Context, name string) error {
	if err := n.end(ctx, name, ""); err != nil {
		return err
	}
	if err := n.s.sweep(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the space %s is deleted, and its data will be erased: %w", name, err)
	}
	return nil
}

// sweep erases the remaining data of deleted spaces.
func (s *Spaces) sweep(ctx context.Context) error {
	for {
		left, err := s.sharing.table.Sweep(ctx)
		if err != nil || !left {
			return err
		}
		select {
		case <-s.running.Done():
			return s.running.Err()
		case <-time.After(sweepPause):
		}
	}
}

// nameChange is a request to the leader of a space to rename or delete it.
type nameChange struct {
	To string `json:"to,omitempty"` // empty: the space is deleted
}

// end has the leader rename a space, or delete it if to is empty.
func (n naming) end(ctx context.Context, name, to string) error {
	g := n.s.sharing
	if name == g.own {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the space %s is the server's own memory, which is neither renamed nor deleted", name)}
	}
	list, err := g.table.Identify(ctx, []string{name, to}, nil)
	if err != nil {
		return err
	}
	there := false
	for _, o := range list {
		if o.Name == to {
			return nameError(fmt.Errorf("rename the space %s to %s: %w", name, to, store.ErrExists))
		}
		there = there || o.Name == name
	}
	if !there {
		return nameError(cmp.Or(g.table.Former(ctx, name), fmt.Errorf("space %.80q: %w", name, store.ErrNotFound)))
	}
	body, _ := json.Marshal(nameChange{to}) // a text
	return g.member.Try(ctx, name, func(at cluster.Route) error {
		if at.Here {
			return n.s.changeName(ctx, name, to)
		}
		answer, err := g.forward.Ask(ctx, at, namesPath+name, body)
		if err != nil {
			return err
		}
		return peerError(answer)
	})
}

// peerError returns the error in the answer of another server; nil: the request succeeded.
func peerError(answer cluster.Answer) error {
	if answer.Status == http.StatusOK {
		return nil
	}
	var said struct {
		Error struct {
			Code      memory.Code
			Message   string
			Retryable bool
		}
	}
	if err := json.Unmarshal(answer.Body, &said); err != nil || said.Error.Code == "" {
		return &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the server that leads the space answered %d: %.200q", answer.Status, answer.Body)}
	}
	return &memory.Error{Code: said.Error.Code, Message: said.Error.Message, Retryable: said.Error.Retryable}
}

// nameError gives an error about a name its code.
func nameError(err error) error {
	var was *store.FormerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*store.LedError)):
		return cluster.ErrMoving
	case errors.Is(err, store.ErrExists):
		return &memory.Error{Code: memory.Conflict, Message: err.Error() + ": choose another name"}
	case errors.Is(err, store.ErrNotFound):
		return &memory.Error{Code: memory.NotFound, Message: "there is no such space: alcove space list shows them"}
	case errors.As(err, &was):
		return &memory.Error{Code: memory.NotFound, Message: was.Error()}
	case errors.As(err, new(*store.DepartedError)):
		return &memory.Error{Code: memory.NotFound, Message: err.Error()}
	}
	return err
}

// changeNameHere renames or deletes a space that this server leads, or is to lead, at the request of another server.
func (s *Spaces) changeNameHere(r *http.Request, name string) error {
	var asked nameChange
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, namingLimit)).Decode(&asked); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: "read what is to be done with a name: " + err.Error()}
	}
	return s.changeName(r.Context(), name, asked.To)
}

// changeName closes a space, and renames or deletes it while this server still leads it. Clients wait meanwhile.
func (s *Spaces) changeName(ctx context.Context, name, to string) error {
	err := s.closeFor(ctx, name, func(server string) error {
		within, cancel := context.WithTimeout(context.Background(), namingWithin)
		defer cancel()
		if to == "" {
			return s.sharing.table.Delete(within, name, server)
		}
		return s.sharing.table.Rename(within, name, to, server)
	})
	if err != nil {
		return nameError(err)
	}
	s.each.Logger.Info("the name of a space ended", "space", name, "to", to)
	if err := bounded(s.followNames); err != nil {
		s.each.Logger.Warn("directories follow the names of their spaces later", "error", err)
	}
	return nil
}

// closeAction runs when a space has closed, while this server still leads it.
type closeAction struct {
	do  func(server string) error
	err error // of do; or why it was not called
}

// closeFor closes a space and runs do. The space cannot be opened meanwhile.
func (s *Spaces) closeFor(ctx context.Context, name string, do func(server string) error) error {
	s.mu.Lock()
	o := s.open[name]
	switch {
	case s.running.Err() != nil:
		s.mu.Unlock()
		return stopped()
	case o != nil && o.ending:
		s.mu.Unlock()
		return cluster.ErrMoving
	case o == nil:
		o = s.begin(name) // takes the lease; serve opens nothing because onClose is set
	default:
		o.stop()
	}
	last := &closeAction{do: do}
	o.ending, o.onClose = true, last
	s.mu.Unlock()
	select {
	case <-o.closed:
		return last.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeActionOf returns the close action of a space, or nil.
func (s *Spaces) closeActionOf(o *openSpace) *closeAction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return o.onClose
}

// runCloseAction runs the close action of a closed space.
func (s *Spaces) runCloseAction(o *openSpace) {
	switch last := s.closeActionOf(o); {
	case last == nil:
	case o.lead == nil:
		last.err = cmp.Or(o.failure, cluster.ErrMoving)
	default:
		last.err = last.do(o.lead.Server())
	}
}

// maintainNames renames directories after their spaces, and finishes the erasure of deleted spaces.
func (s *Spaces) maintainNames(ctx context.Context) {
	for {
		err := errors.Join(s.followNames(ctx), s.dropCopies(ctx))
		if err == nil {
			_, err = s.sharing.table.Sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.each.Logger.Warn("directories follow the names of their spaces later", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(namesInterval):
		}
	}
}

// identities returns the identity of the space of each directory in the folder. The caller holds naming.
func (s *Spaces) identities() (map[string]string, error) {
	if s.claimed != nil {
		return s.claimed, nil
	}
	all := map[string]string{}
	list, err := os.ReadDir(s.options.Dir)
	for _, e := range list {
		if e.IsDir() && folder.CheckName(e.Name()) == nil && err == nil {
			if all[e.Name()], err = identityIn(filepath.Join(s.options.Dir, e.Name())); all[e.Name()] == "" {
				delete(all, e.Name())
			}
		}
	}
	if err == nil {
		s.claimed = all
	}
	return all, err
}

// identityIn returns the identity of the space of a data directory; empty: it has none.
func identityIn(dir string) (string, error) {
	data, err := regular.Read(filepath.Join(dir, identityFile), identityLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read whose files %s has: %w", dir, err)
	}
	return string(bytes.TrimSpace(data)), nil
}

// followNames renames the directories of renamed spaces, and retires those of deleted ones.
func (s *Spaces) followNames(ctx context.Context) error {
	s.naming.Lock()
	defer s.naming.Unlock()
	have, err := s.identities()
	if err != nil || len(have) == 0 {
		return err
	}
	var all []string
	for _, id := range have {
		all = append(all, id)
	}
	list, err := s.sharing.table.Identify(ctx, nil, all)
	if err != nil {
		return err
	}
	now := map[string]string{}
	for _, o := range list {
		now[o.Identity] = o.Name
	}
	for name, id := range have {
		if now[id] == name || s.isOpen(name) {
			continue
		}
		err = errors.Join(err, s.followName(name, now[id]))
	}
	return err
}

func (s *Spaces) isOpen(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[name] != nil
}

// claimNamed assigns a data directory to the space that has the name now, unless it is assigned.
func (s *Spaces) claimNamed(name, dir string) error {
	if has, err := identityIn(dir); err != nil || has != "" {
		return err
	}
	return bounded(func(ctx context.Context) error {
		list, err := s.sharing.table.Identify(ctx, []string{name}, nil)
		if err != nil || len(list) == 0 {
			return err
		}
		return s.claim(ctx, name, dir, list[0].Identity)
	})
}

// claim assigns a data directory to the space with an identity. Files of another space move to that space's name.
func (s *Spaces) claim(ctx context.Context, name, dir, identity string) error {
	if name == s.sharing.own {
		return nil
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	if _, err := s.identities(); err != nil {
		return err
	}
	has, err := identityIn(dir)
	if err == nil && has != "" && has != identity {
		err = s.makeRoomFor(ctx, name, dir, has)
		has = ""
	}
	if err == nil && has == "" {
		err = durable.WriteFile(filepath.Join(dir, identityFile), []byte(identity+"\n"), 0o600)
	}
	if err == nil {
		s.claimed[name] = identity
	}
	return err
}

// makeRoomFor moves the files of another space out of a directory.
func (s *Spaces) makeRoomFor(ctx context.Context, name, dir, has string) error {
	list, err := s.sharing.table.Identify(ctx, nil, []string{has})
	if err != nil {
		return err
	}
	to := ""
	if len(list) > 0 {
		to = list[0].Name
	}
	if err := s.followName(name, to); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("the directory %s has the files of another space: move it elsewhere", dir)
	}
	return os.MkdirAll(dir, 0o700)
}

// followName renames a directory after its space, or retires it if to is empty. The caller holds naming.
func (s *Spaces) followName(name, to string) error {
	dir, next := filepath.Join(s.options.Dir, name), filepath.Join(s.options.Dir, to)
	at, err := space.At(dir)
	if err != nil || at.Store == space.InDirectory { // it has the store itself
		return err
	}
	s.sharing.leave(name)
	if _, err := os.Stat(next); to == "" || err == nil {
		err = folder.Folder{Path: s.options.Dir}.Retire(name, time.Now())
		delete(s.claimed, name)
		return err
	}
	if err := durable.Place(dir, next); err != nil {
		return fmt.Errorf("rename the directory of the space %s: %w", name, err)
	}
	s.claimed[to] = s.claimed[name]
	delete(s.claimed, name)
	return durable.SyncDir(s.options.Dir)
}

// leave closes the sockets and the lock of this server in the directory of a space.
func (g *sharing) leave(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.names, name)
	if p := g.posts[name]; p != nil {
		p.end()
		delete(g.posts, name)
	}
	if l := g.locks[name]; l != nil {
		l.Close()
		delete(g.locks, name)
	}
}

// leaveMoved leaves a directory that a store was moved into, so that a server of its own can open it.
func (s *Spaces) leaveMoved(name, dir string) {
	if at, err := space.At(dir); err != nil || at.Store != space.InDirectory || name == s.sharing.own {
		return
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	delete(s.claimed, name) // it may come back as another space
	s.sharing.leave(name)
}

// forgetIdentity removes the identity of a directory whose store was moved into it.
func forgetIdentity(dir string) error {
	if err := os.Remove(filepath.Join(dir, identityFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// dropCopies removes the copies of renamed and deleted spaces.
func (s *Spaces) dropCopies(ctx context.Context) error {
	in := filepath.Join(s.sharing.dir, followerFolder)
	list, err := os.ReadDir(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	left := map[string]bool{}
	var names []string
	for _, e := range list {
		names, left[e.Name()] = append(names, e.Name()), true
	}
	there, failed := s.sharing.table.Identify(ctx, names, nil)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	for _, o := range there {
		delete(left, o.Name)
	}
	for name := range left {
		if s.sharing.followers.dropNamed(name) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(in, name)))
		}
	}
	return err
}

// dropNamed closes the copy of a space. It returns true once there is none.
func (f *followers) dropNamed(name string) bool {
	f.mu.Lock()
	x := f.open[name]
	f.mu.Unlock()
	if x != nil {
		f.drop(x)
	}
	return x == nil
}
