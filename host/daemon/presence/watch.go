// Package presence keeps the files by which clients find a server, while its data directory is the one that it opened.
package presence

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/store"
)

const defaultEvery = 500 * time.Millisecond

// Socket is a listener on a socket file.
type Socket interface {
	Path() string
	Keep() (again bool, err error) // makes the file again if it was removed or replaced
}

// Options say what to watch. All fields but Every, ReadOnly and OnDemand are needed.
type Options struct {
	Dir       string   // the data directory
	Opened    *os.File // the data directory, as the server opened it
	Lock      *owner.Lock
	Record    owner.Record
	Clients   Socket
	Operators Socket
	Writable  func() error // returns why the store cannot be written; nil: it can
	Unused    func() bool  // reports whether no client is served
	Stop      func()       // stops the server
	Every     time.Duration
	ReadOnly  bool // the directory could not be written when it was opened
	OnDemand  bool // clients start a server when they need one
	Logger    *slog.Logger
}

// Watcher makes the lock, the sockets and the record of a server again when they are removed. When the directory, or the
// store in it, was replaced, it touches no file of that name: it may be another server's.
type Watcher struct {
	options Options
	record  owner.Record
	faults  map[string]string // that were logged, by what they affect
}

// New returns a watcher that has not looked yet.
func New(o Options) *Watcher {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	return &Watcher{options: o, record: o.Record, faults: map[string]string{}}
}

// Run looks again and again until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	tick := time.NewTicker(w.options.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.Look()
		}
	}
}

// Look checks the files once. It stops a server that was started on demand when the next one would serve its clients better.
func (w *Watcher) Look() {
	o := w.options
	fault := o.Writable()
	w.report("writes are refused", fault)
	same := w.sameDirectory()
	if same {
		w.keep()
	}
	switch {
	case !o.OnDemand:
	case (!same || errors.Is(fault, store.ErrReplaced) || errors.Is(fault, store.ErrFenced)) && o.Unused():
		o.Logger.Error("exiting, so that the next client gets the present content of the data directory", "dir", o.Dir)
		o.Stop()
	case o.ReadOnly && owner.Writable(o.Dir) == nil:
		o.Logger.Info("the data directory can be written again: exiting for a server that writes")
		o.Stop()
	}
}

// sameDirectory reports whether the data directory is still the one that was opened.
func (w *Watcher) sameDirectory() bool {
	opened, errOpened := w.options.Opened.Stat()
	now, err := os.Stat(w.options.Dir)
	return errOpened == nil && err == nil && os.SameFile(now, opened)
}

// keep makes removed files again.
func (w *Watcher) keep() {
	o := w.options
	w.again("the socket for clients", o.Clients.Keep)
	w.again("the socket for operators", o.Operators.Keep)
	if o.ReadOnly {
		return
	}
	w.again("the lock", o.Lock.Keep)
	w.record.Socket, w.record.Admin = o.Clients.Path(), o.Operators.Path()
	w.report("clients on this machine may not find the server", owner.KeepRecord(o.Dir, w.record))
}

// again makes one file again if it was removed.
func (w *Watcher) again(what string, keep func() (again bool, err error)) {
	again, err := keep()
	w.report(what+" was removed and cannot be recreated", err)
	if again {
		w.options.Logger.Warn(what + " was removed and is recreated")
	}
}

// report logs a fault when it begins, when it becomes another, and when it ends.
func (w *Watcher) report(what string, err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if w.faults[what] == fault {
		return
	}
	w.faults[what] = fault
	if err == nil {
		w.options.Logger.Info("no longer: " + what)
		return
	}
	w.options.Logger.Error(what, "error", err)
}

// Leave removes the server's record, unless the directory is another's by now.
func (w *Watcher) Leave() {
	if w.sameDirectory() {
		_ = owner.RemoveRecord(w.options.Dir, w.record)
	}
}
