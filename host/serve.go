package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/admin"
	"github.com/alcove-memory/alcove/host/api"
	"github.com/alcove-memory/alcove/host/mcp"
	"github.com/alcove-memory/alcove/host/owner"
)

// DefaultHTTP is the address for HTTP unless another is chosen.
const DefaultHTTP = "127.0.0.1:9742"

// DefaultProfile is the set of tools that clients are offered unless they ask for another.
const DefaultProfile = mcp.ProfileAgent

// SplitFamilies reads a list of families such as "auto-tag, ranking".
func SplitFamilies(list string) []string { return mcp.SplitFamilies(list) }

// Listen says where to serve.
type Listen struct {
	Socket       string             // path; empty: the data directory's own
	HTTP         string             // address; empty: none
	HTTPOptional bool               // go on without HTTP when its address is in use
	Idle         time.Duration      // stop when nobody was served for so long; 0: never
	Started      func(owner.Record) // called when clients can connect; may be nil
}

// Serve serves clients until ctx ends or, if so asked, nobody uses the server. Calls that run then may
// finish.
func (h *Host) Serve(ctx context.Context, l Listen) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &service{host: h, use: &api.Use{}}
	record, err := s.listen(l)
	if err != nil {
		return errors.Join(err, s.closeListeners())
	}
	if err := owner.WriteRecord(h.options.Dir, record); err != nil { // on a full disk, for instance: it can still be read
		h.options.Logger.Warn("clients on this machine find the server, but not its HTTP address", "error", err)
	}
	defer owner.RemoveRecord(h.options.Dir)
	h.options.Logger.Info("serving", "dir", h.options.Dir, "socket", record.Socket, "http", record.HTTP, "pid", record.PID)
	if l.Started != nil {
		l.Started(record)
	}
	if l.Idle > 0 {
		go func() {
			s.use.Idle(ctx, l.Idle)
			stop()
		}()
	}
	err = s.run(ctx, stop)
	h.options.Logger.Info("stopped serving", "dir", h.options.Dir, "error", err)
	return err
}

// service is the listeners of one Serve.
type service struct {
	host   *Host
	use    *api.Use
	socket net.Listener
	admin  net.Listener
	http   net.Listener // nil: none
}

func (s *service) listen(l Listen) (owner.Record, error) {
	o := s.host.options
	path := l.Socket
	if path == "" {
		usual, err := owner.SocketPath(o.Dir)
		if err != nil {
			return owner.Record{}, err
		}
		path = usual
	}
	record := owner.Record{PID: os.Getpid(), Socket: path, Version: o.Version, Started: o.Clock().UTC()}
	var err error
	if l.HTTP != "" {
		s.http, err = api.ListenHTTP(l.HTTP)
		switch {
		case err == nil:
			record.HTTP = s.http.Addr().String()
		case l.HTTPOptional:
			o.Logger.Warn("going on without HTTP", "error", err)
		default:
			return record, fmt.Errorf("%w: stop what uses the address, or choose another with --listen (for example --listen 127.0.0.1:9743; --listen off for none)", err)
		}
	}
	if s.socket, err = api.ListenSocket(path); err != nil {
		return record, err
	}
	operators, err := owner.AdminPath(o.Dir)
	if err != nil {
		return record, err
	}
	s.admin, err = api.ListenSocket(operators)
	return record, err
}

func (s *service) closeListeners() error {
	var errs []error
	for _, l := range []net.Listener{s.socket, s.admin, s.http} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// run serves on all listeners; when one fails, all stop.
func (s *service) run(ctx context.Context, stop func()) error {
	o := s.host.options
	var both sync.WaitGroup
	var socketErr, adminErr, httpErr error
	both.Go(func() {
		defer stop()
		operators := admin.Server{Acts: s.host.acts(), Streams: s.host.streams(), Logger: o.Logger, Begin: s.use.Begin}
		adminErr = operators.Serve(ctx, s.admin)
	})
	both.Go(func() {
		defer stop()
		socket := api.Socket{Check: checkHello, Session: s.host.session, Logger: o.Logger, Use: s.use,
			Welcome: owner.Welcome{Version: o.Version, PID: os.Getpid()}}
		socketErr = socket.Serve(ctx, s.socket)
	})
	if s.http != nil {
		both.Go(func() {
			defer stop()
			server := api.HTTP{MCP: s.host.mcp.Handler(), Token: s.host.token, TokenPath: owner.TokenPath(o.Dir),
				Ready: s.host.ready, Logger: o.Logger, Use: s.use}
			ended := context.AfterFunc(ctx, func() { s.host.mcp.Close(context.WithoutCancel(ctx)) }) // or streams hold Serve up
			defer ended()
			httpErr = server.Serve(ctx, s.http)
		})
	}
	both.Wait()
	return errors.Join(socketErr, adminErr, httpErr)
}

// checkHello refuses a client that asks for what there is not. Families that are not there are no reason: who set a
// client up for one that was removed keeps the rest of the memory.
func checkHello(h owner.Hello) *owner.Refusal {
	if err := mcp.CheckProfile(h.Profile, h.Families); err != nil {
		return &owner.Refusal{Code: "invalid_argument", Message: err.Error()}
	}
	return nil
}
