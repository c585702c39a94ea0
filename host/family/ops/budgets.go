package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/registry"
)

// Budget is what an operator allows a family at endpoints.
type Budget interface {
	// Limit returns the budget of a name, of those in registry.Budgets; 0: there is none.
	Limit(name string) int64
	// Methods returns the allowed methods; empty: all.
	Methods() []string
	// Spend spends an amount of a budget before it is used. correct replaces it by the amount that was used; it need not be called.
	Spend(name string, amount int64) (correct func(used int64), err error)
}

// budgetNames are the budgets of an operation.
type budgetNames struct{ calls, request, response, ms string }

var (
	httpBudgets = budgetNames{registry.HTTPCallsMinute, registry.HTTPRequestBytes, registry.HTTPResponseBytes, registry.HTTPMS}
	llmBudgets  = budgetNames{registry.LLMCallsMinute, registry.LLMRequestBytes, registry.LLMResponseBytes, registry.LLMMS}
)

// bounds are the budgets of one call of an operation.
type bounds struct {
	budgetNames
	family string
	advice policy.Advice
	Budget
}

func (call *Call) bounds(n budgetNames) bounds {
	b := call.Budget
	if b == nil {
		b = noBudget{}
	}
	return bounds{n, call.Manifest.Name, call.Powers.Advice(), b}
}

// noBudget is the Budget of families without one.
type noBudget struct{}

func (noBudget) Limit(string) int64                            { return 0 }
func (noBudget) Methods() []string                             { return nil }
func (noBudget) Spend(string, int64) (func(used int64), error) { return func(int64) {}, nil }

func (b bounds) exhausted(name string, limit int64, what string) *abi.Error {
	return &abi.Error{Code: abi.CodeExhausted, Details: map[string]any{"limit": name, "value": limit},
		Message: fmt.Sprintf("%s, and family %s has %s=%d: %s", what, b.family, name, limit, b.advice.Grant("raise it", b.family, "--limit", name+"=N"))}
}

// method refuses methods that the operator did not allow.
func (b bounds) method(m string) error {
	allowed, m := b.Methods(), cmp.Or(m, "GET")
	if len(allowed) == 0 || slices.Contains(allowed, m) {
		return nil
	}
	all := fmt.Sprintf("%s,%.16s", strings.Join(allowed, ","), m)
	return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("family %s may send %s to endpoints, not %.16s: %s",
		b.family, strings.Join(allowed, ", "), m, b.advice.Grant("allow it", b.family, "--http-methods", all))}
}

// request refuses requests that are too large.
func (b bounds) request(bytes int) error {
	if most := b.Limit(b.budgetNames.request); most > 0 && int64(bytes) > most {
		return b.exhausted(b.budgetNames.request, most, fmt.Sprintf("the request has %d bytes", bytes))
	}
	return nil
}

func sizeOf(r abi.HTTPFetchRequest) int {
	n := len(r.Path) + len(r.Body)
	for name, value := range r.Headers {
		n += len(name) + len(value)
	}
	for name, value := range r.Query {
		n += len(name) + len(value)
	}
	return n
}

// answering bounds what an endpoint may answer.
func (b bounds) answering(e registry.Endpoint) registry.Endpoint {
	if most := b.Limit(b.response); most > 0 && (e.AnswerBytes == 0 || most < e.AnswerBytes) {
		e.AnswerBytes = most
	}
	return e
}

// paced counts a request right before it is sent.
func (b bounds) paced(leave Leaving) Leaving {
	return func(ctx context.Context) error {
		if _, err := b.Spend(b.calls, 1); err != nil {
			return err
		}
		return leave(ctx)
	}
}

// timed bounds the time of a call.
func (b bounds) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	ms := b.Limit(b.ms)
	if ms <= 0 || ms > int64(24*time.Hour/time.Millisecond) {
		return ctx, func() {}
	}
	late := b.exhausted(b.ms, ms, "the endpoint did not answer in time")
	late.Code, late.Retryable = abi.CodeTimeout, true
	return context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, late)
}

// failed names the budget by which a request failed; told is what the guest learns otherwise.
func (b bounds) failed(ctx context.Context, err, told error) error {
	var late *abi.Error
	var long interface{ TooLong() int64 }
	switch {
	case err == nil:
	case errors.As(context.Cause(ctx), &late):
		return late
	case errors.As(err, &long) && long.TooLong() == b.Limit(b.response):
		return b.exhausted(b.response, long.TooLong(), err.Error())
	}
	return told
}

const (
	mostAnswered  = 4096 // tokens of an answer that a budget is asked for if the family does not say how many
	messageTokens = 64   // that a language model's template adds to a request at most
)

// tokens spends the most that a completion may take: a token has a byte at least. It bounds the answer by it.
func (b bounds) tokens(r *abi.LLMCompleteRequest) (correct func(used int64), err error) {
	most := b.Limit(registry.LLMTokensDay)
	if most <= 0 {
		return func(int64) {}, nil
	}
	if r.MaxTokens < 0 {
		return nil, invalid("max_tokens is below 0")
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = int(min(mostAnswered, max(1, most/4)))
	}
	return b.Spend(registry.LLMTokensDay, int64(len(r.Prompt)+len(r.System))+messageTokens+int64(r.MaxTokens))
}

// tokensOf returns what a completion took. Where the endpoint does not say, it is the most that it may have been.
func tokensOf(r abi.LLMCompleteRequest, answer abi.LLMCompleteResponse) int64 {
	in, out := int64(answer.TokensIn), int64(answer.TokensOut)
	if in <= 0 {
		in = int64(len(r.Prompt)+len(r.System)) + messageTokens
	}
	if out <= 0 {
		out = int64(len(answer.Text))
	}
	if in+out < 0 {
		return 1 << 62
	}
	return in + out
}
