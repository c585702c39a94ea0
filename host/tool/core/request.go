package core

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// declared completes the specification of a tool with the parameters that R declares, and the function that serves a call.
func declared[R any](k *kit, s tool.Spec, run func(context.Context, *call, R) (tool.Answer, error)) tool.Spec {
	d := request.Declare[R]()
	s.Input, s.Parameters, s.Lenient = d.Input, d.Spellings, true
	s.Handler = func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
		r := d.Read(c.Arguments, begun[R](c))
		if err := c.Arguments.Err(); err != nil {
			return tool.Answer{}, err
		}
		return run(ctx, &call{c, k}, r)
	}
	return s
}

// dated is a request whose moments are not counted from its call.
type dated interface {
	begun(a *request.Arguments, now time.Time) time.Time
}

// begun returns the time from which the moments in a request are counted.
func begun[R any](c *tool.Call) time.Time {
	if r, ok := any(new(R)).(dated); ok {
		return r.begun(c.Arguments, c.Now)
	}
	return c.Now
}

// location returns the branch and namespace that the call accesses, of which its parameters may name some.
func (c *call) location(namespace, branch string) memory.Location {
	p := c.Location()
	return memory.Location{Branch: cmp.Or(branch, p.Branch), Namespace: cmp.Or(namespace, p.Namespace)}
}

// namespaces returns the namespaces that the call is limited to, of which its parameters may name some; nil: all.
func (c *call) namespaces(given []string) []string {
	if given != nil || c.Namespace == "" {
		return given
	}
	return []string{c.Namespace}
}

// project returns the project that searches of the call keep to: the session's, unless the call says where to search.
func (c *call) project(given []string) string {
	p := c.Session.Project()
	if p == "" || given != nil || c.Namespace != "" || c.Stage != nil || !c.access().Caller().Rights.MayRead(p) {
		return ""
	}
	return p
}

// preferred returns the namespace whose hits go first where scores are nearly the same: of the project that searches keep to, or the first
// project that the call names among other namespaces.
func (c *call) preferred(given []string) string {
	for _, name := range given {
		if len(given) > 1 && strings.HasPrefix(name, projects) && !strings.HasSuffix(name, memory.AllNamespaces) {
			return name
		}
	}
	return c.project(given)
}

// projects is what the namespaces of projects begin with.
const projects = "project/"

// checkNamespaces records the mistakes in a list of namespaces.
func checkNamespaces(a *request.Arguments, given []string) {
	if err := memory.CheckAsked(given); err != nil {
		a.Fault("namespace", err.Error())
	}
}

// asOf is a moment in the past, or a version.
type asOf struct{ memory.AsOf }

func (at *asOf) ReadArgument(raw json.RawMessage, now time.Time) (err error) {
	at.AsOf, err = parsed(raw, now, memory.ParseAsOf)
	return err
}

// moment is an instant, expiry one in the future.
type moment struct{ time.Time }

func (m *moment) ReadArgument(raw json.RawMessage, now time.Time) (err error) {
	m.Time, err = parsed(raw, now, memory.ParseTime)
	return err
}

type expiry struct{ time.Time }

func (e *expiry) ReadArgument(raw json.RawMessage, now time.Time) (err error) {
	e.Time, err = parsed(raw, now, memory.ParseExpiry)
	return err
}

func parsed[T any](raw json.RawMessage, now time.Time, parse func(string, time.Time) (T, error)) (t T, err error) {
	text, ok := request.Text(raw)
	if !ok {
		return t, request.Expected("text")
	}
	return parse(text, now)
}

// longestTTL is the maximum ttl given as a number, in seconds.
const longestTTL = 100 * 365 * 24 * 60 * 60

// ttl is an expiry, or a number of seconds.
type ttl struct{ expiry }

func (t *ttl) ReadArgument(raw json.RawMessage, now time.Time) error {
	if strings.ContainsAny(string(raw), "abcdefghijklmnopqrstuvwxyz") { // a span, not a number
		return t.expiry.ReadArgument(raw, now)
	}
	seconds, err := request.Within(raw, 1, longestTTL)
	t.Time = now.UTC().Add(time.Duration(seconds) * time.Second)
	return err
}

// version is a version, such as 12 or "v12". A pointer to one is nil if none is given.
type version uint64

func (v *version) ReadArgument(raw json.RawMessage, _ time.Time) error {
	text, ok := request.Text(raw)
	n, whole := request.Whole(json.RawMessage(strings.TrimPrefix(text, "v")))
	if !ok || !whole || n < 0 {
		return request.Expected("a version, such as 12 (0: only if there is none)")
	}
	*v = version(n)
	return nil
}
