package operation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	mostItems      = 100 // operations of a batch
	mostSteps      = 16  // steps of a chain
	mostCalls      = 200 // calls of an operation, in all its chains and batches
	longestTimeout = 10 * time.Minute
	longestMethod  = 64  // characters of a name in an answer
	longestRequest = 128 // bytes of a request id
)

// plan is an operation that was read and found valid in form. Nothing of an invalid one is run.
type plan struct {
	method    string // of the first step, as answered; empty: a batch
	requestID string // the caller's; empty: that of the call
	dryRun    bool
	timeout   time.Duration // for all steps; 0: none
	steps     []step
}

// step is a call of a chain, or a batch.
type step struct {
	method  string
	params  json.RawMessage
	options options
	batch   [][]step // chains that run in parallel; nil: a call
}

// options are a step's options. Those inside of an operation inherit all but the timeout.
type options struct {
	timeout           time.Duration // 0: none
	dryRun            bool
	namespace, branch string // empty: the session's
}

// parser reads an operation.
type parser struct {
	call  *tool.Call
	calls int
}

// parse reads the arguments of a call. Unknown options are refused: a misspelled dry_run is rejected, never executed.
func parse(c *tool.Call) (plan, error) {
	a, p := c.Arguments, &parser{call: c}
	if v := a.Text("version"); v != "" && v != version {
		a.Fault("version", fmt.Sprintf("version must be %s, got %q", version, tool.Clip(v, 60)))
	}
	around := options{dryRun: c.DryRun, namespace: c.Namespace, branch: c.Branch}
	o := plan{requestID: requestID(a), steps: p.chain(a, around, position{})}
	if len(o.steps) > 0 {
		first := &o.steps[0]
		o.method, o.dryRun = tool.Clip(first.method, longestMethod), first.options.dryRun
		o.timeout, first.options.timeout = first.options.timeout, 0
	}
	return o, a.Err()
}

// requestID reads the request's id, which clients send where answers have it.
func requestID(a *request.Arguments) string {
	id := a.Nested("metadata").Text("request_id")
	if len(id) > longestRequest {
		a.Fault("metadata", fmt.Sprintf("metadata.request_id has %d bytes: at most %d are allowed", len(id), longestRequest))
	}
	return id
}

// position is where in an operation another one is.
type position struct {
	depth   int  // of then
	inBatch bool // it is an item's, or a step of one
}

// chain reads an operation and what is to be done then.
func (p *parser) chain(a *request.Arguments, around options, at position) []step {
	first, ok := p.step(a, around, at)
	if !ok {
		return nil
	}
	if at.depth++; at.depth > mostSteps { // each level is read again by all levels around it
		a.Fault("then", fmt.Sprintf("then is nested more than %d deep, which is the limit: give a list of steps", mostSteps))
		return nil
	}
	steps := []step{first}
	inherited := first.options
	inherited.timeout = 0
	for _, next := range a.Objects("then") {
		next.Rename(p.call.Tool.Names(), "method", "params", "options", "batch", "then", "as_of")
		steps = append(steps, p.chain(next, inherited, at)...)
	}
	if len(steps) > mostSteps {
		a.Fault("then", fmt.Sprintf("a chain of %d steps is too long: at most %d are allowed", len(steps), mostSteps))
		return steps[:mostSteps] // or the chains around it would be too long as well
	}
	return steps
}

// step reads one operation without what is to be done then. False: there were too many, and reading on is useless.
func (p *parser) step(a *request.Arguments, around options, at position) (step, bool) {
	s := step{options: p.options(a, around)}
	batch := a.Has("batch")
	switch {
	case batch && (a.Has("method") || a.Has("params")):
		a.Fault("batch", "batch stands instead of method and params: send one operation at a time, or all in batch")
	case batch && a.Has("as_of"):
		a.Fault("as_of", "as_of is an argument of tools: give it in the params of each operation")
	case batch && at.inBatch:
		a.Fault("batch", "a batch cannot be inside of another: put all operations into one")
	case batch:
		s.batch = p.items(a, s.options)
		return s, true
	default:
		s.method = a.NeedText("method", "the name of the tool to call")
	}
	s.params = p.params(a, s.method)
	if p.calls++; p.calls > mostCalls {
		if p.calls == mostCalls+1 {
			a.Fault("batch", fmt.Sprintf("the operation has more than %d calls, which is the limit: send several", mostCalls))
		}
		return s, false
	}
	return s, true
}

// params reads the arguments of a call: params, and what stands beside method. Beside params, only what the tool has as a parameter
// is taken for an argument, since the rest may be a misspelled member of the operation.
func (p *parser) params(a *request.Arguments, method string) json.RawMessage {
	params := a.Raw("params")
	t, _, found := p.call.Registry().FindMethod(p.call.Caller.Rights, method)
	if !found {
		return params
	}
	beside := a.TakeUnknown(func(name string) bool { return params == nil || t.Takes(name) })
	for _, name := range []string{"as_of", "metadata"} { // an operation has these, too
		if raw, given := a.Get(name); given && t.Takes(name) && (name == "as_of" || params == nil && !a.Nested(name).Has("request_id")) {
			beside[name] = raw
		}
	}
	if len(beside) == 0 {
		return params
	}
	within, err := request.Members(params)
	if params != nil && err != nil {
		return params // the tool says what is wrong
	}
	for name, raw := range within {
		if _, twice := beside[name]; twice {
			a.Fault(name, name+" is given twice: give it in params")
		}
		beside[name] = raw
	}
	all, err := tool.Encode(beside)
	if err != nil {
		a.Fault("params", "the arguments beside method cannot be read")
		return params
	}
	return all
}

// items reads the operations of a batch.
func (p *parser) items(a *request.Arguments, around options) [][]step {
	around.timeout = 0
	items := a.Objects("batch")
	if len(items) > mostItems {
		a.Fault("batch", fmt.Sprintf("batch has %d operations: at most %d are allowed", len(items), mostItems))
		return nil
	}
	list := make([][]step, 0, len(items))
	for _, item := range items {
		item.Rename(p.call.Tool.Names(), "method", "params", "options", "batch", "then", "as_of")
		list = append(list, p.chain(item, around, position{inBatch: true}))
	}
	return list
}

// options reads the options of an operation. The outermost may have them at its top level, too.
func (p *parser) options(a *request.Arguments, around options) options {
	given := a.Nested("options")
	for _, name := range slices.Sorted(maps.Keys(given.Given())) {
		if !slices.Contains([]string{"timeout_ms", "dry_run", "namespace", "branch"}, name) {
			given.Fault(name, fmt.Sprintf("there is no option %q: there are timeout_ms, dry_run, namespace and branch", tool.Clip(name, 60)))
		}
	}
	for _, name := range []string{"timeout_ms", "namespace", "branch"} { // given at the top level
		if given.Has(name) && a.Has(name) {
			a.Fault(name, name+" is given twice: give it in options")
		}
	}
	given.Inherit(a, "timeout_ms", "namespace", "branch")
	return options{
		timeout:   time.Duration(given.Whole("timeout_ms", 0, 1, longestTimeout.Milliseconds())) * time.Millisecond,
		dryRun:    given.Flag("dry_run") || around.dryRun,
		namespace: cmp.Or(given.Text("namespace"), around.namespace), branch: cmp.Or(given.Text("branch"), around.branch),
	}
}
