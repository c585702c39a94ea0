package host

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
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// openRequests opens the request log, if calls are logged or were once: then its entries expire.
func (h *Host) openRequests(ctx context.Context) (err error) {
	if h.readOnly {
		return nil
	}
	path := owner.RequestsPath(h.options.Dir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !h.options.LogRequests {
		return nil
	}
	if h.requests, err = requestlog.Open(requestlog.Options{Dir: path, Clock: h.options.Clock, Logger: h.options.Logger}); err != nil {
		return err
	}
	h.closers.later("the request log", h.requests.Close)
	h.closers.later("the expiry of the request log", running(ctx, h.requests.Run))
	return nil
}

// logRequest adds a call to the request log. An operation is logged as the calls that it makes.
func (h *Host) logRequest(c tool.Done) {
	if h.requests == nil || !h.options.LogRequests || c.Tool.Name == operation.Name {
		return
	}
	r := c.Request
	e := requestlog.Entry{
		Time: h.options.Clock().UTC(), Agent: r.Caller.Agent, Key: r.Caller.Key, Client: r.Caller.Client, Family: c.Tool.Family, Tool: r.Tool,
		Branch: c.At.Branch, Namespace: c.At.Namespace, Arguments: r.Arguments, RequestID: r.RequestID, DryRun: r.DryRun,
		Outcome: requestlog.Succeeded, Took: float64(c.Took) / float64(time.Millisecond),
	}
	if why := h.withheld(c); why != "" {
		e.Arguments, e.Withheld = nil, why
	}
	switch {
	case c.Err != nil:
		e.Outcome = string(tool.FailureOf(c.Err).Code)
	case c.Tool.Annotations.ReadOnly:
		e.Result = digestOf(c.Answer)
	}
	h.requests.Add(e)
}

// withheld returns why the arguments of a call must not reach the disk; empty: they may. A family that redacts what is stored does not
// see arguments, so none are kept while there is one.
func (h *Host) withheld(c tool.Done) string {
	if h.families != nil && h.families.MayRedact() {
		return "a family redacts what is stored"
	}
	if names := c.Tool.Secret(c.Request.Arguments); len(names) > 0 {
		return "secret: " + strings.Join(names, ", ")
	}
	return ""
}

// digestOf identifies an answer as memory_operation gives it.
func digestOf(a tool.Answer) string {
	value := a.Value
	if value == nil {
		value = a.Structured
	}
	text, err := tool.Encode(value)
	if err != nil {
		return ""
	}
	return requestlog.Digest(text)
}

// eraseRequests erases the entries of the request log that may have what is being purged.
func (h *Host) eraseRequests(holds func(text []byte) bool) error {
	if h.requests == nil {
		return nil
	}
	erased, err := h.requests.Erase(holds)
	if erased > 0 {
		h.options.Logger.Info("purged from the request log", "entries", erased)
	}
	return err
}

// eraseNamed erases the entries of the request log that name what is purged, whether or not the store has it.
func (h *Host) eraseNamed(r operator.PurgeRequest) error {
	mentions := traces.New(r.Key)
	names := func(text string) bool { return text == r.Key || strings.HasSuffix(text, "#"+r.Key) } // the key, or an id
	return h.eraseRequests(func(line []byte) bool {
		var e requestlog.Entry
		if json.Unmarshal(line, &e) != nil {
			return true
		}
		return r.Key != "" && (mentions.Find(line).Key || slices.ContainsFunc(jsontext.Strings(line), names)) || r.Family != "" && e.Family == r.Family ||
			r.Event != 0 && strings.HasSuffix(e.Tool, "log")
	})
}
