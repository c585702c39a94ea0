// Package alcove makes a Go program a tool family of Alcove: a guest that serves tool calls, hooks and jobs.
//
// A family is made with New, given its handlers with Tool, Job and the methods of Family, and served with Serve from
// the init function of a main package that is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -trimpath -buildmode=c-shared -ldflags='-s -w' -o family.wasm .
//
// On any other platform the same package builds and does nothing, so that handlers are tested with go test and
// package alcovetest.
//
// What a handler may ask of the host are the methods of Call. Changes are staged: they are committed together when the
// handler has answered, and thrown away when it fails. An instance keeps nothing from one request to the next.
package alcove

import (
	"encoding/json"
	"reflect"
)

// Kind is what a guest is asked for.
type Kind uint32

// Op is an operation of the host.
type Op string

// Family is what a guest serves. It is filled before Serve and not changed afterwards.
type Family struct {
	name   string             // in a module of several families
	named  map[string]*Family // those that this one stands for; nil: it is one itself
	tools  map[string]handler
	jobs   map[string]handler
	store  func(*Call, []Entry) ([]*Change, error)
	stored func(*Call, []Entry) error
	merged func(*Call, MergeNotice) error
	rank   func(*Ranking) error
	embed  func(*Texts) ([][]float32, error)
	types  []reflect.Type // what encoding/json should know before the first request
}

// handler serves what is left of a request when the family knows whom it is for.
type handler func(c *Call, arguments json.RawMessage) (any, error)

// New is a family that serves nothing yet.
func New() *Family {
	return &Family{tools: map[string]handler{}, jobs: map[string]handler{}}
}

// Tool adds a tool, by its name in the manifest. In is what its arguments are read into; Out becomes the result, which
// has to fit the tool's output schema.
func Tool[In, Out any](f *Family, name string, handle func(*Call, In) (Out, error)) {
	f.tools[name] = adapt(f, "arguments", handle)
}

// Job adds a job, by its name in the manifest. In is what the payload is read into; without a payload it is zero.
func Job[In, Out any](f *Family, name string, handle func(*Call, In) (Out, error)) {
	f.jobs[name] = adapt(f, "payload", handle)
}

func adapt[In, Out any](f *Family, what string, handle func(*Call, In) (Out, error)) handler {
	f.types = append(f.types, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	return func(c *Call, arguments json.RawMessage) (any, error) {
		var in In
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, Errorf(InvalidArgument, "read the %s: %v", what, err)
			}
		}
		return handle(c, in)
	}
}

// OnStore handles what is about to be stored. It answers with what changes in each entry, nil for those that stay as
// they are; or with nothing. Refuse refuses the entries, and Propose has them, changed as it answers, proposed; any other error is
// a failure of the hook. An entry with a Change is refused or proposed, never changed.
func (f *Family) OnStore(handle func(*Call, []Entry) ([]*Change, error)) { f.store = handle }

// OnStored handles what was stored.
func (f *Family) OnStored(handle func(*Call, []Entry) error) { f.stored = handle }

// OnMerged handles a merge that was committed.
func (f *Family) OnMerged(handle func(*Call, MergeNotice) error) { f.merged = handle }

// OnRank scores the candidates of a search: handle fills Ranking.Scores, which hold zeros. The host ranks by itself
// when it fails.
func (f *Family) OnRank(handle func(*Ranking) error) { f.rank = handle }

// OnEmbed turns texts into vectors of the dimensions that the manifest has.
func (f *Family) OnEmbed(handle func(*Texts) ([][]float32, error)) { f.embed = handle }

// Meet names types that handlers read configuration into, or encode with JSON: the first time that encoding/json
// sees a type takes many times as long as all others. What Tool, Job and the hooks take and answer is met without it.
func (f *Family) Meet(values ...any) {
	for _, v := range values {
		f.types = append(f.types, reflect.TypeOf(v))
	}
}
