package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/operator/operators"
)

// openOperators listens for operators on other machines, if configured.
func (s *service) openOperators(context.Context) error {
	o := s.to.Operators
	if o.Address == "" || s.mount != nil {
		return nil
	}
	l, err := listenOperators(o)
	if err != nil {
		return err
	}
	s.closers.Later("the listener for operators", closing(l))
	s.record.Operators = l.Addr().String()
	s.task(func(ctx context.Context) error { return s.operators(s.host.overTLS).Serve(ctx, l) })
	return nil
}

func listenOperators(o OperatorsListen) (net.Listener, error) {
	cert, err := listen.LoadCertificate(o.Cert, o.Key)
	if err != nil {
		return nil, err
	}
	return listen.Mutual(o.Address, cert, o.Clients)
}

// operators serves the requests of operators. as adds their identity to a request's context.
func (s *service) operators(as func(*http.Request) (context.Context, error)) *admin.Server {
	acts := s.host.acts()
	acts.Console = s.ticket
	if s.mount != nil {
		acts.Close = s.stop
	}
	acts.Mover = moving{s}
	if m := s.shared(); m != nil && m.spaces != nil {
		acts.Spaces = naming{m.spaces}
	}
	server := operator.NewServer(acts.Bindings(), operator.ServerOptions{Logger: s.host.options.Logger, Begin: s.use.Begin, Changeable: s.host.checkOwned, Record: acts})
	server.As = as
	return server
}

// onSocket returns the context of a request from a process on this machine.
func onSocket(r *http.Request) (context.Context, error) {
	p := operator.UserOf(-1)
	if uid, known, err := owner.PeerOf(admin.ConnOf(r)); err == nil && known {
		p = operator.UserOf(uid)
	}
	p.Reason = admin.ReasonOf(r)
	return operator.By(r.Context(), p), nil
}

// onConsole returns the context of a request from the console in the operator's session.
func onConsole(r *http.Request) (context.Context, error) {
	return operator.By(r.Context(), operator.Person{UID: -1, Via: "the console", From: addressOf(r)}), nil
}

// overTLS returns the context of a request with the certificate and key of an operator.
func (h *Host) overTLS(r *http.Request) (context.Context, error) {
	ctx, err := overTLS(r, h.operators)
	if err != nil {
		h.account.NotAdmitted(addressOf(r), err)
	}
	return ctx, err
}

// overTLS returns the context of a request with the certificate and key of an operator.
func overTLS(r *http.Request, of *operators.Operators) (context.Context, error) {
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	who, err := of.Enter(secret)
	if err != nil {
		return nil, &memory.Error{Code: memory.Denied, Rule: "the key of an operator", Message: err.Error()}
	}
	p := operator.Person{Name: who.Name, UID: -1, Role: operator.Role(who.Role), Via: "by TLS", From: addressOf(r), Reason: admin.ReasonOf(r)}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		p.From = fmt.Sprintf("%s with the certificate %q", p.From, r.TLS.PeerCertificates[0].Subject.CommonName)
	}
	return operator.By(r.Context(), p), nil
}

func addressOf(r *http.Request) string {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	return from
}
