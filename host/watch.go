package host

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/api"
	"github.com/alcove-memory/alcove/host/owner"
	"github.com/alcove-memory/alcove/host/store"
)

const defaultLook = 500 * time.Millisecond

// watcher looks after what clients find a server by, as long as the data directory is the one that was opened: the lock, the
// sockets and the record are made again when they are taken away. When the directory, or the store in it, is not, nothing
// that has its name is touched: it may be another server's.
type watcher struct {
	host     *Host
	use      *api.Use
	socket   *api.SocketListener
	admin    *api.SocketListener
	record   owner.Record
	every    time.Duration
	onDemand bool // others start a server when they need one
	stop     func()
	said     map[string]string // the faults that are known
}

func (s *service) watcher(l Listen, r owner.Record, stop func()) *watcher {
	w := &watcher{host: s.host, use: s.use, socket: s.socket, admin: s.admin, record: r, every: l.Look, onDemand: l.Idle > 0, stop: stop,
		said: map[string]string{}}
	if w.every == 0 {
		w.every = defaultLook
	}
	return w
}

// watch looks until ctx ends.
func (w *watcher) watch(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look()
		}
	}
}

func (w *watcher) look() {
	fault := w.host.Writable()
	w.tell("nothing is written any more", fault)
	ours := w.ours()
	if ours {
		w.keep()
	}
	switch {
	case !w.onDemand:
	case (!ours || errors.Is(fault, store.ErrReplaced)) && w.use.None():
		w.host.options.Logger.Error("leaving, so that the next client is served what is in the data directory now", "dir", w.host.options.Dir)
		w.stop()
	case w.host.readOnly && owner.Writable(w.host.options.Dir) == nil:
		w.host.options.Logger.Info("the data directory can be written again: leaving it to a server that does")
		w.stop()
	}
}

// ours reports whether the data directory is the one that was opened.
func (w *watcher) ours() bool {
	opened, errOpened := w.host.dir.Stat()
	now, err := os.Stat(w.host.options.Dir)
	return errOpened == nil && err == nil && os.SameFile(now, opened)
}

// keep makes again what was taken away.
func (w *watcher) keep() {
	w.again("the socket for clients", w.socket.Keep)
	w.again("the socket for operators", w.admin.Keep)
	if w.host.readOnly {
		return
	}
	w.again("the lock", w.host.lock.keep)
	w.record.Socket, w.record.Admin = w.socket.Path(), w.admin.Path()
	w.tell("clients on this machine may not find the server", owner.KeepRecord(w.host.options.Dir, w.record))
}

// again makes something again, if it was taken away.
func (w *watcher) again(what string, keep func() (again bool, err error)) {
	again, err := keep()
	w.tell(what+" was taken away and cannot be made again", err)
	if again {
		w.host.options.Logger.Warn(what + " was taken away, and is made again")
	}
}

// tell logs a fault once, when it begins or becomes another, and its end.
func (w *watcher) tell(what string, err error) {
	said := ""
	if err != nil {
		said = err.Error()
	}
	if w.said[what] == said {
		return
	}
	w.said[what] = said
	if err == nil {
		w.host.options.Logger.Info("no longer: " + what)
		return
	}
	w.host.options.Logger.Error(what, "error", err)
}

// leave removes what this server said of itself, unless it is another's by now.
func (w *watcher) leave() {
	if w.ours() {
		_ = owner.RemoveRecord(w.host.options.Dir, w.record)
	}
}
