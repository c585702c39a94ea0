package sites

import (
	"math"

	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Bounds of the tools of a site's memory.
const (
	mostRecalled  = 100
	usualRecalled = 10
	usual         = 5 // importance
)

// memoryTools are the names of the tools of a site's memory.
func memoryTools(slug string) (list []string) {
	for _, name := range []string{"store", "recall", "forget", "update"} {
		list = append(list, slug+".memory."+name)
	}
	return list
}

const kinds = `"enum":["fact","preference","context","task"]`

// publishMemoryTools publishes the tools of a site's memory.
func publishMemoryTools(c *alcove.Call, slug string) error {
	about := " about " + slug
	for _, t := range []struct{ name, description, input, hints string }{
		{"store", "Store a memory" + about,
			`{"type":"object","properties":{"content":{"type":"string","minLength":1,"maxLength":32768,"description":"The memory content to store"},"type":{"type":"string",` + kinds + `,"default":"fact","description":"Category of memory"},"importance":{"type":"number","minimum":1,"maximum":10,"default":5,"description":"How important (1-10)"}},"required":["content"]}`,
			`{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`},
		{"recall", "Recall memories" + about,
			`{"type":"object","properties":{"query":{"type":"string","description":"Text that they contain"},"type":{"type":"string",` + kinds + `,"description":"Filter by type"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10,"description":"Max memories to return"}}}`,
			`{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`},
		{"forget", "Forget a memory" + about,
			`{"type":"object","properties":{"id":{"type":"string","description":"ID of memory to forget"}},"required":["id"]}`,
			`{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}`},
		{"update", "Update a memory" + about,
			`{"type":"object","properties":{"id":{"type":"string","description":"ID of memory to update"},"content":{"type":"string","minLength":1,"maxLength":32768,"description":"New content"},"importance":{"type":"number","minimum":1,"maximum":10,"description":"New importance (1-10)"},"supersedes":{"type":"string","description":"ID of memory this replaces"}},"required":["id"]}`,
			`{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`},
	} {
		tool, err := toolJSON(slug+".memory."+t.name, t.description, alcove.Raw(t.input), t.hints)
		if err != nil {
			return err
		}
		if err := c.ToolsPublish(alcove.ToolsPublishRequest{Tool: tool}); err != nil {
			return err
		}
	}
	return nil
}

// remember stores a memory about a site.
type remember struct {
	Content    string
	Type       string
	Importance float64
}

func (in remember) do(c *alcove.Call, at string) (alcove.Raw, error) {
	id, err := c.Store(in.Content).Key(c.NewID("mem:")).In(at).Type(in.Type).Importance(in.Importance / 10).Put()
	if err != nil {
		return nil, err
	}
	return object(func(w *scan.Writer) {
		w.Key("stored")
		w.Bool(true)
		w.Key("id")
		w.Text(id.String())
	})
}

// recall finds memories about a site.
type recall struct {
	Query, Type string
	Limit       int
}

func (in recall) do(c *alcove.Call, cfg Config, at string) (alcove.Raw, error) {
	filter := &alcove.MemoryFilter{States: []string{active}}
	if in.Type != "" {
		filter.Types = []string{in.Type}
	}
	var found []remembered
	query := lower(in.Query)
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: at, Filter: filter, Limit: page, Counters: true, Created: true}) {
		if err != nil {
			return nil, err
		}
		kept := cfg.kept(c, m)
		if health := kept.Score(); health > cfg.HealthMin && index(lower(content(m)), query) >= 0 {
			found = append(found, remembered{shownOf(m, health), kept.Recalled(cfg.HealthGain), m.Key})
		}
	}
	sortBy(found, func(a, b remembered) bool {
		if a.Importance != b.Importance {
			return a.Importance > b.Importance
		}
		return a.CreatedAt > b.CreatedAt
	})
	found = found[:min(len(found), in.Limit)]
	for _, f := range found {
		one := 1
		if _, err := c.MemoryTouch(alcove.MemoryTouchRequest{Keys: []string{f.key}, Namespace: at, Accesses: &one, Health: f.gain}); err != nil {
			return nil, err
		}
	}
	return object(func(w *scan.Writer) {
		w.Key("memories")
		w.List(len(found), func(i int) { found[i].write(w) })
		w.Key("count")
		w.Int(int64(len(found)))
	})
}

// kept is what the health score of a memory depends on.
func (cfg Config) kept(c *alcove.Call, m *alcove.Memory) score.Kept {
	k := score.Kept{Decay: cfg.HealthDecay, GraceDays: cfg.HealthGraceDays, Exempt: m.Importance != nil && *m.Importance >= 1}
	since := m.Time()
	if created, err := alcove.ParseTime(m.Created); err == nil {
		since = created
	}
	if m.Counters != nil {
		k.Health = min(0, m.Counters.Health)
		if last, err := alcove.ParseTime(m.Counters.LastAccess); err == nil {
			since = max(since, last)
		}
	}
	k.IdleDays = max(0, c.Time().Sub(since).Days())
	return k
}

// remembered is a memory that a recall found.
type remembered struct {
	shownMemory
	gain float64
	key  string
}

// shownMemory is a memory about a site as callers and sites see it.
type shownMemory struct {
	ID         alcove.ID
	Content    string
	Type       string
	Importance int
	Health     float64
	Accesses   int
	LastAccess string
	CreatedAt  string
	UpdatedAt  string
}

func shownOf(m *alcove.Memory, health float64) shownMemory {
	s := shownMemory{ID: m.ID(), Content: content(m), Type: m.Type, Importance: usual, Health: health, CreatedAt: m.Created, UpdatedAt: m.Timestamp}
	if m.Importance != nil {
		s.Importance = int(max(1, math.Round(10**m.Importance)))
	}
	if m.Counters != nil {
		s.Accesses, s.LastAccess = m.Counters.Accesses, m.Counters.LastAccess
	}
	if s.CreatedAt == "" {
		s.CreatedAt = m.Timestamp
	}
	return s
}

func (s shownMemory) write(w *scan.Writer) {
	w.Open()
	w.Key("id")
	w.Text(s.ID.String())
	w.Key("content")
	w.Text(s.Content)
	w.Key("type")
	w.Text(s.Type)
	w.Key("importance")
	w.Int(int64(s.Importance))
	w.Key("health_score")
	w.Number(s.Health)
	w.Key("access_count")
	w.Int(int64(s.Accesses))
	if s.LastAccess != "" {
		w.Key("last_accessed_at")
		w.Text(s.LastAccess)
	}
	w.Key("created_at")
	w.Text(s.CreatedAt)
	w.Key("updated_at")
	w.Text(s.UpdatedAt)
	w.Close()
}

// content is the text of a memory.
func content(m *alcove.Memory) string {
	if text, ok := m.Value.Text(); ok {
		return text
	}
	return string(m.Value)
}

// one is a memory of a namespace; nil: there is none.
func one(c *alcove.Call, at, given string) (*alcove.Memory, error) {
	id := alcove.ParseID(given)
	if id.Namespace == "" {
		id.Namespace = at
	}
	if id.Namespace != at || id.Key == "" {
		return nil, nil
	}
	found, err := c.GetMemories(at, []string{id.Key})
	if err != nil || found[0] == nil || found[0].State != active {
		return nil, err
	}
	return found[0], nil
}

func forget(c *alcove.Call, at, id string) (alcove.Raw, error) {
	m, err := one(c, at, id)
	if err != nil {
		return nil, err
	}
	if m != nil {
		if _, err := c.DeleteMemories(at, []string{m.Key}); err != nil {
			return nil, err
		}
	}
	return object(func(w *scan.Writer) {
		w.Key("deleted")
		w.Bool(m != nil)
	})
}

// revise changes a memory about a site.
type revise struct {
	ID, Content, Supersedes string
	Importance              float64 // 0: unchanged
}

func (in revise) do(c *alcove.Call, at string) (alcove.Raw, error) {
	m, err := one(c, at, in.ID)
	if err != nil {
		return nil, err
	}
	if m != nil {
		if err := in.change(c, at, m); err != nil {
			return nil, err
		}
	}
	return object(func(w *scan.Writer) {
		w.Key("updated")
		w.Bool(m != nil)
	})
}

func (in revise) change(c *alcove.Call, at string, m *alcove.Memory) error {
	p := alcove.MemoryPatch{Key: m.Key, Namespace: at}
	if in.Content != "" {
		p.Value = alcove.JSON(in.Content)
	}
	if in.Importance != 0 {
		v := in.Importance / 10
		p.Importance = &v
	}
	patches := []alcove.MemoryPatch{p}
	if in.Supersedes != "" {
		old, err := one(c, at, in.Supersedes)
		if err != nil {
			return err
		}
		if old == nil || old.Key == m.Key {
			return alcove.Errorf(alcove.NotFound, "there is no other memory %q that it could replace", plain(in.Supersedes, 100))
		}
		patches[0].Supersedes = append(append([]string(nil), m.Supersedes...), old.Key)
		replaced, err := old.Edit(c).State(archived).Metadata("lifecycle", mark{At: c.Now, Reason: "superseded by " + m.Key, By: c.Caller}).Patch()
		if err != nil {
			return err
		}
		patches = append(patches, replaced)
	}
	_, err := c.PatchMemories(patches)
	return err
}

// object writes an object.
func object(members func(w *scan.Writer)) (alcove.Raw, error) {
	w := &scan.Writer{}
	w.Open()
	members(w)
	w.Close()
	return w.Bytes()
}
