package host

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/weburl"
)

// site is where clients reach a server over HTTP: its own memory, and each of its spaces below a path.
type site struct {
	Listen
	listener net.Listener        // nil: nowhere
	cert     *listen.Certificate // nil: without TLS
	renew    func() error        // renews the server's own certificate; nil: the certificate is another's
	logger   *slog.Logger
	logins   logins
}

// openSite listens for clients over HTTP.
func openSite(o Options, l Listen) (*site, error) {
	s := &site{Listen: l, logger: o.Logger}
	if l.Issuer != "" {
		if err := weburl.Check("the issuer", l.Issuer); err != nil {
			return nil, err
		}
	}
	if l.Public != "" {
		if err := weburl.CheckRoot("the public URL", l.Public); err != nil {
			return nil, err
		}
	}
	if l.HTTP == "" {
		return s, nil
	}
	if err := s.certify(owner.TLSPath(o.Dir), o.Clock); err != nil {
		return nil, err
	}
	var err error
	s.listener, err = listen.ListenHTTP(l.HTTP)
	switch {
	case err == nil:
		return s, nil
	case l.HTTPOptional:
		o.Logger.Warn("going on without HTTP", "error", err)
		return s, nil
	}
	return nil, fmt.Errorf("%w: stop what uses the address, or choose another with --listen (for example --listen 127.0.0.1:9743; --listen off for none)", err)
}

// certify loads or makes the certificate, if one is configured. New certificates are saved in a folder.
func (s *site) certify(dir string, clock func() time.Time) (err error) {
	cert, key := s.TLSCert, s.TLSKey
	switch {
	case s.ACME != nil:
		a := *s.ACME
		a.Dir = filepath.Join(dir, "acme")
		manager, err := a.New()
		if err == nil {
			s.cert = listen.CertificateOf(manager)
		}
		return err
	case len(s.TLSOwn) > 0:
		if cert, key, err = certificate.Own(dir, s.TLSOwn, clock()); err != nil {
			return err
		}
		s.renew = func() error {
			_, _, err := certificate.Own(dir, s.TLSOwn, clock())
			return err
		}
	case cert == "" && key == "":
		return nil
	}
	s.cert, err = listen.LoadCertificate(cert, key)
	return err
}

// keepCertificate renews the server's own certificate in time, until ctx ends.
func (s *site) keepCertificate(ctx context.Context) error {
	each := time.NewTicker(12 * time.Hour)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-each.C:
			if err := s.renew(); err != nil {
				s.logger.Error("the certificate is not renewed", "error", err)
			}
		}
	}
}

// exposed reports whether other machines can connect.
func (s *site) exposed() bool {
	return s.listener != nil && (!listen.IsLoopback(s.listener) || s.Public != "")
}

// note writes the address into the record of a server.
func (s *site) note(r *owner.Record) {
	if s.listener != nil {
		r.HTTP, r.TLS = s.listener.Addr().String(), s.cert != nil
	}
}

// urlHere returns the URL of a server for a browser on this machine, with a name that its certificate covers.
func (s *site) urlHere(r owner.Record) string {
	host, port, err := net.SplitHostPort(r.HTTP)
	if err != nil {
		return r.URL()
	}
	if address, _ := netip.ParseAddr(host); !address.IsValid() || address.Unmap().IsUnspecified() {
		host = "127.0.0.1"
	}
	switch {
	case s.cert == nil || s.cert.Names(host):
	case s.cert.Names("localhost"):
		host = "localhost"
	default:
		host = cmp.Or(s.cert.Name(), host)
	}
	r.HTTP = net.JoinHostPort(host, port)
	return r.URL()
}
