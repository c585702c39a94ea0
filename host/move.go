package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/space"
	copying "github.com/alcove-memory/alcove/host/space/moving"
	"github.com/alcove-memory/alcove/host/state"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	longestPause = 10 * time.Second // the longest pause of writes while a store is moved
	decideWithin = 30 * time.Second // for a database to confirm or deny the move
	movedFile    = "moved.json"     // the outcome of the last move of a data directory
	movedLimit   = 64 << 10         // bytes
)

// mover moves the store of a host.
type mover struct {
	given  store.Driver // of the options, wherever the store is
	mu     sync.Mutex
	busy   bool  // a store is being copied
	order  *move // the move to finish once the space is closed; nil: none
	reopen bool  // the server reopens the data directory after it closes
}

// move is a move whose store was copied.
type move struct {
	space.Pending
	to     string       // for people
	target store.Driver // of the place
	copy   *copying.Copy
	staged store.Staged
}

// locate finds the store of the data directory, whose lock the host has.
func (h *Host) locate() error {
	find := space.Locate
	if h.readOnly {
		find = func(_ context.Context, dir string, given store.Driver) (store.Driver, error) {
			return space.Recorded(dir, given)
		}
	}
	h.mover.given = h.options.Driver
	ctx, cancel := context.WithTimeout(context.Background(), decideWithin)
	defer cancel()
	d, err := find(ctx, h.options.Dir, h.options.Driver)
	if err != nil {
		return err
	}
	if _, shared := d.(store.Shared); h.among.lead != nil && !shared {
		return &store.DepartedError{Space: "the space " + h.among.lead.Space, To: fmt.Sprintf("the directory %s: serve it with a server of its own", h.options.Dir)}
	}
	h.options.Driver = d
	if c, ok := d.(store.Connecting); ok {
		release, err := c.Connect(ctx)
		if err != nil {
			return err
		}
		h.closers.Later("the connections", func() error { release(); return nil })
	}
	return nil
}

// moving moves the store of a served host.
type moving struct{ *service }

// MoveStore implements acts.Mover. Once it has answered, the space is closed, switched over, and opened again.
func (m moving) MoveStore(ctx context.Context, r operator.MoveStoreRequest) (begun operator.MoveBegun, err error) {
	h := m.host
	if err := h.mover.begin(); err != nil {
		return begun, err
	}
	order, err := h.prepareMove(r)
	if err == nil {
		begun, err = h.copyStore(ctx, order)
	}
	h.mover.end(order, err)
	if err != nil && ctx.Err() != nil {
		err = &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "its server stopped, or hands the space over to another one: the store stays where it was, so begin again"}
	}
	if err != nil {
		return begun, fmt.Errorf("move the store: %w", err)
	}
	m.stop()
	return begun, nil
}

func (m *mover) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy || m.order != nil {
		return &memory.Error{Code: memory.Conflict, Message: "the store is being moved already"}
	}
	m.busy = true
	return nil
}

// end ends the copying of a move. Without an error, the move is finished when the space is closed.
func (m *mover) end(order *move, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy = false; err == nil {
		m.order, m.reopen = order, true
	}
}

// take returns the move to finish, and clears it.
func (m *mover) take() (order *move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	order, m.order = m.order, nil
	return order
}

// copying reports whether a store is being copied.
func (m *mover) copying() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busy
}

// reopens reports whether the data directory must be reopened.
func (m *mover) reopens() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reopen
}

// prepareMove finds the present and the future place of the store.
func (h *Host) prepareMove(r operator.MoveStoreRequest) (*move, error) {
	if err := h.checkOwned(); err != nil {
		return nil, err
	}
	from, err := space.At(h.options.Dir)
	if err != nil {
		return nil, err
	}
	order := &move{Pending: space.Pending{Move: rand.Text(), From: from, To: space.Place(r)}}
	if order.To.Store != space.InDirectory {
		order.To, err = order.To.Named(h.options.Name)
	}
	return order, err
}

// copyStore copies the store, and then new writes until few are left.
func (h *Host) copyStore(ctx context.Context, order *move) (begun operator.MoveBegun, err error) {
	began := time.Now()
	to, err := order.To.Driver(h.options.Driver)
	if err != nil {
		return begun, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	target, movable := to.(store.Movable)
	from, copyable := h.space.Engine.(copying.Source)
	_, fromDatabase := h.options.Driver.(store.Deciding)
	_, toDatabase := to.(store.Deciding)
	switch {
	case !movable || !copyable:
		return begun, &memory.Error{Code: memory.Unavailable, Message: "this store cannot be moved"}
	case fromDatabase == toDatabase:
		return begun, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the store is %s: it can be moved from a directory to a database, and back", space.Describe(h.options.Driver, h.options.Dir))}
	}
	order.to, order.target = space.Describe(to, h.options.Dir), to
	h.reached("begun")
	if order.staged, err = target.Stage(context.WithoutCancel(ctx), h.options.Dir, order.Move); err != nil {
		return begun, err
	}
	h.reached("staged")
	order.copy = copying.New(from, order.staged)
	if err := order.copy.Follow(ctx); err != nil {
		return begun, errors.Join(err, order.staged.Abort())
	}
	h.reached("copied")
	return operator.MoveBegun{Move: order.Move, To: order.to, Entries: order.copy.Entries, Bytes: order.copy.Bytes, Rounds: order.copy.Rounds, Took: time.Since(began)}, nil
}

func (h *Host) reached(step string) {
	if h.options.MoveStep != nil {
		h.options.MoveStep(step)
	}
}

// switchOver finishes a move, if there is one. Nothing writes to the store any more.
func (h *Host) switchOver(e store.Engine) error {
	order := h.mover.take()
	if order == nil {
		return nil
	}
	began := time.Now()
	err := h.finishMove(order, e)
	ended := operator.MoveEnded{Move: order.Move, To: order.to, Held: time.Since(began)}
	if err != nil {
		ended.Error = err.Error()
		h.options.Logger.Error("the store was not moved", "to", order.to, "error", err)
	} else {
		h.options.Logger.Info("the store was moved", "to", order.to, "held", ended.Held)
	}
	data, err := json.Marshal(ended)
	if err == nil {
		err = durable.WriteFile(filepath.Join(h.options.Dir, movedFile), append(data, '\n'), 0o600)
	}
	h.reached("done")
	return err
}

// finishMove copies the rest and commits the move: a database decides it in one statement.
func (h *Host) finishMove(order *move, e store.Engine) error {
	h.reached("held")
	ctx, cancel := context.WithTimeout(context.Background(), longestPause)
	defer cancel()
	err := order.copy.Finish(ctx)
	h.reached("finished")
	if err == nil && order.To.Store != space.InDirectory {
		err = state.Copy(ctx, h.documentOptions(), order.staged.PutDocument)
		h.reached("documents")
	}
	if err == nil {
		err = order.Begin(h.options.Dir)
	}
	if err != nil {
		return errors.Join(err, order.staged.Abort())
	}
	h.reached("pending")
	ctx, cancel = context.WithTimeout(context.Background(), decideWithin)
	defer cancel()
	failed := order.decide(ctx, e)
	h.reached("decided")
	given := h.options.Driver
	if order.To.Store != space.InDirectory {
		given = order.target
	}
	moved, err := space.Resolve(ctx, h.options.Dir, given, h.reached)
	err = errors.Join(err, order.staged.Close())
	if err == nil && moved && order.To.Store != space.InDirectory {
		err = forgetIdentity(h.options.Dir)
	}
	if err == nil && !moved {
		err = errors.Join(errors.New("the store stays where it was"), failed)
	}
	return err
}

// decide commits the move in the database: either the copy is there, or the space is gone. A later read shows the outcome.
func (m *move) decide(ctx context.Context, e store.Engine) error {
	if m.To.Store != space.InDirectory {
		return m.staged.Place(ctx)
	}
	from, ok := e.(store.Departing)
	if !ok {
		return errors.New("this store cannot be moved away")
	}
	if err := m.staged.Close(); err != nil {
		return err
	}
	return from.Depart(ctx, m.Move, m.to)
}

// GetMove implements acts.Mover.
func (m moving) GetMove(context.Context) (ended operator.MoveEnded, err error) {
	data, err := regular.Read(filepath.Join(m.host.options.Dir, movedFile), movedLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return ended, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &ended)
	}
	return ended, err
}

// RemoveMoved implements acts.Mover.
func (m moving) RemoveMoved(ctx context.Context) error {
	h := m.host
	if err := h.mover.begin(); err != nil { // a copy would be removed, too
		return err
	}
	defer h.mover.end(nil, errors.New("nothing is moved"))
	left, err := space.Left(h.options.Dir)
	if err != nil {
		return err
	}
	if left == nil {
		return &memory.Error{Code: memory.NotFound, Message: "nothing is left of a move of this store"}
	}
	from, err := left.Driver(h.mover.given)
	if err != nil {
		return err
	}
	old, ok := from.(store.Movable)
	if !ok {
		return errors.New("this store cannot be removed")
	}
	if err := old.Remove(ctx, h.options.Dir); err != nil {
		return err
	}
	return space.Forget(h.options.Dir)
}

// OpenAndServe opens a data directory and serves it until ctx ends. It opens it again once its store was moved.
func OpenAndServe(ctx context.Context, o Options, l Listen) error {
	for {
		h, err := Open(ctx, o)
		if err != nil {
			return err
		}
		err = errors.Join(h.Serve(ctx, l), h.Close())
		if err != nil || ctx.Err() != nil || !h.mover.reopens() {
			return err
		}
	}
}
