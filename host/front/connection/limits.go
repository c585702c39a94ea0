package connection

import (
	"cmp"
	"errors"
	"math"
	"net/http"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	defaultMessage = 16 << 20
	defaultInput   = 128 << 20
)

// Limits bounds what clients send. Zero fields have the defaults.
type Limits struct {
	Message int64           // bytes of one message; 16 MiB
	Input   *jsonrpc.Budget // of large messages being read or served, over all clients; 128 MiB
	Keys    Keys            // bound the clients with an API key; nil: they are as free as the owner
}

// Keys bounds what the holders of API keys send. An empty key means the owner of the data directory.
type Keys interface {
	Begin(key string) (end func(), err error) // counts a call, and those that run
	Charge(key string) error                  // counts a call
	BodyLimit(key string) int64               // bytes of a message
}

type noKeys struct{}

func (noKeys) Begin(string) (func(), error) { return func() {}, nil }
func (noKeys) Charge(string) error          { return nil }
func (noKeys) BodyLimit(string) int64       { return math.MaxInt64 }

// WithDefaults returns the limits without zero fields.
func (l Limits) WithDefaults() Limits {
	if l.Input == nil {
		l.Input = jsonrpc.NewBudget(defaultInput, 0)
	}
	if l.Keys == nil {
		l.Keys = noKeys{}
	}
	l.Message = cmp.Or(l.Message, defaultMessage)
	return l
}

// Longest returns the most bytes of a message of a key's holder.
func (l *Limits) Longest(key string) int64 { return min(l.Message, l.Keys.BodyLimit(key)) }

// Body reads the body of a request once there is room for it. The caller releases it to Input. The error is one of Budget.ReadAll.
func (l *Limits) Body(r *http.Request, key string) ([]byte, error) {
	longest := l.Longest(key)
	body, err := l.Input.ReadAll(r.Context(), r.Body, r.ContentLength, longest)
	if errors.As(err, new(*http.MaxBytesError)) {
		err = &jsonrpc.TooLongError{Limit: longest}
	}
	return body, err
}

// StatusOf returns the status for a body that could not be read: the client's fault, or a shortage.
func StatusOf(err error) int {
	switch {
	case errors.As(err, new(*jsonrpc.TooLongError)):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, new(*jsonrpc.UnreadError)):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// Client is who sends operations.
type Client struct {
	Caller            memory.Caller
	Namespace, Branch string // of operations that name none; empty: memory.Default
}

// Sessions follow the sessions of clients: those of connections, of streams, and of HTTP clients that have one.
type Sessions interface {
	// Called tells of a call, before it is served, with the default branch and namespace of its session.
	Called(c memory.Caller, at memory.Location)
	// End tells of the end of a session, after its last call.
	End(id string)
}

// Unfollowed are sessions of which nobody is told.
type Unfollowed struct{}

func (Unfollowed) Called(memory.Caller, memory.Location) {}
func (Unfollowed) End(string)                            {}
