// Package conform serves the family interop, which exists in every language that has an SDK.
//
// Each of its guests answers the same requests with the same bytes.
//
//alcove:family interop 1.0.0
//alcove:description Conformance of the SDKs
//alcove:license Apache-2.0
//alcove:manifest ../manifest.json
//alcove:needs memory.read * to read memories
//alcove:needs memory.write * to write memories
package conform

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Config is its configuration.
type Config struct {
	Word string `alcove:"default=hello"` // A word
}

// Family is interop.
func Family() *alcove.Family {
	return alcove.New(InteropEcho{}, InteropFail{}, InteropPanic{}, InteropMemory{}, InteropRaw{}, InteropContext{}, Hooks{}, Tidy{})
}

// InteropEcho answers with its arguments.
//
//alcove:tool read-only
type InteropEcho struct {
	Text  string
	Count int
	Ratio float64
	Flag  bool
	List  []string
	Any   alcove.Raw
	Names map[string]int
}

type echoed struct {
	Text  string
	Count int
	Ratio float64
	Flag  bool
	List  []string
	Any   alcove.Raw     `json:"any,omitempty"`
	Names map[string]int `json:"names,omitempty"`
}

// Call echoes.
func (in InteropEcho) Call(c *alcove.Call) (echoed, error) { return echoed(in), nil }

// InteropFail fails with a code.
//
//alcove:tool read-only
type InteropFail struct {
	Code    string
	Message string
}

// Call fails.
func (in InteropFail) Call(c *alcove.Call) (echoed, error) {
	e := alcove.Errorf(alcove.Code(in.Code), "%s", in.Message)
	e.Details = map[string]any{"where": "here"}
	return echoed{}, e
}

// InteropPanic panics.
//
//alcove:tool read-only
type InteropPanic struct{ Text string }

// Call panics.
func (in InteropPanic) Call(c *alcove.Call) (echoed, error) { panic(in.Text) }

// InteropMemory stores a memory and reads it again.
type InteropMemory struct{ Key string }

type remembered struct {
	Found      []string
	Importance float64
	Total      int
	Missing    string
}

// Call runs typed operations.
func (in InteropMemory) Call(c *alcove.Call) (out remembered, err error) {
	half, kind := 0.5, "fact"
	item := alcove.MemoryItem{Key: in.Key}
	item.Value, item.Tags, item.Type, item.Importance = alcove.Raw(`"tea"`), []string{"drink"}, &kind, &half
	item.Metadata = map[string]alcove.Raw{"n": alcove.Raw("1")}
	if _, err := c.MemoryPut(alcove.MemoryPutRequest{Items: []alcove.MemoryItem{item}}); err != nil {
		return out, err
	}
	got, err := c.MemoryGet(alcove.MemoryGetRequest{Keys: []string{in.Key, "nothing"}})
	if err != nil {
		return out, err
	}
	out.Found = []string{}
	for _, m := range got.Memories {
		if m == nil {
			out.Found = append(out.Found, "-")
			continue
		}
		out.Found = append(out.Found, m.Key)
		if m.Importance != nil {
			out.Importance = *m.Importance
		}
	}
	hits, err := c.MemorySearch(alcove.MemorySearchRequest{Query: "tea", K: 3})
	if err != nil {
		return out, err
	}
	out.Total = len(hits.Hits)
	if _, err := c.BranchList(); err != nil {
		out.Missing = string(alcove.CodeOf(err))
	}
	return out, nil
}

// InteropRaw runs any operation.
type InteropRaw struct {
	Op      string
	Request alcove.Raw
}

type answered struct{ Answer alcove.Raw }

// Call passes the host's error on.
func (in InteropRaw) Call(c *alcove.Call) (answered, error) {
	answer, err := c.Do(alcove.Op(in.Op), in.Request)
	return answered{answer}, err
}

// InteropContext logs a line and answers with what it knows of the call.
//
//alcove:tool read-only
type InteropContext struct{}

type known struct {
	Caller    string
	Namespace string
	Branch    string
	Now       string
	Word      string
}

// Call logs.
func (in InteropContext) Call(c *alcove.Call, cfg Config) (known, error) {
	c.Log("the word is " + cfg.Word)
	return known{c.Context.Caller, c.Context.Namespace, c.Context.Branch, c.Context.Now, cfg.Word}, nil
}

// Hooks are its hooks.
//
//alcove:store changes=store,delete
//alcove:stored collections=memory
//alcove:embed model=interop dimensions=3
type Hooks struct {
	Lexical  []float32
	Semantic []float32
}

// Store changes the value secret, refuses no, proposes maybe, and fails on broken.
func (h Hooks) Store(c *alcove.Call, entries []alcove.Entry) ([]*alcove.Change, error) {
	changes := make([]*alcove.Change, len(entries))
	for i, e := range entries {
		switch {
		case e.Change == "delete":
			return nil, alcove.Refuse("it stays")
		case string(e.Value) == `"secret"`:
			changes[i] = &alcove.Change{Value: alcove.Raw(`"[hidden]"`), Tags: append(e.Tags, "redacted")}
		case string(e.Value) == `"no"`:
			return nil, alcove.Refuse("no means no")
		case string(e.Value) == `"maybe"`:
			return changes, alcove.Propose("perhaps")
		case string(e.Value) == `"broken"`:
			return nil, alcove.Errorf(alcove.Unavailable, "it is broken")
		}
	}
	return changes, nil
}

// Stored logs.
func (h Hooks) Stored(c *alcove.Call, entries []alcove.Entry) error {
	for _, e := range entries {
		c.Log("stored " + e.Key)
	}
	return nil
}

// Rank adds twice the first column to the second.
func (h Hooks) Rank(c *alcove.Call, r *alcove.Ranking) error {
	for i := range r.Scores {
		r.Scores[i] = 2 * h.Lexical[i]
		if h.Semantic[i] == h.Semantic[i] {
			r.Scores[i] += h.Semantic[i]
		}
	}
	return nil
}

// Embed answers with lengths.
func (h Hooks) Embed(c *alcove.Call, t *alcove.Texts) ([][]float32, error) {
	out := make([][]float32, len(t.Texts))
	for i, text := range t.Texts {
		out[i] = []float32{float32(len(text)), 0.5, -1}
	}
	return out, nil
}

// Tidy is a job.
//
//alcove:job
type Tidy struct{ N int }

type tidied struct{ Done int }

// Run counts.
func (j Tidy) Run(c *alcove.Call) (tidied, error) { return tidied{j.N}, nil }
