package host

import (
	"context"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/console"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

// openConsole opens the console, unless it is not to be served.
func (s *service) openConsole(context.Context) (err error) {
	switch s.noConsole = s.site.noConsole(); {
	case s.record.Path != "":
		s.noConsole = "the console shows the memory of a server's own data directory, and not of its further spaces"
	case s.noConsole == "":
		return s.serveConsole()
	}
	return nil
}

// noConsole returns why the site has no console for browsers, and the remedy; empty: it has one.
func (s *site) noConsole() string {
	switch {
	case s.listener == nil:
		return "the server does not listen for HTTP, over which browsers reach the console: start it with --listen 127.0.0.1:9742"
	case s.Console != nil && !*s.Console:
		return "the server was started with --no-console: start it without"
	case s.Console == nil && s.exposed():
		return "other machines can connect to the server, to which the console is served only if it was started with --console"
	}
	return ""
}

func (s *service) serveConsole() (err error) {
	h := s.host
	kept, keep, err := h.following(owner.ConsoleSessionsPath(h.options.Dir))
	if err != nil {
		return err
	}
	o := console.Options{
		Version: h.options.Version, TLS: s.site.cert != nil, Enter: h.admission.Enter, As: h.admission.As, Client: h.admission.Client,
		Operations: h.rest.Routes(), Stream: h.streams, Refused: h.account.RefusedRequest,
		State: func() console.State {
			return console.State{ReadOnly: h.refusesWrites(), Locked: h.Locked()}
		},
		Reported: func(report string) {
			h.options.Logger.Warn("a browser kept the console from something", "report", report)
		},
		Acts: s.operators(onConsole), Kept: kept,
	}
	if keep != nil {
		o.Keep = func(sessions []byte) {
			if err := keep(sessions); err != nil {
				h.options.Logger.Warn("the console's sessions are not kept for the next server of the space", "error", err)
			}
		}
	}
	if s.console, err = console.New(o); err != nil {
		return err
	}
	s.closers.Later("the console", func() error {
		s.console.Close()
		return nil
	})
	s.at(s.console)
	return nil
}

const noConsoleText = "there is no console: "

// ticket issues a ticket of the console.
func (s *service) ticket(ctx context.Context) (operator.ConsoleTicket, error) {
	if s.console == nil {
		return operator.ConsoleTicket{}, &memory.Error{Code: memory.Unavailable, Message: noConsoleText + s.noConsole}
	}
	at, asked := ctx.Value(reachedKey{}).(string)
	if !asked {
		at = s.site.urlHere(s.record)
	}
	return operator.ConsoleTicket{Address: at + console.Path + "#ticket=" + s.console.Ticket()}, nil
}
