package operation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// operationRequest is what a call has.
type operationRequest struct {
	stepRequest
	Version   string          `json:"version" alcove:"hidden"`
	Metadata  requestMetadata `json:"metadata" alcove:"hidden"`
	Timeout   json.RawMessage `json:"timeout_ms" alcove:"hidden"` // of the options, and so are the next two
	Namespace json.RawMessage `json:"namespace" alcove:"hidden"`
	Branch    json.RawMessage `json:"branch" alcove:"hidden"`
	Result    json.RawMessage `json:"result" alcove:"hidden"` // of an answer that is sent back, and so are the next two
	Error     json.RawMessage `json:"error" alcove:"hidden"`
	Steps     json.RawMessage `json:"steps" alcove:"hidden"`
}

// requestMetadata has the request's id where answers have it.
type requestMetadata struct {
	RequestID string `json:"request_id"`
}

// stepRequest is an operation within another.
type stepRequest struct {
	Method  string               `json:"method" alcove:"alias=operation|tool,beside=name" doc:"The name of the tool to call."`
	Params  rawObject            `json:"params" alcove:"alias=arguments|args" schema:"'type':'object'" doc:"Its arguments."`
	Options optionsRequest       `json:"options" alcove:"alias=option" doc:"timeout_ms, dry_run, namespace, branch."`
	Then    []*request.Arguments `json:"then" alcove:"advanced" schema:"'type':['object','array']" doc:"An operation, or a list of them, to run afterwards with parts of the results."`
	Batch   []*request.Arguments `json:"batch" alcove:"advanced" schema:"'type':'array','items':{'type':'object'}" doc:"Operations to run in parallel, instead of method."`
	AsOf    json.RawMessage      `json:"as_of" alcove:"hidden"`
}

// rawObject is an object, or the text of one, whose members are not decoded; nil: none.
type rawObject json.RawMessage

// ReadArgument implements request.Form.
func (o *rawObject) ReadArgument(raw json.RawMessage, _ time.Time) error {
	text, isText := request.Text(raw)
	if !isText {
		text = string(raw)
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return request.Expected("an object")
	}
	*o = rawObject(text)
	return nil
}

// optionsRequest are the options of an operation. The outermost may have them at its top level, too.
type optionsRequest struct {
	Timeout   int    `json:"timeout_ms"`
	DryRun    bool   `json:"dry_run"`
	Namespace string `json:"namespace"`
	Branch    string `json:"branch"`
}

// Limits implements request.Limited.
func (optionsRequest) Limits() request.Limits {
	return request.Limits{"timeout_ms": {Min: 1, Max: longestTimeout.Milliseconds()}}
}

// Prepare implements request.Preparer. It refuses unknown options: a misspelled dry_run is rejected, never executed.
func (optionsRequest) Prepare(given, around *request.Arguments) {
	for _, name := range slices.Sorted(maps.Keys(given.Given())) {
		if !slices.Contains([]string{"timeout_ms", "dry_run", "namespace", "branch"}, name) {
			given.Fault(name, fmt.Sprintf("there is no option %q: there are timeout_ms, dry_run, namespace and branch", tool.Clip(name, 60)))
		}
	}
	for _, name := range []string{"timeout_ms", "namespace", "branch"} { // given at the top level
		if given.Has(name) && around.Has(name) {
			around.Fault(name, name+" is given twice: give it in options")
		}
	}
	given.Inherit(around, "timeout_ms", "namespace", "branch")
}

// within returns the options of an operation in another one.
func (o optionsRequest) within(around options) options {
	return options{
		timeout: time.Duration(o.Timeout) * time.Millisecond, dryRun: o.DryRun || around.dryRun,
		namespace: cmp.Or(o.Namespace, around.namespace), branch: cmp.Or(o.Branch, around.branch),
	}
}

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
	steps *request.Declaration[stepRequest]
	calls int
}

// parse checks a request.
func parse(c *tool.Call, r operationRequest, steps *request.Declaration[stepRequest]) (plan, error) {
	a, p := c.Arguments, &parser{call: c, steps: steps}
	if r.Version != "" && r.Version != version {
		a.Fault("version", fmt.Sprintf("version must be %s, got %q", version, tool.Clip(r.Version, 60)))
	}
	if id := r.Metadata.RequestID; len(id) > longestRequest {
		a.Fault("metadata", fmt.Sprintf("metadata.request_id has %d bytes: at most %d are allowed", len(id), longestRequest))
	}
	around := options{dryRun: c.DryRun, namespace: c.Namespace, branch: c.Branch}
	o := plan{requestID: r.Metadata.RequestID, steps: p.chain(a, r.stepRequest, around, position{})}
	if len(o.steps) > 0 {
		first := &o.steps[0]
		o.method, o.dryRun = tool.Clip(first.method, longestMethod), first.options.dryRun
		o.timeout, first.options.timeout = first.options.timeout, 0
	}
	return o, a.Err()
}

// position is where in an operation another one is.
type position struct {
	depth   int  // of then
	inBatch bool // it is an item's, or a step of one
}

// chain reads an operation and what is to be done then.
func (p *parser) chain(a *request.Arguments, r stepRequest, around options, at position) []step {
	first, ok := p.step(a, r, around, at)
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
	for _, next := range r.Then {
		steps = append(steps, p.chain(next, p.steps.ReadElement(next, a, p.call.Now), inherited, at)...)
	}
	if len(steps) > mostSteps {
		a.Fault("then", fmt.Sprintf("a chain of %d steps is too long: at most %d are allowed", len(steps), mostSteps))
		return steps[:mostSteps] // or the chains around it would be too long as well
	}
	return steps
}

// step reads one operation without what is to be done then. False: there were too many, and reading on is useless.
func (p *parser) step(a *request.Arguments, r stepRequest, around options, at position) (step, bool) {
	s := step{options: r.Options.within(around)}
	batch := a.Has("batch")
	switch {
	case batch && (a.Has("method") || a.Has("params")):
		a.Fault("batch", "batch replaces method and params: send one operation at a time, or all in batch")
	case batch && a.Has("as_of"):
		a.Fault("as_of", "as_of is an argument of tools: give it in the params of each operation")
	case batch && at.inBatch:
		a.Fault("batch", "a batch cannot be inside of another: put all operations into one")
	case batch:
		s.batch = p.items(a, r.Batch, s.options)
		return s, true
	case !a.Has("method"):
		a.Missing("method", "the name of the tool to call")
	default:
		s.method = r.Method
	}
	s.params = p.params(a, json.RawMessage(r.Params), s.method)
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
func (p *parser) params(a *request.Arguments, params json.RawMessage, method string) json.RawMessage {
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
func (p *parser) items(a *request.Arguments, items []*request.Arguments, around options) [][]step {
	around.timeout = 0
	if len(items) > mostItems {
		a.Fault("batch", fmt.Sprintf("batch has %d operations: at most %d are allowed", len(items), mostItems))
		return nil
	}
	list := make([][]step, 0, len(items))
	for _, item := range items {
		list = append(list, p.chain(item, p.steps.ReadElement(item, a, p.call.Now), around, position{inBatch: true}))
	}
	return list
}
