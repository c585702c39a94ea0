// Package alcove makes a Go program a tool family of Alcove: a guest that serves tool calls, hooks and jobs.
//
// A tool is a struct of its parameters with the method Call, a job one with the method Run, a hook a type with a method
// named after it. New makes a family of them, and Serve serves it from the init function of a main package that is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -trimpath -buildmode=c-shared -ldflags='-s -w' -o family.wasm .
//
// The manifest and the code that reads and writes the types are written by alcove family gen. A guest needs neither
// reflection nor encoding/json, fmt or time, and is small and fast without them.
//
// On any other platform the same package builds and does nothing, so that handlers are tested with go test and
// package alcovetest.
//
// What a handler may ask of the host are the methods of Call. Changes are staged: they are committed together when the
// handler has answered, and thrown away when it fails. An instance keeps nothing from one request to the next.
package alcove

// Kind is what a guest is asked for.
type Kind uint32

// Op is an operation of the host.
type Op string

// Family is what a guest serves. It is filled before Serve and not changed afterwards.
type Family struct {
	name   string             // in a module of several families
	named  map[string]*Family // those that this one stands for; nil: it is one itself
	tools  map[string]Handler
	jobs   map[string]Handler
	rest   func(c *Call, tool string, arguments Raw) (Raw, error)
	store  func(*Call, []Entry) ([]*Change, error)
	stored func(*Call, []Entry) error
	merged func(*Call, MergeNotice) error
	ended  func(*Call, Session) error
	rank   func(*Ranking) error
	embed  func(*Texts) ([][]float32, error)
}

// Handler serves a tool or a job: it reads its arguments or its payload, which is empty where there is none, and answers JSON.
type Handler func(c *Call, arguments Raw) (Raw, error)

// Part is a tool, a job or a hook of a family. Its method is written by alcove family gen, for the arguments of New.
type Part interface{ AlcovePart() Handlers }

// Handlers are what a part of a family serves.
type Handlers struct {
	Family string // the family's name
	Tool   string // the name in the manifest; empty: it is no tool
	Job    string // the name in the manifest; empty: it is no job
	Handle Handler
	Store  func(*Call, []Entry) ([]*Change, error)
	Stored func(*Call, []Entry) error
	Merged func(*Call, MergeNotice) error
	Ended  func(*Call, Session) error
	Rank   func(*Ranking) error
	Embed  func(*Texts) ([][]float32, error)
}

// New is a family of some parts. alcove family gen reads them here: what is not named is not served, and not in the manifest.
func New(parts ...Part) *Family {
	f := &Family{tools: map[string]Handler{}, jobs: map[string]Handler{}}
	for _, part := range parts {
		f.add(part.AlcovePart())
	}
	return f
}

func (f *Family) add(h Handlers) {
	f.name = h.Family
	if h.Tool != "" {
		f.HandleTool(h.Tool, h.Handle)
	}
	if h.Job != "" {
		f.HandleJob(h.Job, h.Handle)
	}
	if h.Store != nil {
		f.OnStore(h.Store)
	}
	if h.Stored != nil {
		f.OnStored(h.Stored)
	}
	if h.Merged != nil {
		f.OnMerged(h.Merged)
	}
	if h.Ended != nil {
		f.OnSessionEnd(h.Ended)
	}
	if h.Rank != nil {
		f.OnRank(h.Rank)
	}
	if h.Embed != nil {
		f.OnEmbed(h.Embed)
	}
}

// Name is the family's name; empty for one that was made without parts.
func (f *Family) Name() string { return f.name }

// HandleTool adds a tool, by its name in the manifest.
func (f *Family) HandleTool(name string, handle Handler) { f.tools[name] = handle }

// HandlePublished serves the tools that are not in the manifest: those that the family published.
func (f *Family) HandlePublished(handle func(c *Call, tool string, arguments Raw) (Raw, error)) {
	f.rest = handle
}

// HandleJob adds a job, by its name in the manifest.
func (f *Family) HandleJob(name string, handle Handler) { f.jobs[name] = handle }

// OnStore handles what is about to be stored. It answers with what changes in each entry, nil for those that stay as
// they are; or with nothing. Refuse refuses the entries, and Propose has them, changed as it answers, proposed; any other error is
// a failure of the hook. An entry with a Change is refused or proposed, never changed.
func (f *Family) OnStore(handle func(*Call, []Entry) ([]*Change, error)) { f.store = handle }

// OnStored handles what was stored.
func (f *Family) OnStored(handle func(*Call, []Entry) error) { f.stored = handle }

// OnMerged handles a merge that was committed.
func (f *Family) OnMerged(handle func(*Call, MergeNotice) error) { f.merged = handle }

// OnSessionEnd handles the end of a client's session. It may be told of one more than once.
func (f *Family) OnSessionEnd(handle func(*Call, Session) error) { f.ended = handle }

// OnRank scores the candidates of a search: handle fills Ranking.Scores, which hold zeros. The host ranks by itself
// when it fails.
func (f *Family) OnRank(handle func(*Ranking) error) { f.rank = handle }

// OnEmbed turns texts into vectors of the dimensions that the manifest has.
func (f *Family) OnEmbed(handle func(*Texts) ([][]float32, error)) { f.embed = handle }
