// Package trace carries the W3C trace context of a call, so that logs and requests that it leads to tell which trace they belong to.
package trace

import (
	"context"
	"log/slog"
	"strings"
)

// Header is the name of the HTTP header, and of the member of _meta, that has a trace context.
const Header = "traceparent"

// Parent is a trace context, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01. The zero Parent is none.
type Parent struct{ text string }

// Parse reads a trace context of version 00; ok is false if it is none.
func Parse(text string) (p Parent, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) != 4 || parts[0] != "00" || !hexadecimal(parts[1], 32) || !hexadecimal(parts[2], 16) || !hexadecimal(parts[3], 2) {
		return Parent{}, false
	}
	return Parent{text}, strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

// hexadecimal reports whether a text is a number of n lower-case digits.
func hexadecimal(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789abcdef") == ""
}

func (p Parent) String() string { return p.text }

// Trace returns the id of the trace; empty: there is none.
func (p Parent) Trace() string { return p.part(1) }

// Span returns the id of the caller's span.
func (p Parent) Span() string { return p.part(2) }

// Sampled reports whether the caller records the trace.
func (p Parent) Sampled() bool {
	flags := p.part(3)
	return flags != "" && strings.ContainsAny(flags[1:], "13579bdf")
}

func (p Parent) part(i int) string {
	if p.text == "" {
		return ""
	}
	return strings.Split(p.text, "-")[i]
}

type key struct{}

// With returns a context with a trace context.
func With(ctx context.Context, p Parent) context.Context {
	if p.text == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, p)
}

// Of returns the trace context of a context.
func Of(ctx context.Context) Parent {
	p, _ := ctx.Value(key{}).(Parent)
	return p
}

// Logging returns a handler that adds trace_id and span_id to what is logged in the context of a call.
func Logging(h slog.Handler) slog.Handler { return handler{h} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if p := Of(ctx); p.text != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", p.Trace()), slog.String("span_id", p.Span()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
