package memory

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// ordering is the order as the index has it, from behind a position; Unordered for an order by counters.
func (o Order) ordering(from *position, most int) search.Ordering {
	by := map[Order]search.Ordering{
		ByKey: {By: search.ByName}, ByNewest: {By: search.ByCreation, Descending: true}, ByOldest: {By: search.ByCreation},
		ByUpdate: {By: search.ByUpdate, Descending: true}, ByImportance: {By: search.ByImportance, Descending: true},
	}[o]
	by.Most = most
	if from != nil {
		by.After = &search.Place{Value: from.value, Namespace: from.namespace, Key: from.key}
		if o == ByOldest {
			by.After.Value = -from.value // value has the greatest first
		}
	}
	return by
}

// listing is the execution of a Listing.
type listing struct {
	Listing
	stage   *Stage
	view    view
	filter  search.Filter
	test    *search.Test
	digest  [8]byte
	from    *position // nil: the first page
	counts  bool      // the filter or the order uses counters
	counted counters.Present
	known   *counters.Record // the counters of the memory to consider; nil: counted has them
	top     topCandidates
	total   int
	tallied bool // total is known without the memories
}

// digestOf identifies the listing, without the page.
func (q *listing) digestOf() error {
	l := q.Listing
	l.After, l.Limit, l.Count, l.Began = "", 0, "", time.Time{}
	asked, err := json.Marshal(struct {
		Branch  store.BranchID
		Listing Listing
	}{q.stage.branch.ID, l})
	if err != nil {
		return invalid("the filter is not JSON: %v", err)
	}
	sum := sha256.Sum256(asked)
	q.digest = [8]byte(sum[:8])
	return nil
}

// position is a memory's place in a listing.
type position struct {
	value     int64
	namespace string
	key       string
}

func (p *position) compare(o *position) int {
	switch {
	case p.value > o.value:
		return -1
	case p.value < o.value:
		return 1
	case p.namespace != o.namespace:
		return strings.Compare(p.namespace, o.namespace)
	}
	return strings.Compare(p.key, o.key)
}

// instant is the time of a position in a list by time, in µs; nil: the start.
func (p *position) instant() *int64 {
	if p == nil {
		return nil
	}
	return &p.value
}

// cursor continues a listing.
type cursor struct {
	digest  [8]byte   // of the listing
	version uint64    // being read
	began   time.Time // Listing.Began of the first page
	now     time.Time // for expiry
	value   int64     // sort value of the last memory on the previous page
	key     string    // key of that memory
}

func (c cursor) String() string {
	out := append([]byte(nil), c.digest[:]...)
	out = binary.AppendUvarint(out, c.version)
	out = binary.AppendVarint(out, c.began.UnixMicro())
	out = binary.AppendVarint(out, c.now.UnixMicro())
	out = binary.AppendVarint(out, c.value)
	return base64.RawURLEncoding.EncodeToString(append(out, c.key...))
}

func parseCursor(text string) (c cursor, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < len(c.digest) {
		return c, errCursor()
	}
	c.digest, raw = [8]byte(raw), raw[8:]
	read := func(n int) {
		if raw = raw[max(0, n):]; n <= 0 {
			err = errCursor()
		}
	}
	var n int
	c.version, n = binary.Uvarint(raw)
	read(n)
	began, n := binary.Varint(raw)
	read(n)
	now, n := binary.Varint(raw)
	read(n)
	c.value, n = binary.Varint(raw)
	read(n)
	c.began, c.now, c.key = time.UnixMicro(began).UTC(), time.UnixMicro(now).UTC(), string(raw)
	return c, err
}

func errCursor() error {
	return invalid("after is not what the page before answered as next: begin again without it")
}

// ListingBegan returns the base of a listing's relative bounds such as an hour ago: Listing.Began of the first page, or now.
func ListingBegan(after string, now time.Time) time.Time {
	if c, err := parseCursor(after); err == nil {
		return c.began
	}
	return now.UTC().Truncate(time.Microsecond)
}

// continued resumes at the end of the previous page.
func (q *listing) continued() error {
	if q.After == "" {
		return nil
	}
	c, err := parseCursor(q.After)
	if err != nil {
		return err
	}
	if c.digest != q.digest {
		return invalid("after is of another listing: repeat the filter, the order, the branch and the namespace of the page before, or begin again without it")
	}
	if c.version == 0 || c.version > q.view.version {
		return errCursor()
	}
	q.view.version, q.view.now = c.version, c.now
	q.from = &position{c.value, q.Namespace, c.key}
	return nil
}

// limit returns the most memories on a page.
func (q *listing) limit() int { return q.stage.space.page(q.Limit) }

// collect finds the page, by the index or by a scan, with staged changes.
func (q *listing) collect(ctx context.Context, by func(context.Context) error) error {
	find := func(counted counters.Present) error {
		q.counted, q.total, q.tallied, q.top = counted, 0, false, topCandidates{most: q.limit() + 1} // one more reveals a next page
		if err := by(ctx); err != nil {
			return err
		}
		q.addStaged()
		return nil
	}
	if !q.counts {
		return find(counters.Present{})
	}
	counted, release, err := q.stage.space.counters.Now(ctx, q.stage.home())
	if err != nil {
		return q.stage.space.translate("read counters", err)
	}
	defer release()
	return find(counted)
}

// consider adds a memory that the filter admits, apart from conditions on counters, which it tests. It reports whether a memory
// behind it in the order may be on the page.
func (q *listing) consider(c *search.Columns, staged bool) bool {
	if !staged && len(q.stage.changed) > 0 {
		if _, changed := q.stage.changed[site{Key: memoryKey(c.Namespace, c.Key)}]; changed {
			return true
		}
	}
	var counted counters.Record
	if q.counts {
		if q.known != nil {
			counted = *q.known
		} else {
			counted = q.counted.Of(c.Namespace, c.Key)
		}
		if !q.Filter.admitsCounted(counted) {
			return true
		}
	}
	if !q.tallied {
		q.total++
	}
	if q.Count == CountOnly {
		return true
	}
	at := position{q.Order.value(c, counted), c.Namespace, c.Key}
	if q.from == nil || at.compare(q.from) > 0 {
		q.top.add(candidate{position: at, version: c.Version, staged: staged})
	}
	return !c.InOrder || len(q.top.list) < q.top.most
}

// byScan reads all memories of the namespace.
func (q *listing) byScan(ctx context.Context) error {
	s := q.stage.space
	within := store.Range{Namespace: q.Namespace, Collection: memories, Prefix: q.Filter.Prefix}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, q.view.lineage, within, fillPage) {
		if err != nil {
			return s.translate("list memories", err)
		}
		r, err := record.Decode(e)
		if err != nil {
			return err
		}
		if r.Purged != "" {
			continue
		}
		if c := q.columns(&r, e, r.CreatedAt(e)); q.test.Admits(&c) {
			q.consider(&c, false)
		}
	}
	return nil
}

// columns returns the columns of a record that the filter tests.
func (q *listing) columns(r *record.Record, e store.Entry, created time.Time) search.Columns {
	return columnsOf(r, e, created, len(q.filter.Fields) > 0)
}

// addStaged considers the stage's changes.
func (q *listing) addStaged() {
	t := q.stage
	for _, at := range t.order {
		r := t.changed[at]
		if r == nil || at.system || at.Collection != memories || at.Namespace != q.Namespace {
			continue
		}
		created := t.now
		if r.Created != 0 {
			created = time.UnixMicro(r.Created)
		}
		if c := q.columns(r, store.Entry{Key: at.Key, Point: store.Point{Time: t.now}}, created); q.test.Admits(&c) {
			q.consider(&c, true)
		}
	}
}

// page reads the memories found. ok is false if one differs in the store.
func (q *listing) page(ctx context.Context) (page Listed, ok bool, err error) {
	t, found := q.stage, q.top.sorted()
	if q.Count != "" {
		page.Total = q.total
	}
	if len(found) > q.limit() {
		found = found[:q.limit()]
		last := &found[len(found)-1]
		page.Next = cursor{q.digest, q.view.version, q.Began, q.view.now, last.value, last.key}.String()
	}
	var keys []store.Key
	for _, c := range found {
		if !c.staged {
			keys = append(keys, memoryKey(q.Namespace, c.key))
		}
	}
	entries, err := t.space.engine.GetAt(ctx, q.view.lineage, keys)
	if err != nil {
		return page, false, t.space.translate("list memories", err)
	}
	page.Memories = make([]Memory, 0, len(found))
	for _, c := range found {
		if c.staged {
			page.Memories = append(page.Memories, memoryOf(store.Entry{Key: memoryKey(q.Namespace, c.key)}, *t.changed[site{Key: memoryKey(q.Namespace, c.key)}]))
			continue
		}
		e := entries[0]
		entries = entries[1:]
		m, err := q.read(e, c)
		if m == nil || err != nil {
			return page, false, err
		}
		page.Memories = append(page.Memories, *m)
	}
	return page, true, nil
}

// read decodes an entry that was found; nil if it changed.
func (q *listing) read(e store.Entry, c candidate) (*Memory, error) {
	if !e.Exists() || e.Version != c.version {
		return nil, nil
	}
	r, err := record.Decode(e)
	if err != nil || r.Purged != "" {
		return nil, err
	}
	if q.view.version == q.stage.version { // a past version is no condition of the commit
		q.stage.note(site{Key: e.Key}, e)
	}
	m := memoryOf(e, r)
	return &m, nil
}

// candidate is a possible memory of the page.
type candidate struct {
	position
	version uint64
	staged  bool
	branch  store.BranchID
	score   float64
}

// topCandidates keeps the first memories of a listing, in a binary heap with the last of them at the root.
type topCandidates struct {
	most int
	list []candidate
}

func (f *topCandidates) add(c candidate) {
	switch {
	case len(f.list) < f.most:
		f.list = append(f.list, c)
		f.up(len(f.list) - 1)
	case f.most > 0 && c.compare(&f.list[0].position) < 0:
		f.replaceLast(c)
	}
}

func (f *topCandidates) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if f.list[i].compare(&f.list[parent].position) <= 0 {
			return
		}
		f.list[i], f.list[parent] = f.list[parent], f.list[i]
		i = parent
	}
}

// replaceLast replaces the root by a candidate.
func (f *topCandidates) replaceLast(c candidate) {
	i := 0
	for {
		last := 2*i + 1
		if last >= len(f.list) {
			break
		}
		if next := last + 1; next < len(f.list) && f.list[next].compare(&f.list[last].position) > 0 {
			last = next
		}
		if c.compare(&f.list[last].position) >= 0 {
			break
		}
		f.list[i] = f.list[last]
		i = last
	}
	f.list[i] = c
}

// enough reports whether a page has all its memories, after one of a walk: those behind it were not written or created later, and of those
// of its commit the names are later.
func (f *topCandidates) enough(c *search.Columns) bool {
	return f.most > 0 && len(f.list) == f.most && f.list[0].compare(&position{c.Updated, c.Namespace, c.Key}) <= 0
}

func (f *topCandidates) sorted() []candidate {
	slices.SortFunc(f.list, func(x, y candidate) int { return x.compare(&y.position) })
	return f.list
}
