package host

import (
	"context"

	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

// openConsole opens the console, unless it is not to be served.
func (s *service) openConsole(context.Context) (err error) {
	switch {
	case s.mount != nil:
		s.noConsole = "the console shows the memory of a server's own data directory, and not of its further spaces"
	case s.site.listener == nil:
		s.noConsole = "the server does not listen for HTTP, over which browsers reach the console: start it with --listen 127.0.0.1:9742"
	case s.to.Console != nil && !*s.to.Console:
		s.noConsole = "the server was started with --no-console: start it without"
	case s.to.Console == nil && s.site.exposed():
		s.noConsole = "other machines can connect to the server, to which the console is served only if it was started with --console"
	default:
		return s.serveConsole()
	}
	return nil
}

func (s *service) serveConsole() (err error) {
	h := s.host
	s.console, err = console.New(console.Options{
		Version: h.options.Version, TLS: s.site.cert != nil, Enter: h.admission.Enter, As: h.admission.As, Client: h.admission.Client,
		Operations: h.rest.Routes(), Stream: h.streams, Refused: h.account.RefusedRequest,
		State: func() console.State {
			return console.State{ReadOnly: h.refusesWrites(), Locked: h.Locked()}
		},
		Reported: func(report string) {
			h.options.Logger.Warn("a browser kept the console from something", "report", report)
		},
		Acts: s.operators(onConsole),
	})
	if err != nil {
		return err
	}
	s.closers.Later("the console", func() error {
		s.console.Close()
		return nil
	})
	s.at(s.console)
	return nil
}

// ticket issues a ticket of the console.
func (s *service) ticket() (operator.ConsoleTicket, error) {
	if s.console == nil {
		return operator.ConsoleTicket{}, &memory.Error{Code: memory.Unavailable, Message: "there is no console: " + s.noConsole}
	}
	return operator.ConsoleTicket{Address: s.site.urlHere(s.record) + console.Path + "#ticket=" + s.console.Ticket()}, nil
}
