package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// Request is a request to call a tool.
type Request struct {
	Tool      string          // in any spelling
	Arguments json.RawMessage // an object, or the text of one; empty: none
	Caller    memory.Caller
	Session   *Session // nil: one that lasts for the call
	// Stage is the stage of the family's call that makes this one; nil: none.
	Stage *memory.Staged
	Found *Tool // as Dispatcher.Find found it; nil: the dispatcher finds it

	Branch, Namespace string // defaults for the arguments; empty: the session's
	Home              string // the namespace in place of the session's; empty: that
	RequestID         string // idempotency key, for a day; empty: none
	DryRun            bool   // nothing is written
	Detail            Detail
	Timeout           time.Duration
	Progress          Progress // nil: not reported
	Client            *Client  // nil: nothing can be asked
	Admission         Admission
}

// Client is the client of a call: what its tool can ask during the call.
type Client struct {
	Can     []string                   // of user, model and roots
	Answers map[string]json.RawMessage // to what the tool asked, by name
	State   string                     // that the tool gave when it asked
	Log     func(line string)          // told what the tool's family logs; nil: nobody is
}

// ofClient reports whether a client makes the call: neither a family, as part of a client's call, nor an operator.
func (r Request) ofClient() bool { return r.Stage == nil && !r.Caller.Operator }

// at returns where a call is made that names no place.
func (r Request) at() memory.Location {
	branch, namespace := memory.Default, memory.Default
	if r.Session != nil {
		branch, namespace = r.Session.At()
	}
	return memory.Location{Branch: cmp.Or(r.Branch, branch), Namespace: cmp.Or(r.Namespace, r.Home, namespace)}
}

// Admission says how a call counts against the limits of the caller's key.
type Admission int

const (
	ToAdmit  Admission = iota // by the dispatcher
	Admitted                  // by the front end
	Within                    // a call that was admitted; it counts as one more
)

// Progress reports the progress of a call; total is 0 if unknown.
type Progress func(done, total float64, message string)

// Call is a Request with its tool found and its arguments parsed. The Handler owns it.
type Call struct {
	Tool      *Tool
	Caller    memory.Caller // its Call is the call's id, by which memory.Access.Commits finds its commits
	Session   *Session
	Stage     *memory.Staged // nil: the call commits its writes itself
	Arguments *request.Arguments
	JSON      json.RawMessage // the arguments, fitting the tool's Input; nil if the tool is Lenient

	Branch, Namespace string      // from common parameters; empty: not given
	AsOf              memory.AsOf // for a read-only tool without a parameter of that name
	RequestID         string
	DryRun            bool
	Detail            Detail
	Progress          Progress // nil: not reported
	Client            *Client  // nil: nothing can be asked
	Now               time.Time

	home       string
	dispatcher *Dispatcher
	notes      notes
	proposal   string       // see Proposal
	nested     atomic.Int64 // number of nested calls
}

// Registry returns the registry of the dispatcher's tools.
func (c *Call) Registry() *Registry { return c.dispatcher.registry }

// Dispatch makes a nested call. The first stands for the call itself, whose admission covers it.
func (c *Call) Dispatch(ctx context.Context, r Request) (Answer, error) {
	r.Home = cmp.Or(r.Home, c.home)
	if r.Admission = Within; c.nested.Add(1) == 1 {
		r.Admission = Admitted
	}
	return c.dispatcher.Dispatch(ctx, r)
}

// ReadOnly reports whether the caller may write nothing.
func (c *Call) ReadOnly() bool { return c.Caller.Rights.WritesNothing() }

// Location returns the call's branch and namespace, unless the tool's own parameters override them.
func (c *Call) Location() memory.Location {
	branch, namespace := c.Session.At()
	return memory.Location{Branch: cmp.Or(c.Branch, branch), Namespace: cmp.Or(c.Namespace, c.home, namespace)}
}

// Write returns the options of the call's writes. Remarks of the space become notes.
func (c *Call) Write() memory.Write {
	return memory.Write{RequestID: c.RequestID, DryRun: c.DryRun, Note: c.Note, Proposed: func(branch string) { c.proposal = branch }}
}

// Proposal returns the branch that the call's own write is proposed on, because a hook sent it there; empty: it is done.
func (c *Call) Proposal() string { return c.proposal }

// Note adds a remark for the caller, such as which hook was skipped and why.
func (c *Call) Note(note string) { c.notes.add(note) }

// TakeNotes returns and clears the notes. A handler calls it if its answer has a member for them; otherwise they accompany
// the answer.
func (c *Call) TakeNotes() []string {
	return append(c.Arguments.TakeNotes(), c.notes.take()...)
}

type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, note)
}

func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}

// Since returns the time elapsed since t, such as Now.
func (c *Call) Since(t time.Time) time.Duration { return c.dispatcher.options.Clock().Sub(t) }
