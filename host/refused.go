package host

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/operator/metrics"
	"github.com/alcove-memory/alcove/host/operator/refusals"
	"github.com/alcove-memory/alcove/host/tool"
)

// notAdmitted returns the error for a client that is not admitted, by a rule.
func notAdmitted(rule, message string) error {
	return &memory.Error{Code: memory.Denied, Rule: rule, Message: message}
}

// keyError is why a key does not admit its holder.
type keyError struct {
	error
	key keys.Key // zero: it was never issued
}

// Unwrap returns the error that the holder is told.
func (e keyError) Unwrap() error { return e.error }

// refusedRequest records an HTTP request that admitBearer refused.
func (h *Host) refusedRequest(r *http.Request, err error) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	h.notAdmitted(from, err)
}

// notAdmitted records a client that was not admitted.
func (h *Host) notAdmitted(from string, err error) {
	r := refusals.Refusal{From: from}
	var known *memory.Error
	if errors.As(err, &known) {
		r.Rule = known.Rule
	}
	if r.Rule == "" {
		r.Rule, _, _ = strings.Cut(err.Error(), ":")
	}
	var of keyError
	if errors.As(err, &of) {
		r.Key, r.Agent = of.key.ID, of.key.Agent
	}
	h.metrics.CountRefusal(metrics.NotAdmitted)
	h.refusals.Add(r)
}

// refused records a call that a right or a quota did not permit.
func (h *Host) refused(r tool.Refused) {
	reason, who := metrics.Denied, r.Request.Caller
	if r.Err.Code == memory.Exhausted {
		reason = metrics.Quota
	}
	at, _ := r.Err.Details["namespace"].(string)
	h.metrics.CountRefusal(reason)
	h.refusals.Add(refusals.Refusal{Key: who.Key, Agent: who.Agent, Namespace: at, Family: r.Family, Work: "tool " + r.Tool, Rule: r.Rule})
}

// exceeded records a call beyond a limit of its key.
func (h *Host) exceeded(key keys.Key, limit string) {
	h.metrics.CountRefusal(metrics.Rate)
	h.refusals.Add(refusals.Refusal{Key: key.ID, Agent: key.Agent, Rule: "limit " + limit})
}

// reportRefusals adds refusals to the audit log, or, where there is none, to the server's.
func (h *Host) reportRefusals(r refusals.Report) {
	op := "connect"
	if r.From == "" {
		op = "call"
	}
	if h.audit == nil {
		h.options.Logger.Warn("a client was refused", "op", op, "agent", r.Agent, "key", r.Key, "from", r.From, "namespace", r.Namespace, "work", r.Work, "rule", r.Rule, "count", r.Count)
		return
	}
	e := audit.Entry{Kind: audit.Denied, Agent: r.Agent, Key: r.Key, Client: r.From, Namespace: r.Namespace, Family: r.Family, Work: r.Work,
		Denied: []audit.Denial{{Op: op, Rule: r.Rule, Count: r.Count}}}
	if r.Count > 1 {
		e.Detail = "since " + r.Since.UTC().Format(time.RFC3339)
	}
	h.audit.Add(e)
}
