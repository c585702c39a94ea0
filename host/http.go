package host

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/host/front/join"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/tool"
)

// openHTTP listens for HTTP clients, unless this is one of several spaces and their server listens.
func (s *service) openHTTP(context.Context) (err error) {
	s.task(s.serveHTTP)
	if s.mount != nil {
		s.site, s.record.Path = s.mount.site, s.mount.path
	} else if s.site, err = openSite(s.host.options, s.withToken(s.to)); err != nil {
		return err
	}
	s.site.note(&s.record)
	if s.mount == nil && s.site.listener != nil {
		s.closers.Later("the listener for HTTP", closing(s.site.listener))
		if s.site.renew != nil {
			s.task(s.site.keepCertificate)
		}
	}
	if s.mount == nil {
		o := s.host.options
		o.ReadOnly = s.host.admission.ReadOnly
		if err := s.site.openLogins(o, secretIn(o.Dir), &s.closers); err != nil {
			return err
		}
	}
	if s.site.listener == nil {
		return nil
	}
	s.host.exposed.Store(s.site.exposed())
	required := s.host.keys.Required()
	if s.to.RequireKeys != nil {
		required = *s.to.RequireKeys
	}
	return listen.CheckExposure(s.site.listener, s.site.cert, required)
}

// withToken returns the listeners of a server, without HTTP if there is no token for clients to present.
func (s *service) withToken(l Listen) Listen {
	if l.HTTP != "" && s.host.admission.Token == "" {
		s.host.options.Logger.Warn("going on without HTTP: there is no token, and none can be made in the data directory")
		l.HTTP = ""
	}
	return l
}

// serveHTTP serves on the listener or where the service is mounted.
func (s *service) serveHTTP(ctx context.Context) error {
	h := s.host
	server := listen.HTTP{Routes: h.routes(), Lasting: map[string]http.Handler{"/stream": h.streams}, Doors: s.doors, Admit: h.admission.Bearer, Refused: h.account.RefusedRequest,
		Certificate: s.site.cert, Issuer: s.site.issuerAt(s.record.Path), Public: s.site.Public, Path: s.record.Path, Below: s.spaces != nil || s.shared() != nil, Scopes: s.site.scopes(), Ready: h.ready, Healthy: h.Writable, Without: h.withoutFamilies, Following: func() string { return h.space.Following(h.options.Clock()) }, Logger: h.options.Logger, Use: s.use, Stopped: stopped()}
	if s.spaces != nil {
		server.Spaces = s.spaces
	}
	defer h.streams.Close()
	defer context.AfterFunc(ctx, func() {
		h.streams.Stop()
		h.mcp.Close(context.WithoutCancel(ctx)) // or its streams hold Serve up
	})()
	switch {
	case s.mount != nil:
		s.mount.serve(server.Mounted(), s.use)
	case s.site.listener != nil:
		return server.Serve(ctx, s.site.listener)
	}
	<-ctx.Done()
	return nil
}

// openJoin serves the page on which invited people join.
func (s *service) openJoin(context.Context) error {
	if s.record.Path != "" || s.site.listener == nil {
		return nil
	}
	at := operator.HubAddress{URL: cmp.Or(s.site.Public, s.site.urlHere(s.record))}
	if len(s.site.TLSOwn) > 0 {
		var err error
		if at.Pin, err = certificate.PinOf(owner.TLSPath(s.host.options.Dir)); err != nil {
			return err
		}
	}
	s.host.address.Store(&at)
	s.at(join.New(join.Options{Join: s.host.acts().Join, Refused: s.host.account.RefusedRequest}))
	return nil
}

// openSpaces prepares the server's further spaces.
func (s *service) openSpaces(ctx context.Context) (err error) {
	if s.to.Spaces == nil {
		return nil
	}
	each := s.host.options
	each.Driver = s.host.mover.given
	s.spaces, err = openSpaces(ctx, *s.to.Spaces, each, s.site, s.record)
	if err != nil {
		return err
	}
	s.spaces.refused = s.host.account.RefusedRequest
	s.task(func(ctx context.Context) error {
		<-ctx.Done()
		return s.spaces.close()
	})
	return nil
}

// withoutFamilies returns why families are missing; nil: none are.
func (h *Host) withoutFamilies() error { return h.space.Without }

// readyWithin is how long a readiness check waits for the server to become ready.
const readyWithin = time.Second

// ready returns why the server is not ready; nil: it is.
func (h *Host) ready(ctx context.Context) error {
	if err := h.Writable(); err != nil {
		return fmt.Errorf("nothing can be stored: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := h.space.Memory.Ready(ctx); err != nil {
		return fmt.Errorf("searches wait for the index, which is being rebuilt: %w", err)
	}
	return nil
}

// routes returns the handlers for admitted HTTP clients.
func (h *Host) routes() map[string]http.Handler {
	routes := h.rest.Routes()
	routes["/mcp"] = h.mcp.Handler()
	for path, serve := range h.syncing.Routes() {
		routes[path] = h.rest.Admitted(http.MethodPost, serve)
	}
	routes["/metrics"] = h.rest.Admitted(http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		rights := h.admission.Client(r).Caller.Rights
		h.account.Metrics().Serve(w, r, func(family string) bool { return family == tool.CoreFamily || rights.May(memory.ToUse(family)) })
	})
	return routes
}
