package operator

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store"
)

// ServerOptions say how acts are served.
type ServerOptions struct {
	Logger *slog.Logger
	Begin  func() (end func()) // called around each act: the server is in use; nil: nobody asks
	// Changeable says why files of the data directory must not be changed now; nil: they may be.
	Changeable func() error
}

// NewServer serves all acts of o.
func NewServer(o Operator, s ServerOptions) *admin.Server {
	server := &admin.Server{Acts: map[string]admin.Act{}, Streams: map[string]admin.Stream{}, Code: codeOf, Logger: s.Logger, Begin: s.Begin}
	for _, a := range table(o) {
		switch {
		case a.write != nil:
			server.Streams[a.name] = a.write
		case a.changes && s.Changeable != nil:
			server.Acts[a.name] = guarded(a.do, s.Changeable)
		default:
			server.Acts[a.name] = a.do
		}
	}
	return server
}

// guarded is an act that is refused while files must not be changed.
func guarded(do admin.Act, changeable func() error) admin.Act {
	return func(ctx context.Context, request json.RawMessage) (any, error) {
		if err := changeable(); err != nil {
			return nil, err
		}
		return do(ctx, request)
	}
}

// codeOf is the code of an error for clients, as on every interface; empty: it has none.
func codeOf(err error) string {
	var known *memory.Error
	var guest *abi.Error
	var refused *sandbox.Refusal
	switch {
	case errors.As(err, &known):
		return string(known.Code)
	case errors.As(err, &guest):
		return string(guest.Code)
	case errors.As(err, &refused), errors.Is(err, store.ErrReadOnly):
		return string(memory.Denied)
	case errors.Is(err, context.DeadlineExceeded):
		return string(memory.Timeout)
	}
	return ""
}

// Names are the names of all acts on the wire.
func Names() (list []string) {
	for _, a := range table((*Client)(nil)) {
		list = append(list, a.name)
	}
	return list
}
