package family

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// Completion is what a language model is asked.
type Completion struct {
	System      string  `json:"system"`
	Prompt      string  `json:"prompt"`
	MaxTokens   int     `json:"max_tokens"` // 0: as the model has it
	Temperature float64 `json:"temperature"`
	JSON        bool    `json:"json"` // the answer is to be a JSON object
}

// Completed is what it answered.
type Completed struct {
	Text      string `json:"text"`
	Model     string `json:"model"`
	TokensIn  int    `json:"tokens_in"`
	TokensOut int    `json:"tokens_out"`
}

// Fetch is a request to an endpoint.
type Fetch struct {
	Method  string            `json:"method"` // empty: GET
	Path    string            `json:"path"`   // below the endpoint's URL
	Query   map[string]string `json:"query"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Fetched is the response.
type Fetched struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// endpoint is one that the operator named, of some kinds, if the family may reach it. Without a name it is the only one that
// the family may reach.
func (w *work) endpoint(c abi.Capability, name string, kinds ...string) (registry.Endpoint, error) {
	w.families.mu.RLock()
	defer w.families.mu.RUnlock()
	var fit []string
	for _, each := range slices.Sorted(maps.Keys(w.families.lock.Endpoints)) {
		if slices.Contains(kinds, w.families.lock.Endpoints[each].Kind) && w.powers.Allows(c, each) {
			fit = append(fit, each)
		}
	}
	if name == "" && len(fit) == 1 {
		name = fit[0]
	}
	if name != "" && slices.Contains(fit, name) && w.families.o.Outside != nil {
		return w.families.lock.Endpoints[name], nil
	}
	if name != "" && !w.powers.Allows(c, name) {
		return registry.Endpoint{}, w.powers.Check(c, name)
	}
	message := fmt.Sprintf("no endpoint of the kind %s is configured that this family may reach: an operator can add one, with alcove endpoint add, and grant it", strings.Join(kinds, " or "))
	if len(fit) > 0 {
		message = fmt.Sprintf("say which endpoint: there are %s", strings.Join(fit, ", "))
	}
	return registry.Endpoint{}, &abi.Error{Code: abi.CodeUnavailable, Message: message}
}

type llmRequest struct {
	Completion
	Endpoint string `json:"endpoint"`
}

func llmComplete(w *work, ctx context.Context, r llmRequest) (any, error) {
	if r.Prompt == "" {
		return nil, invalid("the prompt is empty")
	}
	e, err := w.endpoint(abi.CanLLM, r.Endpoint, "openai", "ollama")
	if err != nil {
		return nil, err
	}
	answer, err := w.families.o.Outside.Complete(ctx, e, r.Completion)
	return outside(w, answer, err)
}

type fetchRequest struct {
	Fetch
	Endpoint string `json:"endpoint"`
}

func httpFetch(w *work, ctx context.Context, r fetchRequest) (any, error) {
	e, err := w.endpoint(abi.CanHTTP, r.Endpoint, "http")
	if err != nil {
		return nil, err
	}
	if w.caller.ReadOnly && r.Method != "" && r.Method != "GET" && r.Method != "HEAD" {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "only GET and HEAD are allowed, because whoever called may only read"}
	}
	answer, err := w.families.o.Outside.Fetch(ctx, e, r.Fetch)
	return outside(w, answer, err)
}

// outside is an answer from outside, whose failures are no faults of the server.
func outside[T any](w *work, answer T, err error) (any, error) {
	if err == nil {
		return answer, nil
	}
	if known := asABI(err); known != err {
		return nil, known
	}
	var told interface{ Cause() error }
	if errors.As(err, &told) {
		w.families.o.Logger.Warn("an endpoint failed", "family", w.family.name, "error", err, "cause", told.Cause())
	}
	return nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: err.Error()}
}
