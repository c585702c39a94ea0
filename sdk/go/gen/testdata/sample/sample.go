// Package sample has all that a family can have. It serves the tests of the generator.
//
// What follows the first sentence are the docs, in
// as many lines as it takes.
//
// And paragraphs.
//
//alcove:family sample 1.2.3
//alcove:license Apache-2.0
//alcove:needs memory.read * to read what it shows
//alcove:needs memory.write work,home to store notes
//alcove:needs job to sweep in the background
//alcove:limits memory_pages=256
package sample

import (
	"encoding/json"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/gen/testdata/sample/other"
)

//go:generate alcove family gen

// Config is the configuration.
//
//alcove:rule sum ranking_weight_* equals=1 within=0.01
//alcove:rule less_than decay_other decay_plan
type Config struct {
	// MaxTags is how many tags a note gets.
	MaxTags    int           `alcove:"default=5,min=0,max=16"`
	SetType    bool          `alcove:"default=true"`
	Endpoint   string        // The operator's name of a model; empty for none
	Mode       string        `alcove:"enum=report|newest,default=report"`
	Namespaces []string      `alcove:"max=100"`
	Ranking    other.Weights `alcove:"key=ranking_weight_*,shared,category=weights"` // How much * counts

	// What is left of * after a day
	//
	//alcove:default plan:0.9
	//alcove:default other:0.5
	Decay map[string]float64 `alcove:"shared,key=decay_*,above=0,max=1"`
}

// Level is text of a type of its own.
type Level string

// StoreNote stores a note. It keeps what was there.
//
// The docs of the tool.
//
//alcove:tool idempotent
//alcove:title Store a note
//alcove:alias remember level=high tags=a|b limit=7 content="as it says"
//alcove:alias note_down
type StoreNote struct {
	Content  string                    `alcove:"required,min=1,max=8192"` // What the note says.
	Level    Level                     `alcove:"default=low,enum=low|high"`
	Tags     []string                  `alcove:"many,max=3,alias=labels|tag"`
	Refers   []alcove.ID               // Memories that it refers to.
	Replaces alcove.ID                 `alcove:"alias=supersedes"`
	Weight   alcove.Optional[float64]  `alcove:"clear,min=0,max=1"`
	Labels   alcove.Optional[[]string] `json:"label_list" alcove:"items.min=1,items.max=128,max=9"`
	Count    *int
	Limit    int `alcove:"default=20,min=1,max=100"`
	Since    alcove.Time
	Extra    map[string]alcove.Raw
	Any      any
	Raw      json.RawMessage
	Loose    *Nested `json:",omitzero" alcove:"opaque"` // Like nested.
	Nested   Nested
	More     []Nested
	Each     map[string]Nested
	Floats   []float32
	Done     bool
	Big      uint64
	Hidden   string `json:"-"`
	hidden   string
}

// Nested is within others.
//
//alcove:camel
type Nested struct {
	FactID  alcove.ID
	SaysA   string  `alcove:"default=a"`
	Deeper  *Nested `json:"deeper,omitempty"`
	Weights other.Weights
}

// StoredNote is the result.
type StoredNote struct {
	StoreNote
	ID      alcove.ID
	At      alcove.Time `json:"at,omitzero"`
	Removed alcove.Removed
	State   *alcove.JobStatusResponse
	Config  Config `json:"config"`
}

// Call stores the note.
func (in StoreNote) Call(c *alcove.Call, cfg Config) (*StoredNote, error) {
	if in.hidden != "" || in.Hidden != "" {
		return nil, alcove.Errorf(alcove.Internal, "what is hidden was read")
	}
	return &StoredNote{StoreNote: in, ID: c.ID("k"), At: c.Time(), Config: cfg}, nil
}

// memoryCount counts what there is. It reads nothing else.
//
//alcove:description Count what there is. Answers at once.
//alcove:tool count_notes read-only
type memoryCount struct{}

// Call counts.
func (memoryCount) Call(c *alcove.Call) (out Count, err error) { return out, nil }

// Count is how many there are.
type Count struct {
	Total   int
	Version uint64 `alcove:"committed"`
}

// Forget deletes everything.
//
//alcove:tool destructive open-world
type Forget struct{}

// Call deletes.
func (*Forget) Call(*alcove.Call) error { return nil }

// Visit is a record.
type Visit struct {
	Page string
	Last alcove.Time
	By   *Visitor `json:"by,omitzero"`
	alcove.Lifecycle
}

// Visitor is who visits.
type Visitor struct {
	Name  string
	Age   alcove.Optional[int]
	Known bool
}

var visits = alcove.Records[Visit]{Name: "visits", Per: "space", Expires: "90d", Searchable: []string{"page"}}

var recent = alcove.Records[Visit]{
	Name: "recent", Per: "space", Unversioned: true,
	Indexes: [][]string{{"page", "last"}, {"by.age", "by.known"}, {"last:time", "state"}},
}

// Tidy tidies notes up.
//
//alcove:job every=1d each=namespace
type Tidy struct {
	Namespace string
	alcove.Sweep
}

// Run tidies some.
func (j Tidy) Run(c *alcove.Call, cfg Config) (alcove.Swept, error) {
	return alcove.SweepMemories(c, &j, alcove.MemoryListRequest{Namespace: j.Namespace}, func(page []alcove.Memory) (int, error) {
		return len(page), visits.In(j.Namespace).Put(c, "last", Visit{Page: page[0].Key})
	})
}

// Mark is kept in metadata.
//
//alcove:json
type Mark struct {
	Tags []string `json:"tags,omitempty"`
}

// Hooks are what is asked at stores and searches.
//
//alcove:guard collections=memory changes=store,delete,state on_failure=defer redacts
//alcove:stored collections=memory,visits own generations=3
//alcove:types plan other
//alcove:embed model=hash dimensions=2
type Hooks struct {
	Score, Lexical []float32
}

// Guard keeps secrets out.
func (Hooks) Guard(c *alcove.Call, e *alcove.Entry) error {
	switch e.Key {
	case "secret":
		return alcove.Refuse("no secrets")
	case "draft", "plan":
		return alcove.Propose("look at the " + e.Key)
	}
	return nil
}

// Stored is told.
func (Hooks) Stored(c *alcove.Call, cfg Config, entries []alcove.Entry) error { return nil }

// Merged is told.
func (Hooks) Merged(c *alcove.Call, m alcove.MergeNotice) error { return nil }

// Rank ranks.
func (h Hooks) Rank(c *alcove.Call, cfg Config, r *alcove.Ranking) error {
	for i := range r.Scores {
		r.Scores[i] = h.Score[i] * float32(cfg.Ranking.Lexical)
	}
	return nil
}

// Embed embeds.
func (Hooks) Embed(c *alcove.Call, t *alcove.Texts) ([][]float32, error) {
	return make([][]float32, len(t.Texts)), nil
}

// Page is a page of notes.
//
//alcove:tool sample_page read-only unlisted
//alcove:title Page
//alcove:resource notes://page/{number} mime=text/markdown list=sample_show
type Page struct {
	Number string `alcove:"required"` // which
}

func (in Page) Call(*alcove.Call) (alcove.ResourceResult, error) {
	return alcove.ResourceResult{Contents: []alcove.Content{{Type: "text", Text: in.Number}}}, nil
}

// Show shows a picture.
//
//alcove:tool sample_show content task
//alcove:prompt show complete=sample_page
type Show struct{}

// Shown is a picture, and its size.
type Shown struct {
	Content []alcove.Content
	Size    int
}

func (Show) Call(*alcove.Call) (Shown, error) {
	return Shown{Content: []alcove.Content{{Type: "image", Data: "AAAA", MIMEType: "image/png"}}, Size: 3}, nil
}

// Family is the sample.
func Family() *alcove.Family {
	return alcove.New(StoreNote{}, memoryCount{}, &Forget{}, Tidy{}, Hooks{}, Page{}, Show{})
}
