package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Request asks for a call of a tool.
type Request struct {
	Tool      string          // in any spelling
	Arguments json.RawMessage // an object, or the text of one; empty: none
	Caller    memory.Caller
	Session   *Session // nil: one that begins and ends with the call
	// Stage is of the family's call that this one is part of; nil: it is a call of its own.
	Stage *memory.Staged

	Branch, Namespace string // where it goes when the arguments do not say; empty: where the session is
	RequestID         string // a repetition within a day is answered and not carried out again; empty: no protection
	DryRun            bool   // nothing is written
	Timeout           time.Duration
	Progress          Progress // nil: nobody asks
}

// Progress tells how far a call has come; total is 0 when that is not known.
type Progress func(done, total float64, message string)

// Call is a Request whose tool was found and whose arguments were read. It is the Handler's.
type Call struct {
	Tool      *Tool
	Caller    memory.Caller // its Call is the id of the call, under which memory.Access.Commits finds what it wrote
	Session   *Session
	Stage     *memory.Staged // nil: the call commits what it writes
	Arguments *Arguments
	JSON      json.RawMessage // the arguments as the tool's Input has them; nil when the tool is Lenient

	Branch, Namespace string      // asked for beside the tool's own parameters; empty: nothing
	AsOf              memory.AsOf // of a tool that only reads and has no parameter of that name
	RequestID         string
	DryRun            bool
	Progress          Progress // nil: nobody asks
	Now               time.Time

	dispatcher *Dispatcher
	notes      notes
}

// Registry has the tools that there are.
func (c *Call) Registry() *Registry { return c.dispatcher.registry }

// Dispatch makes another call as part of this one.
func (c *Call) Dispatch(ctx context.Context, r Request) (Answer, error) {
	return c.dispatcher.Dispatch(ctx, r)
}

// ReadOnly reports whether the caller may not write anything.
func (c *Call) ReadOnly() bool { return c.Caller.Rights.WritesNothing() }

// Location is where the call goes unless the tool's own parameters say otherwise.
func (c *Call) Location() memory.Location {
	branch, namespace := c.Session.At()
	return memory.Location{Branch: cmp.Or(c.Branch, branch), Namespace: cmp.Or(c.Namespace, namespace)}
}

// Write is how the call writes. What the space has to say about it becomes notes.
func (c *Call) Write() memory.Write {
	return memory.Write{RequestID: c.RequestID, DryRun: c.DryRun, Note: c.Note}
}

// Note adds what the caller should know beside the answer, such as which hook was skipped and why.
func (c *Call) Note(note string) { c.notes.add(note) }

// TakeNotes gives the notes added since it was asked last. A handler whose answer has a member for them asks; the others'
// are put beside the answer.
func (c *Call) TakeNotes() []string {
	unknown := NotesOf(c.Arguments.unknownNote())
	c.Arguments.problems.unknown = nil
	return append(unknown, c.notes.take()...)
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

// Since is how much time has passed since an instant such as Now.
func (c *Call) Since(t time.Time) time.Duration { return c.dispatcher.options.Clock().Sub(t) }
