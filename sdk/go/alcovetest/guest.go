package alcovetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// placeholder is a module that does nothing: the family that runs natively has its manifest.
func placeholder() []byte {
	m := &asm.Module{}
	m.Memory(1)
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.I32(0)}))
	return m.Bytes()
}

// native is a family in the place of a module.
type native struct {
	guest Guest
	space *Space
}

// Close implements family.Guest.
func (n *native) Close() error { return nil }

// Call implements family.Guest.
func (n *native) Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	h := &host{ctx: ctx, space: n.space, host: r.Host}
	output, err := n.guest.Handle(h, alcove.Kind(r.Kind), r.Payload)
	result := &sandbox.Result{Class: abi.ClassOK, Output: output, HostCalls: h.calls}
	if err != nil {
		result.Class, result.Output, result.Error = abi.ClassError, nil, guestError(err)
	}
	n.space.ended(result)
	return result, nil
}

// guestError is an error of a handler as the host reads it of a guest.
func guestError(err error) *abi.Error {
	e := &abi.Error{Code: abi.CodeInternal, Message: err.Error()}
	var known *alcove.Error
	var refused *alcove.Refusal
	switch {
	case errors.As(err, &known):
		*e = abi.Error{Code: abi.Code(known.Code), Message: known.Message, Retryable: known.Retryable, Details: known.Details}
	case errors.As(err, &refused):
		*e = abi.Error{Code: abi.CodeDenied, Message: refused.Reason}
	}
	return e
}

// ended keeps what became of a request.
func (s *Space) ended(r *sandbox.Result) {
	s.last = r.Output
	if r.Error != nil {
		s.failed = asError(r.Error)
	}
}

// packedModule is a module whose calls of the host are seen by the space.
type packedModule struct {
	*sandbox.Module
	space *Space
}

// Call implements family.Guest.
func (p *packedModule) Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	if r.Host != nil {
		r.Host = observedHost{p.space, r.Host}
	}
	result, err := p.Module.Call(ctx, r)
	if err == nil {
		p.space.ended(result)
	}
	return result, err
}

// observedHost is a host whose operations the space sees, and may have instead.
type observedHost struct {
	space *Space
	host  sandbox.Host
}

// Call implements sandbox.Host.
func (h observedHost) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	s := h.space
	s.Calls = append(s.Calls, alcove.Op(op))
	instead := s.Ops[alcove.Op(op)]
	if instead == nil {
		if h.host == nil {
			return nil, &abi.Error{Code: abi.CodeDenied, Message: "this request may call no operation"}
		}
		answer, err := h.host.Call(ctx, op, request)
		if err == nil && op == abi.OpCallerProgress {
			s.progressed(request)
		}
		return answer, err
	}
	answer, err := instead(request)
	if err != nil {
		return nil, guestError(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", op, err)
	}
	return data, nil
}

// progressed keeps what the family tells of how far it has come.
func (s *Space) progressed(request []byte) {
	var p abi.CallerProgressRequest
	if json.Unmarshal(request, &p) == nil { // the host has read it
		s.Progress = append(s.Progress, fmt.Sprintf("%s/%s %s", plain(p.Done), plain(p.Total), p.Message))
	}
}

// plain is a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// host is what the calls of a native family reach.
type host struct {
	ctx   context.Context
	space *Space
	host  sandbox.Host
	calls int64
}

// Log implements alcove.Host.
func (h *host) Log(line string) { h.space.Logged = append(h.space.Logged, line) }

// Call implements alcove.Host.
func (h *host) Call(op alcove.Op, request []byte) ([]byte, error) {
	h.calls++
	answer, err := observedHost{h.space, h.host}.Call(h.ctx, abi.Op(op), request)
	var known *abi.Error
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &known):
		return nil, asError(known)
	}
	return nil, alcove.Errorf(alcove.Internal, "the operation failed in the host: %v", err)
}

// lines are the lines that a module logs.
type lines struct {
	slog.Handler
	space *Space
}

// Enabled implements slog.Handler.
func (lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l lines) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "line" {
			l.space.Logged = append(l.space.Logged, a.Value.String())
		}
		return true
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (l lines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l lines) WithGroup(string) slog.Handler { return l }
