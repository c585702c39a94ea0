package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// nested is how deep the JSON of a damaged request is.
const nested = 1000

// unknownKind is none of the ABI's.
const unknownKind abi.Kind = 250

// kindNames are the kinds of requests as SPEC names them.
var kindNames = map[abi.Kind]string{abi.KindTool: "tool requests", abi.KindHook: "hook requests", abi.KindScore: "score requests", abi.KindEmbed: "embed requests"}

// ask sends a request that may call no operation.
func (t *test) ask(ctx context.Context, kind abi.Kind, payload []byte) (*sandbox.Result, error) {
	return t.guests.ask(ctx, sandbox.Request{Kind: kind, Payload: payload})
}

// damaged checks that requests which no host sends are refused, and are not the guest's end.
func (t *test) damaged(ctx context.Context, kind abi.Kind) {
	c := Check{Name: "damaged requests", Subject: kindNames[kind]}
	for _, request := range t.guests.kept(kind)[:1] {
		for name, payload := range t.damages(request) {
			c.Cases++
			if r, err := t.ask(ctx, kind, payload); err != nil {
				c.problem(shown(name, payload), err.Error())
			} else if f := fault(r); f != "" {
				c.problem(shown(name, payload), f)
			}
		}
		c.Cases++
		if r, err := t.ask(ctx, unknownKind, request); err != nil {
			c.problem("an unknown kind", err.Error())
		} else if r.Class != abi.ClassError {
			c.problem("an unknown kind", fmt.Sprintf("it ended with class %s, not with an error of its own", r.Class))
		}
	}
	t.done(c)
}

// shown is a damaged request with what was done to it.
func shown(name string, request []byte) string {
	return name + ": " + strings.ToValidUTF8(string(request), "\ufffd")
}

// sent is where a request has what a caller sends, of which the host checks no more than the form: the arguments of a tool, the memories of
// a hook, the payload of a job, the texts to embed. The rest, such as context.now, is the host's, and a family may rely on it.
func sent(request []byte) (from, to int) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(request, &fields) != nil {
		return 0, 0
	}
	for _, name := range []string{"arguments", "entries", "payload", "texts"} {
		member := append([]byte(`"`+name+`":`), fields[name]...)
		if at := bytes.Index(request, member); at >= 0 && fields[name] != nil {
			return at + len(member) - len(fields[name]), at + len(member)
		}
	}
	return 0, 0
}

// damages are broken forms of a request, by what was done to it. Single bytes are broken only in what a caller sends.
func (t *test) damages(request []byte) map[string][]byte {
	random := rand.New(rand.NewPCG(t.Seed, 2))
	from, to := sent(request)
	all := map[string][]byte{
		"no bytes":        {},
		"null":            []byte("null"),
		"deep nesting":    append(bytes.Repeat([]byte(`{"arguments":[`), nested), bytes.Repeat([]byte("]}"), nested)...),
		"no end of array": bytes.Repeat([]byte("["), nested),
		"more after it":   append(bytes.Clone(request), request...),
	}
	for i := range 4 {
		cut := random.IntN(max(len(request), 1))
		all[fmt.Sprintf("cut after %d bytes", cut)] = request[:cut]
		if to > from {
			flipped := bytes.Clone(request)
			at := from + random.IntN(to-from)
			flipped[at] ^= 1 << (i + 3)
			all[fmt.Sprintf("bit %d of byte %d flipped", i+3, at)] = flipped
		}
	}
	if at := bytes.IndexByte(request[from:to], '"'); at >= 0 {
		at += from
		all["bytes that are not UTF-8"] = append(append(bytes.Clone(request[:at+1]), 0xff, 0xc0, 0x80), request[at+1:]...)
		all["half a surrogate pair"] = append(append(bytes.Clone(request[:at+1]), `\ud800`...), request[at+1:]...)
	}
	return all
}

// cancelled checks that a request which was given up leaves nothing to the next one.
func (t *test) cancelled(ctx context.Context, kind abi.Kind) {
	c := Check{Name: "cancellation", Subject: kindNames[kind]}
	for i, request := range t.guests.kept(kind) {
		c.Cases++
		before, err := t.ask(ctx, kind, request)
		if err != nil {
			c.problem(name(i), err.Error())
			continue
		}
		over, cancel := context.WithCancel(ctx)
		t.guests.ask(over, sandbox.Request{Kind: kind, Payload: request, Host: cancellingHost(cancel)}) // its outcome is nobody's
		cancel()
		if after, err := t.ask(ctx, kind, request); err != nil {
			c.problem(name(i), err.Error())
		} else if difference(before, after) != "" {
			c.problem(name(i), "after a request that was cancelled, it "+difference(before, after))
		}
	}
	t.done(c)
}

// cancellingHost is a host whose caller gives up at the first operation.
type cancellingHost context.CancelFunc

// Call implements sandbox.Host.
func (l cancellingHost) Call(ctx context.Context, _ abi.Op, _ []byte) ([]byte, error) {
	l()
	return nil, context.Cause(ctx)
}

// repeated checks that equal requests have equal answers, whatever came between.
func (t *test) repeated(ctx context.Context, kind abi.Kind) {
	c := Check{Name: "no state", Subject: kindNames[kind]}
	requests := t.guests.kept(kind)
	first := make([]*sandbox.Result, len(requests))
	for i, request := range requests {
		first[i], _ = t.ask(ctx, kind, request)
	}
	for i, request := range requests {
		c.Cases++
		again, err := t.ask(ctx, kind, request)
		switch {
		case err != nil:
			c.problem(name(i), err.Error())
		case first[i] != nil && difference(first[i], again) != "":
			c.problem(name(i), "asked twice, it "+difference(first[i], again)+": it keeps state, or uses randomness or the clock instead of context.now")
		}
	}
	t.done(c)
}

func name(request int) string { return fmt.Sprintf("request %d", request+1) }

// difference says how two outcomes differ; empty: not at all.
func difference(a, b *sandbox.Result) string {
	switch {
	case a.Class != b.Class:
		return fmt.Sprintf("ended with class %s instead of %s", b.Class, a.Class)
	case !bytes.Equal(a.Output, b.Output):
		return fmt.Sprintf("answered %.100q instead of %.100q", b.Output, a.Output)
	case a.Error != nil && a.Error.Error() != b.Error.Error():
		return fmt.Sprintf("failed with %q instead of %q", b.Error.Error(), a.Error.Error())
	}
	return ""
}
