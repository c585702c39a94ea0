package account

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/traces"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// OpenRequests opens the request log, if calls are logged or were once: then its entries expire.
func (a *Account) OpenRequests(ctx context.Context, closing *space.Closers) (err error) {
	path := owner.RequestsPath(a.options.Dir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !a.options.LogRequests {
		return nil
	}
	if a.requests, err = requestlog.Open(requestlog.Options{Dir: path, Clock: a.options.Clock, Logger: a.options.Logger}); err != nil {
		return err
	}
	closing.Later("the request log", a.requests.Close)
	closing.Later("the expiry of the request log", space.Running(ctx, a.requests.Run))
	return nil
}

// logRequest adds a call to the request log. An operation is logged as the calls that it makes.
func (a *Account) logRequest(c tool.Done) {
	if a.requests == nil || !a.options.LogRequests || c.Tool.Name == operation.Name {
		return
	}
	r := c.Request
	e := requestlog.Entry{
		Time: a.options.Clock().UTC(), Agent: r.Caller.Agent, Key: r.Caller.Key, Client: r.Caller.Client, Family: c.Tool.Family, Tool: r.Tool,
		Branch: c.At.Branch, Namespace: c.At.Namespace, Arguments: r.Arguments, RequestID: r.RequestID, DryRun: r.DryRun,
		Outcome: outcome(c), Took: float64(c.Took) / float64(time.Millisecond),
	}
	if why := a.withheld(c); why != "" {
		e.Arguments, e.Withheld = nil, why
	}
	if c.Err == nil && c.Tool.Annotations.ReadOnly {
		e.Result = digestOf(c.Answer)
	}
	a.requests.Add(e)
}

func outcome(c tool.Done) string {
	if c.Err != nil {
		return string(tool.FailureOf(c.Err).Code)
	}
	return requestlog.Succeeded
}

// logCall writes to the server's log who called what and where. Keys of memories are not part of it: they may say as much as values.
func (a *Account) logCall(c tool.Done) {
	if !a.options.LogCalls {
		return
	}
	r := c.Request
	a.options.Logger.Info("call", "tool", r.Tool, "family", c.Tool.Family, "agent", r.Caller.Agent, "key", r.Caller.Key, "client", r.Caller.Client, "branch", c.At.Branch,
		"namespaces", namespaces(c), "reads", c.Tool.Annotations.ReadOnly, "outcome", outcome(c), "ms", c.Took.Milliseconds(), "request_id", r.RequestID, "dry_run", r.DryRun)
}

// namespaces are those that a call names, or the one where it was made.
func namespaces(c tool.Done) []string {
	var named struct {
		Namespace  string   `json:"namespace"`
		Namespaces []string `json:"namespaces"`
	}
	_ = json.Unmarshal(c.Request.Arguments, &named) // what it cannot read was refused
	if named.Namespace != "" {
		named.Namespaces = append(named.Namespaces, named.Namespace)
	}
	if len(named.Namespaces) == 0 {
		return []string{c.At.Namespace}
	}
	return named.Namespaces
}

// withheld returns why the arguments of a call must not reach the disk; empty: they may. A family that redacts what is stored does not
// see arguments, so none are kept while there is one.
func (a *Account) withheld(c tool.Done) string {
	if a.space.Families != nil && a.space.Families.MayRedact(context.Background(), c.Request.Arguments) {
		return "a family redacts what is stored"
	}
	if names := c.Tool.Secret(c.Request.Arguments); len(names) > 0 {
		return "secret: " + strings.Join(names, ", ")
	}
	return ""
}

// digestOf identifies an answer as memory_operation gives it.
func digestOf(answer tool.Answer) string {
	value := answer.Value
	if value == nil {
		value = answer.Structured
	}
	text, err := tool.Encode(value)
	if err != nil {
		return ""
	}
	return requestlog.Digest(text)
}

// Requests returns entries of the request log.
func (a *Account) Requests(q operator.RequestQuery) (operator.RequestPage, error) {
	if a.requests == nil {
		return operator.RequestPage{Page: requestlog.Page{Entries: []requestlog.Entry{}}}, nil
	}
	page, err := requestlog.Find(owner.RequestsPath(a.options.Dir), q)
	return operator.RequestPage{Logging: a.options.LogRequests, Page: page}, err
}

// Numbers returns what was counted.
func (a *Account) Numbers() ([]operator.Metric, error) { return a.metrics.Numbers() }

// Erase erases the entries of the request log that may have what is being purged.
func (a *Account) Erase(holds func(text []byte) bool) error {
	if a.requests == nil {
		return nil
	}
	erased, err := a.requests.Erase(holds)
	if erased > 0 {
		a.options.Logger.Info("purged from the request log", "entries", erased)
	}
	return err
}

// EraseNamed erases the entries of the request log that name what is purged, whether or not the store has it.
func (a *Account) EraseNamed(r operator.PurgeRequest) error {
	mentions := traces.New(r.Key)
	names := func(text string) bool { return text == r.Key || strings.HasSuffix(text, "#"+r.Key) } // the key, or an id
	return a.Erase(func(line []byte) bool {
		var e requestlog.Entry
		if json.Unmarshal(line, &e) != nil {
			return true
		}
		return r.Key != "" && (mentions.Find(line).Key || slices.ContainsFunc(jsontext.Strings(line), names)) || r.Family != "" && e.Family == r.Family ||
			r.Event != 0 && strings.HasSuffix(e.Tool, "log")
	})
}
