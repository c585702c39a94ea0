package trace

import "context"

// Recorder records spans: what a call leads to, and how long each part takes.
type Recorder interface {
	// Begin begins a span within that of the context, or of the client's trace. The returned context has its id as Parent.
	Begin(ctx context.Context, s Span) (context.Context, func(failure string))
}

// Span is what is recorded of a part of a call: names of ours, and never values.
type Span struct {
	Name   string // as in tools/call memory_store
	Tool   string // empty: none
	Family string // likewise
	Op     string // of the host, called by a guest
}

type recorderKey struct{}

// Recording returns a context in which spans are recorded; a nil recorder records none.
func Recording(ctx context.Context, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, recorderKey{}, r)
}

// Begin begins a span, if any are recorded. The caller ends it, with the code of what failed or nothing.
func Begin(ctx context.Context, s Span) (context.Context, func(failure string)) {
	r, _ := ctx.Value(recorderKey{}).(Recorder)
	if r == nil {
		return ctx, func(string) {}
	}
	return r.Begin(ctx, s)
}
