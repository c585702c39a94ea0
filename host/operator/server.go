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
	Record     Recorder // nil: nothing is recorded
}

// NewServer serves acts. Two bindings of one act panic.
func NewServer(bindings []Binding, o ServerOptions) *admin.Server {
	server := &admin.Server{Acts: map[string]admin.Act{}, Streams: map[string]admin.Stream{}, Code: codeOf, Reads: map[string]func(json.RawMessage) bool{}, Logger: o.Logger, Begin: o.Begin}
	for _, b := range bindings {
		if server.Acts[b.name] != nil || server.Streams[b.name] != nil {
			panic("operator: the act " + b.name + " is bound twice")
		}
		if b.changes && o.Changeable != nil {
			b = b.If(o.Changeable)
		}
		b = b.entered(o.Record)
		server.Reads[b.name] = b.reads
		if b.write != nil {
			server.Streams[b.name] = b.write
		} else {
			server.Acts[b.name] = b.do
		}
	}
	return server
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
