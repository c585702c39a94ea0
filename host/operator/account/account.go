// Package account accounts for what clients called and were refused: it counts, keeps calls in the request log, and reports refusals.
package account

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/metrics"
	"github.com/alcove-memory/alcove/host/operator/refusals"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// Options say what calls are accounted to.
type Options struct {
	Dir         string // the data directory
	Version     string // of the program
	LogRequests bool   // keep calls in the request log
	LogCalls    bool   // write calls to Logger, without values
	Clock       func() time.Time
	Logger      *slog.Logger
}

// Account counts calls and refusals. Serve gives it the space before the first call.
type Account struct {
	options  Options
	metrics  *metrics.Metrics
	refusals *refusals.Account
	requests *requestlog.Log // nil: none
	sessions *sessions.Sessions
	space    *space.Space
}

// New returns an account of calls.
func New(o Options) *Account {
	a := &Account{options: o, space: &space.Space{}}
	a.metrics = metrics.New(o.Version, func() bool { return a.space.Locked() })
	a.refusals = refusals.New(refusals.Options{Report: a.report, Clock: o.Clock})
	return a
}

// Metrics are what is counted.
func (a *Account) Metrics() *metrics.Metrics { return a.metrics }

// Of has the account for an open space and its clients' sessions.
func (a *Account) Of(p *space.Space, clients *sessions.Sessions) { a.space, a.sessions = p, clients }

// Run reports refusals until ctx ends.
func (a *Account) Run(ctx context.Context) { a.refusals.Run(ctx) }

// Called accounts for a call that was made.
func (a *Account) Called(c tool.Done) {
	a.metrics.Count(c)
	if c.Tool.Name != operation.Name { // its operations count
		a.sessions.Visited(c.Request.Caller, c.At)
	}
	a.logCall(c)
	a.logRequest(c)
	if a.space.Usage != nil {
		a.space.Usage.Count(c.Request.Caller.Agent, c.Tool.Name, c.Tool.Alias(c.Request), c.Err != nil)
	}
}

// RefusedRequest records an HTTP request that was not admitted.
func (a *Account) RefusedRequest(r *http.Request, err error) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	a.NotAdmitted(from, err)
}

// NotAdmitted records a client that was not admitted.
func (a *Account) NotAdmitted(from string, err error) {
	r := refusals.Refusal{From: from}
	var known *memory.Error
	if errors.As(err, &known) {
		r.Rule = known.Rule
	}
	if r.Rule == "" {
		r.Rule, _, _ = strings.Cut(err.Error(), ":")
	}
	var of keys.HolderError
	if errors.As(err, &of) {
		r.Key, r.Agent = of.Key.ID, of.Key.Agent
	}
	a.metrics.CountRefusal(metrics.NotAdmitted)
	a.refusals.Add(r)
}

// Refused records a call that a right or a quota did not permit.
func (a *Account) Refused(r tool.Refused) {
	reason, who := metrics.Denied, r.Request.Caller
	if r.Err.Code == memory.Exhausted {
		reason = metrics.Quota
	}
	at, _ := r.Err.Details["namespace"].(string)
	a.metrics.CountRefusal(reason)
	a.refusals.Add(refusals.Refusal{Key: who.Key, Agent: who.Agent, Namespace: at, Family: r.Family, Work: "tool " + r.Tool, Rule: r.Rule})
}

// Exceeded records a call beyond a limit of its key.
func (a *Account) Exceeded(key keys.Key, limit string) {
	a.metrics.CountRefusal(metrics.Rate)
	a.refusals.Add(refusals.Refusal{Key: key.ID, Agent: key.Agent, Rule: "limit " + limit})
}

// report adds refusals to the audit log, or, where there is none, to the server's.
func (a *Account) report(r refusals.Report) {
	op := "connect"
	if r.From == "" {
		op = "call"
	}
	if a.space.Audit == nil {
		a.options.Logger.Warn("a client was refused", "op", op, "agent", r.Agent, "key", r.Key, "from", r.From, "namespace", r.Namespace, "work", r.Work, "rule", r.Rule, "count", r.Count)
		return
	}
	e := audit.Entry{Kind: audit.Denied, Agent: r.Agent, Key: r.Key, Client: r.From, Namespace: r.Namespace, Family: r.Family, Work: r.Work,
		Denied: []audit.Denial{{Op: op, Rule: r.Rule, Count: r.Count}}}
	if r.Count > 1 {
		e.Detail = "since " + r.Since.UTC().Format(time.RFC3339)
	}
	a.space.Audit.Add(e)
}
