package sites

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// SiteSync exchanges memories with a website.
//
// Of a memory that both changed, the newer version wins; the other stays in the history. conflicts counts these. It runs every
// site_sync_minutes by itself.
//
//alcove:title Exchange memories with a website
//alcove:description Exchange memories with the website.
//alcove:tool memory_site_sync open-world
//alcove:alias ora.site.sync
type SiteSync struct {
	Slug string `alcove:"required"`
}

type synced struct {
	Uploaded   int
	Downloaded int
	Conflicts  int
}

// Call exchanges them.
func (in SiteSync) Call(c *alcove.Call, cfg Config) (out synced, err error) {
	slug, s, err := connectedSite(c, in.Slug)
	if err != nil {
		return out, err
	}
	if out, err = exchange(c, cfg, slug, &s); err != nil {
		return out, noted(c, slug, err)
	}
	return out, s.save(c, slug)
}

// agreed is the version of a memory that the server and the site have both, by the key of the memory.
type agreed struct {
	Digest string // of content, type and importance; or gone
}

const gone = "gone"

var agreements = alcove.Records[agreed]{Name: "site_sync", Per: "branch"}

// told is a memory as a site has it.
//
//alcove:json
type told struct {
	ID         string
	Content    string
	Type       string
	Importance float64
	UpdatedAt  string
	Deleted    bool
}

//alcove:json
type toldList struct{ Memories []told }

// exchange is one exchange with a site.
type exchanging struct {
	synced
	c     *alcove.Call
	at    string
	here  map[string]*alcove.Memory
	known map[string]string // digests of agreements
	put   map[string]agreed
}

func exchange(c *alcove.Call, cfg Config, slug string, s *site) (synced, error) {
	x := exchanging{c: c, at: home(slug), here: map[string]*alcove.Memory{}, known: map[string]string{}, put: map[string]agreed{}}
	if err := x.read(); err != nil {
		return x.synced, err
	}
	list, err := fetch(c, cfg, slug, s.Since)
	if err != nil {
		return x.synced, err
	}
	latest := s.Since
	for i := range list {
		if err := x.receive(&list[i]); err != nil {
			return x.synced, err
		}
		latest = max(latest, list[i].UpdatedAt)
	}
	if err := x.send(cfg, slug); err != nil {
		return x.synced, err
	}
	err = agreements.In(x.at).PutAll(c, func(yield func(string, agreed) bool) {
		for key, a := range x.put {
			if !yield(key, a) {
				return
			}
		}
	})
	if err != nil {
		return x.synced, err
	}
	s.Since, s.SyncedAt, s.TriedAt, s.LastError = latest, c.Time(), c.Time(), ""
	if x.Uploaded+x.Downloaded+x.Conflicts == 0 {
		return x.synced, nil
	}
	return x.synced, emit(c, "site_synced", changes{Site: slug, Uploaded: x.Uploaded, Downloaded: x.Downloaded, Conflicts: x.Conflicts})
}

// read reads the memories, and what was agreed.
func (x *exchanging) read() error {
	filter := &alcove.MemoryFilter{States: []string{active, archived, "merged", "pruned"}}
	for m, err := range x.c.Memories(alcove.MemoryListRequest{Namespace: x.at, Filter: filter, Limit: page}) {
		if err != nil {
			return err
		}
		x.here[m.Key] = m
	}
	for item, err := range agreements.In(x.at).All(x.c, "") {
		if err != nil {
			return err
		}
		x.known[item.Key] = item.Value.Digest
	}
	return nil
}

// fetch asks a site for what it changed. One without memory.fetch has nothing to tell.
func fetch(c *alcove.Call, cfg Config, slug, since string) ([]told, error) {
	asked, err := object(func(w *scan.Writer) {
		w.Key("since")
		if since == "" {
			w.Null()
		} else {
			w.Text(since)
		}
	})
	if err != nil {
		return nil, err
	}
	data, err := act(c, cfg, slug, "memory.fetch", asked)
	if alcove.CodeOf(err) == alcove.NotFound || err == nil && data.Null() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out toldList
	if len(data) > 0 && data[0] == '[' {
		data = alcove.Raw(`{"memories":` + string(data) + `}`)
	}
	if err := scan.Decode(data, &out); err != nil {
		return nil, fault(alcove.Unavailable, "[%s] the memories of the site cannot be read: %v", slug, err)
	}
	return out.Memories, nil
}

// receive takes over a memory of the site, if it is newer.
func (x *exchanging) receive(r *told) error {
	if !isName(r.ID, ".:/-", 128) || r.Content == "" && !r.Deleted {
		return nil
	}
	r.normal()
	m, was := x.here[r.ID], x.known[r.ID]
	theirs, ours := r.digest(), digestOf(m)
	switch {
	case theirs == was:
		return nil // the site repeats what was agreed
	case theirs == ours:
		x.put[r.ID] = agreed{theirs}
		x.known[r.ID] = theirs
		return nil
	case ours != was && (was != "" || m != nil): // both changed it
		x.Conflicts++
		if m != nil && m.Time() >= r.time(x.c.Time()) {
			return nil // it is sent
		}
	}
	x.Downloaded++
	x.put[r.ID], x.known[r.ID] = agreed{theirs}, theirs
	return x.store(r)
}

func (x *exchanging) store(r *told) error {
	if r.Deleted {
		delete(x.here, r.ID)
		_, err := x.c.DeleteMemories(x.at, []string{r.ID})
		return err
	}
	x.here[r.ID] = &alcove.Memory{Namespace: x.at, Key: r.ID, Value: alcove.JSON(r.Content), Type: r.Type, Importance: new(float64), State: active}
	*x.here[r.ID].Importance = r.Importance / 10
	_, err := x.c.Store(r.Content).Key(r.ID).In(x.at).Type(r.Type).Importance(r.Importance/10).Metadata("site_updated_at", r.UpdatedAt).Put()
	return err
}

// normal brings what a site says into the form in which memories are kept.
func (r *told) normal() {
	switch r.Type {
	case "fact", "preference", "context", "task":
	default:
		r.Type = "fact"
	}
	if !(r.Importance >= 1) {
		r.Importance = usual
	}
	r.Importance = min(r.Importance, 10)
}

// time is when the site changed it: now at the latest, whatever its clock says.
func (r *told) time(now alcove.Time) alcove.Time {
	t, err := alcove.ParseTime(r.UpdatedAt)
	if err != nil {
		return 0
	}
	return min(t, now)
}

func (r *told) digest() string {
	if r.Deleted {
		return gone
	}
	return digest(r.Content, r.Type, number10(r.Importance))
}

// digestOf is the digest of a memory; gone or empty for none.
func digestOf(m *alcove.Memory) string {
	if m == nil {
		return ""
	}
	return digest(content(m), m.Type, number10(10*importance(m)))
}

// number10 is an importance from 1 to 10 with two digits behind the point.
func number10(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// Bounds of one request that sends memories.
const (
	mostSent  = 200
	bytesSent = 512 << 10
)

// send sends what is new or changed here, and what is gone.
func (x *exchanging) send(cfg Config, slug string) error {
	keys := make([]string, 0, len(x.here)+len(x.known))
	for key := range x.here {
		keys = append(keys, key)
	}
	for key := range x.known {
		if x.here[key] == nil {
			keys = append(keys, key)
		}
	}
	sortTexts(keys)
	var part []alcove.Raw
	size := 0
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		data, err := object(func(w *scan.Writer) {
			w.Key("memories")
			w.List(len(part), func(i int) { w.Raw(part[i]) })
		})
		if err == nil {
			_, err = act(x.c, cfg, slug, "memory.sync", data)
		}
		x.Uploaded += len(part)
		part, size = nil, 0
		return err
	}
	for _, key := range keys {
		one, now, err := x.pending(key)
		if err != nil {
			return err
		}
		if one == nil {
			continue
		}
		if len(part) == mostSent || size+len(one) > bytesSent {
			if err := flush(); err != nil {
				return err
			}
		}
		part, size = append(part, one), size+len(one)
		x.put[key] = agreed{now}
	}
	return flush()
}

// pending is a memory as it is to be sent, with its digest; nil: the site has it as it is.
func (x *exchanging) pending(key string) (one alcove.Raw, now string, err error) {
	m, was := x.here[key], x.known[key]
	if m == nil {
		if was == "" || was == gone {
			return nil, "", nil
		}
		one, err = object(func(w *scan.Writer) {
			w.Key("id")
			w.Text(key)
			w.Key("deleted")
			w.Bool(true)
		})
		return one, gone, err
	}
	if now = digestOf(m); now == was || m.State != active {
		return nil, "", nil
	}
	s := shownOf(m, 1)
	one, err = object(func(w *scan.Writer) {
		w.Key("id")
		w.Text(key)
		w.Key("content")
		w.Text(s.Content)
		w.Key("type")
		w.Text(s.Type)
		w.Key("importance")
		w.Int(int64(s.Importance))
		w.Key("updated_at")
		w.Text(s.UpdatedAt)
	})
	return one, now, err
}
