package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

// Act is the name of an act on the wire, with the types of its request and its answer.
type Act[In, Out any] string

// Stream is the name of an act whose answer is bytes of any length, with the type of its request.
type Stream[In any] string

// None is the request of an act that needs none, and the answer of one that has none.
type None struct{}

// Server carries out acts by their names: an [admin.Server] in this process, or the [admin.Client] of another, whose errors are of type
// *admin.Error if they have a code.
type Server interface {
	Call(ctx context.Context, act string, request, answer any) error
	Stream(ctx context.Context, act string, request any, w io.Writer) error
}

// Call has a server carry out an act.
func Call[In, Out any](ctx context.Context, s Server, a Act[In, Out], r In) (answer Out, err error) {
	return answer, s.Call(ctx, string(a), r, &answer)
}

// Query is Call for an act without a request.
func Query[Out any](ctx context.Context, s Server, a Act[None, Out]) (Out, error) {
	return Call(ctx, s, a, None{})
}

// Command is Call for an act without an answer.
func Command[In any](ctx context.Context, s Server, a Act[In, None], r In) error {
	_, err := Call(ctx, s, a, r)
	return err
}

// Receive has a server carry out an act whose answer is a stream, and copies it to w.
func Receive[In any](ctx context.Context, s Server, a Stream[In], r In, w io.Writer) error {
	return s.Stream(ctx, string(a), r, w)
}

// Binding is an act with what carries it out: do, or write for a stream.
type Binding struct {
	name    string
	changes bool // files of the data directory
	do      admin.Act
	write   admin.Stream
	reads   func(json.RawMessage) bool // whether a request changes nothing
	shows   func(json.RawMessage) bool // whether a request asks only to be shown what an act would do
	about   func(json.RawMessage) string
}

// preview is a request that may ask only to be shown what an act would do.
type preview interface{ Previews() bool }

// Reading marks an act that changes nothing.
func (b Binding) Reading() Binding {
	b.reads = func(json.RawMessage) bool { return true }
	return b
}

// previews reports whether a request asks only to be shown what an act would do.
func previews[In any](request json.RawMessage) bool {
	r, err := decode[In](request)
	asked, ok := any(r).(preview)
	return err == nil && ok && asked.Previews()
}

// Changing marks an act that changes files of the data directory beside the store.
func (b Binding) Changing() Binding {
	b.changes = true
	return b
}

// If refuses the act while ready returns an error.
func (b Binding) If(ready func() error) Binding {
	do, write := b.do, b.write
	b.do = func(ctx context.Context, request json.RawMessage) (any, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		return do(ctx, request)
	}
	if write != nil {
		b.write = func(ctx context.Context, request json.RawMessage, w io.Writer) error {
			if err := ready(); err != nil {
				return err
			}
			return write(ctx, request, w)
		}
	}
	return b
}

// By binds an act to what carries it out.
func (a Act[In, Out]) By(do func(context.Context, In) (Out, error)) Binding {
	return Binding{name: string(a), reads: previews[In], shows: previews[In], about: aboutRequest[In], do: func(ctx context.Context, request json.RawMessage) (any, error) {
		r, err := decode[In](request)
		if err != nil {
			return nil, err
		}
		return do(ctx, r)
	}}
}

// By binds a stream to what writes it.
func (a Stream[In]) By(write func(context.Context, In, io.Writer) error) Binding {
	return Binding{name: string(a), reads: previews[In], shows: previews[In], about: aboutRequest[In], write: func(ctx context.Context, request json.RawMessage, w io.Writer) error {
		r, err := decode[In](request)
		if err != nil {
			return err
		}
		return write(ctx, r, w)
	}}
}

// decode reads a request. An unknown field is an error: client and server are of one version.
func decode[In any](request json.RawMessage) (r In, err error) {
	in := json.NewDecoder(bytes.NewReader(request))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("read the request: %v", err)}
	}
	return r, nil
}
