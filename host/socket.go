package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/daemon/presence"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/mcp"
	"github.com/alcove-memory/alcove/host/memory"
)

// openSockets listens for clients and operators on this machine, unless the server of a shared space does.
func (s *service) openSockets(context.Context) error {
	var clients net.Listener
	if shared := s.shared(); shared != nil {
		clients, shared.acts = shared.clients, s.operators(ofPost)
	} else {
		socket, admin, err := listenSockets(s.to.Socket, s.host.options.Dir)
		if err != nil {
			return err
		}
		s.closers.Later("the sockets", closing(socket, admin))
		s.record.Socket, s.record.Admin = socket.Path(), admin.Path()
		s.socket, s.admin, clients = socket, admin, socket
		s.task(func(ctx context.Context) error { return s.operators(onSocket).Serve(ctx, admin) })
	}
	s.task(func(ctx context.Context) error {
		socket := listen.Socket{Admit: s.hello, Session: s.session, Logger: s.host.options.Logger, Use: s.use,
			Welcome: owner.Welcome{Version: s.record.Version, PID: s.record.PID}, Stopped: stopped()}
		defer context.AfterFunc(ctx, s.host.wire.Stop)()
		return socket.Serve(ctx, clients)
	})
	return nil
}

// openPresence publishes the server to clients on this machine.
func (s *service) openPresence(context.Context) error {
	if s.socket == nil {
		return nil
	}
	h := s.host
	w := presence.New(presence.Options{
		Dir: h.options.Dir, Opened: h.dir, Lock: h.lock, Record: s.record, Clients: s.socket, Operators: s.admin, Writable: h.Writable,
		Unused: s.use.None, Stop: s.stop, Every: s.to.Look, ReadOnly: h.readOnly, OnDemand: s.to.Idle > 0, Logger: h.options.Logger,
	})
	w.Look()
	s.closers.Later("the record of the server", func() error {
		w.Leave()
		return nil
	})
	s.task(func(ctx context.Context) error {
		w.Run(ctx)
		return nil
	})
	return nil
}

// listenSockets listens for clients and operators of a data directory, at the path of a socket, if it is not empty.
func listenSockets(socket, dir string) (clients, operators *listen.SocketListener, err error) {
	paths, err := socketPaths(socket, dir)
	if err != nil {
		return nil, nil, err
	}
	if clients, err = listen.ListenSocket(paths...); err != nil {
		return nil, nil, err
	}
	if paths, err = owner.AdminPaths(dir); err == nil {
		operators, err = listen.ListenSocket(paths...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, clients.Close())
	}
	return clients, operators, nil
}

// socketPaths returns the paths to listen on.
func socketPaths(socket, dir string) ([]string, error) {
	if socket == "" {
		return owner.SocketPaths(dir)
	}
	path, err := filepath.Abs(socket) // clients find it from anywhere
	if err == nil {
		err = owner.CheckSocketLength(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: choose another path with --socket", err)
	}
	return []string{path}, nil
}

// hello admits a client of the socket.
func (s *service) hello(ctx context.Context, hello owner.Hello) (context.Context, func(), *owner.Refusal) {
	switch {
	case hello.Space == "", s.shared() != nil && hello.Space == s.shared().space:
		return s.host.admission.Hello(ctx, hello)
	case s.spaces == nil:
		return nil, nil, &owner.Refusal{Code: string(memory.InvalidArgument), Message: "this server serves no spaces: restart it with --spaces"}
	}
	return s.spaces.hello(ctx, hello)
}

// session serves a client of the socket that hello admitted.
func (s *service) session(ctx context.Context, hello owner.Hello, r io.Reader, w io.Writer) error {
	if of, ok := ctx.Value(spaceKey{}).(*Host); ok {
		return of.session(ctx, hello, r, w)
	}
	return s.host.session(ctx, hello, r, w)
}

// session serves an admitted client.
func (h *Host) session(ctx context.Context, hello owner.Hello, r io.Reader, w io.Writer) error {
	session := mcp.SessionOf(ctx)
	if hello.Protocol != owner.Operations {
		return h.mcp.ServeConn(ctx, r, w, session)
	}
	client := connection.Client{Caller: h.admission.Caller(session, session.Agent), Namespace: session.Namespace, Branch: session.Branch}
	return h.wire.ServeConn(ctx, r, w, client)
}

// Dial begins a session in this process, like a socket client after its hello. The session ends with the connection or ctx.
func (h *Host) Dial(ctx context.Context, hello owner.Hello) io.ReadWriteCloser {
	ours, theirs := net.Pipe()
	go func() {
		defer ours.Close()
		if err := h.session(mcp.WithSession(ctx, admission.SessionFor(hello)), hello, ours, ours); err != nil && ctx.Err() == nil {
			h.options.Logger.Warn("a session in the process ended", "error", err)
		}
	}()
	return theirs
}
