package host

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/space"
)

// Serve serves clients until ctx ends, or until the server is idle if Listen.Idle is set. Running calls may finish.
func (h *Host) Serve(ctx context.Context, l Listen) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &service{host: h, to: l, mount: l.mount, use: &listen.Use{}, stop: stop, doors: map[string]listen.Door{},
		record: owner.Record{PID: os.Getpid(), Version: h.options.Version, Started: h.options.Clock().UTC()}}
	err := s.open(ctx)
	if err == nil {
		h.options.Logger.Info("serving", "dir", h.options.Dir, "socket", s.record.Socket, "http", s.record.HTTP, "pid", s.record.PID)
		if l.Started != nil {
			l.Started(s.record)
		}
		err = s.run(ctx)
		h.options.Logger.Info("stopped serving", "dir", h.options.Dir, "error", err)
	}
	return errors.Join(err, s.closers.Close())
}

// service is the front ends of one Serve. Each is opened by a method of its own.
type service struct {
	host   *Host
	to     Listen
	mount  *mount // nil: the service has listeners of its own
	use    *listen.Use
	stop   func()
	record owner.Record
	site   *site                  // where clients reach it over HTTP
	socket *listen.SocketListener // nil: the server that shares the space has the sockets
	admin  *listen.SocketListener

	doors   map[string]listen.Door        // of HTTP
	tasks   []func(context.Context) error // run until the first of them returns, which ends the service
	closers space.Closers                 // at the end, and after a failure

	spaces    *Spaces         // nil: none
	console   *console.Server // nil: none
	noConsole string          // why, and what to do
}

// open opens the front ends in order of their dependencies.
func (s *service) open(ctx context.Context) error {
	for _, open := range []func(context.Context) error{
		s.openHTTP, s.openJoin, s.openSockets, s.openOperators, s.openConsole, s.openOAuth, s.openIssuer, s.keep, s.openPresence, s.openSpaces,
	} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// task adds a task that runs until the service ends.
func (s *service) task(run func(context.Context) error) { s.tasks = append(s.tasks, run) }

// at adds the doors of a front end.
func (s *service) at(front interface{ Doors() map[string]listen.Door }) {
	maps.Copy(s.doors, front.Doors())
}

// run runs the front ends. When one ends, all stop; the first failure is the error.
func (s *service) run(ctx context.Context) error {
	if s.to.Idle > 0 {
		s.task(func(ctx context.Context) error {
			s.use.Idle(ctx, s.to.Idle)
			return nil
		})
	}
	var all errgroup.Group
	for _, task := range s.tasks {
		all.Go(func() error {
			defer s.stop()
			return task(ctx)
		})
	}
	return all.Wait()
}

// keep saves the settings that later servers use, after all checks have passed.
func (s *service) keep(context.Context) error {
	if s.to.RequireKeys != nil {
		if err := s.host.RequireKeys(*s.to.RequireKeys); err != nil {
			return err
		}
	}
	if s.host.readOnly || s.host.options.Follow != nil {
		return nil
	}
	return s.host.acts().Narrow()
}

// shared returns the mount of a space that several servers share; nil: this server owns it.
func (s *service) shared() *sharedMount {
	if s.mount == nil {
		return nil
	}
	return s.mount.shared
}

// closing returns a function that closes listeners, some of which may be closed already.
func closing(all ...io.Closer) func() error {
	return func() error {
		for _, each := range all {
			each.Close()
		}
		return nil
	}
}

// stopped returns the error of calls that did not finish in time after a stop.
func stopped() error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true,
		Message: "the alcove server was stopped before this was done: whether it wrote anything is not known, so look before you do it again"}
}
