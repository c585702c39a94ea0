package ops

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/registry"
)

// hasEffect reports whether a request of a method may change something at its target.
func hasEffect(method string) bool { return method != "" && method != "GET" && method != "HEAD" }

// endpoint returns an endpoint that the operator named, of one of the kinds, if the family may reach it, and its name. Without a name it
// is the only one that the family may reach.
func (call *Call) endpoint(c abi.Capability, name string, kinds ...string) (string, registry.Endpoint, error) {
	endpoints := map[string]registry.Endpoint{}
	if call.host.Endpoints != nil {
		endpoints = call.host.Endpoints()
	}
	var reachable []string
	for _, each := range slices.Sorted(maps.Keys(endpoints)) {
		if slices.Contains(kinds, endpoints[each].Kind) && call.Powers.Allows(c, each) {
			reachable = append(reachable, each)
		}
	}
	if name == "" && len(reachable) == 1 {
		name = reachable[0]
	}
	if name != "" && slices.Contains(reachable, name) && call.host.Outside != nil {
		return name, endpoints[name], nil
	}
	if name != "" && !call.Powers.Allows(c, name) {
		return "", registry.Endpoint{}, call.Powers.Check(c, name)
	}
	message := fmt.Sprintf("no endpoint of the kind %s is configured that this family may reach: %s", strings.Join(kinds, " or "), call.Powers.Advice().Run("add one, and grant it", "alcove endpoint add"))
	if len(reachable) > 0 {
		message = fmt.Sprintf("say which endpoint: there are %s", strings.Join(reachable, ", "))
	}
	return "", registry.Endpoint{}, &abi.Error{Code: abi.CodeUnavailable, Message: message}
}

func llmComplete(call *Call, ctx context.Context, r abi.LLMCompleteRequest) (answer abi.LLMCompleteResponse, err error) {
	if r.Prompt == "" {
		return answer, invalid("the prompt is empty")
	}
	name, e, err := call.endpoint(abi.CanLLM, r.Endpoint, "openai", "ollama")
	if err != nil {
		return answer, err
	}
	b := call.bounds(llmBudgets)
	if err := b.request(len(r.Prompt) + len(r.System)); err != nil {
		return answer, err
	}
	correct, err := b.tokens(&r)
	if err != nil {
		return answer, err
	}
	ctx, cancel := b.timed(ctx)
	defer cancel()
	out := outsideRequest{what: "llm.complete " + name} // it costs money
	answer, err = call.host.Outside.Complete(ctx, b.answering(e), r, b.paced(out.leave))
	out.ended("answered", err)
	if err == nil {
		correct(tokensOf(r, answer))
	} else if !out.sent {
		correct(0)
	}
	return answer, out.outcome(b.failed(ctx, err, call.outside(err)))
}

func httpFetch(call *Call, ctx context.Context, r abi.HTTPFetchRequest) (answer abi.HTTPFetchResponse, err error) {
	name, e, err := call.endpoint(abi.CanHTTP, r.Endpoint, "http")
	if err != nil {
		return answer, err
	}
	b := call.bounds(httpBudgets)
	if err := b.method(r.Method); err != nil {
		return answer, err
	}
	if r.Base64 {
		body, err := base64.StdEncoding.DecodeString(r.Body)
		if err != nil {
			return answer, invalid("the body is not base64: %v", err)
		}
		r.Body = string(body)
	}
	if err := b.request(sizeOf(r)); err != nil {
		return answer, err
	}
	ctx, cancel := b.timed(ctx)
	defer cancel()
	e = b.answering(e)
	if !hasEffect(r.Method) {
		answer, err = call.host.Outside.Fetch(ctx, e, r, b.paced(func(context.Context) error { return nil }))
		return answer, b.failed(ctx, err, call.outside(err))
	}
	if call.Caller.Rights.WritesNothing() {
		return answer, &abi.Error{Code: abi.CodeDenied, Message: "only GET and HEAD are allowed to callers that may only read"}
	}
	out := outsideRequest{what: fmt.Sprintf("%s %s/%s", r.Method, name, shownPath(r.Path))}
	if r.Repeatable {
		answer, err = call.host.Outside.Fetch(ctx, e, r, b.paced(func(ctx context.Context) error { return effect.Of(ctx).Harmless(out.what) }))
		return answer, b.failed(ctx, err, call.outside(err))
	}
	answer, err = call.host.Outside.Fetch(ctx, e, r, b.paced(out.leave))
	out.ended(fmt.Sprintf("answered %d", answer.Status), err)
	return answer, out.outcome(b.failed(ctx, err, call.outside(err)))
}

// longestPath bounds a request's path as kept and shown, in characters.
const longestPath = 200

// shownPath shortens a path for display, without control characters. It has no query, which often holds secrets.
func shownPath(path string) string {
	path = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.TrimPrefix(path, "/"))
	if runes := []rune(path); len(runes) > longestPath {
		return string(runes[:longestPath-1]) + "…"
	}
	return path
}

// outsideRequest is a request with an external effect.
type outsideRequest struct {
	what   string
	effect *effect.Effect // nil: not sent
	sent   bool           // it was sent, and may have had its effect
}

// leave records the effect. Repeated attempts of one request are the same effect: earlier ones had none.
func (o *outsideRequest) leave(ctx context.Context) (err error) {
	if o.effect == nil {
		o.effect, err = effect.Of(ctx).Begin(ctx, o.what)
	}
	return err
}

// ended records its outcome.
func (o *outsideRequest) ended(how string, err error) {
	var told interface{ NoEffect() bool }
	switch {
	case o.effect == nil:
	case err == nil:
		o.effect.Answered(how)
	case errors.As(err, &told) && told.NoEffect():
		o.effect.Averted()
	default:
		o.sent = true
	}
}

// outcome returns an error for the guest: not retryable if the request may have had its effect.
func (o *outsideRequest) outcome(err error) error {
	var known *abi.Error
	if !o.sent || !errors.As(err, &known) || !known.Retryable {
		return err
	}
	final := *known
	final.Retryable = false
	return &final
}

// outside converts a failure of an endpoint for the guest: no fault of the server.
func (call *Call) outside(err error) error {
	if err == nil {
		return nil
	}
	if known := asABI(err); known != err {
		return known
	}
	var already *abi.Error
	if errors.As(err, &already) {
		return already // a budget's
	}
	var told interface{ Cause() error }
	if errors.As(err, &told) {
		call.host.Logger.Warn("an endpoint failed", "family", call.Manifest.Name, "error", err, "cause", told.Cause())
	}
	return &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: err.Error()}
}
