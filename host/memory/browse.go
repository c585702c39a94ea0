package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// checkOrder checks the fields of a search that an order needs or excludes.
func (q *Search) checkOrder(l Limits) error {
	if err := q.Order.check(); err != nil {
		return err
	}
	if err := l.checkFilterList("writers", q.Writers, l.Key); err != nil {
		return err
	}
	if m := q.MinImportance; m != nil && !(*m >= 0 && *m <= 1) {
		return invalid("min_importance is %v: it goes from 0 to 1", *m)
	}
	if q.Order == "" {
		if q.After != "" {
			return invalid("after continues a listing: give the order of the page before, or use offset")
		}
		return nil
	}
	if q.After != "" && q.Offset > 0 {
		return invalid("after and offset cannot go together: leave offset out")
	}
	for _, option := range []struct {
		name  string
		given bool
	}{
		{"mode semantic", q.Mode == Semantic}, {"vector", q.Vector != nil}, {"expand", q.Expand}, {"distinct", q.Distinct}, {"explain", q.Explain}, {"features", q.Features},
	} {
		if !option.given {
			continue
		}
		if q.Text == "" {
			return invalid("a search without a query goes by fields alone: leave %s out, or ask something", option.name)
		}
		return invalid("an ordered search goes by words alone: leave %s out, or order", option.name)
	}
	if q.Order.counts() && !q.AsOf.IsNow() && !q.present {
		return invalid("counters are of the present: leave as_of out, or order by something else")
	}
	return nil
}

// browse lists matches in the requested order; without a text, everything. All pages are of the version of the first one.
func (s *Space) browse(ctx context.Context, v view, q Search) (Found, error) {
	b, err := s.browsing(ctx, v, q)
	if err != nil {
		return Found{}, err
	}
	if err := b.find(ctx); err != nil {
		return Found{}, s.translate("search", err)
	}
	list := b.top.sorted()
	list = list[min(q.Offset, len(list)):]
	found := Found{Total: b.total}
	if len(list) > q.K {
		list = list[:q.K]
		found.Next = b.cursor(&list[q.K-1].position)
	}
	hits := make([]search.Hit, 0, len(list))
	for _, c := range list {
		hits = append(hits, search.Hit{Branch: c.branch, Version: c.version, Namespace: c.namespace, Collection: q.collection(), Key: c.key, Score: c.score})
	}
	if err := s.index.MarkSuperseded(b.view.searched(q), hits); err != nil {
		return Found{}, s.translate("search", err)
	}
	found.Hits, err = s.hits(ctx, b.view, q, hits)
	return found, err
}

// orderedSearch is the execution of an ordered search.
type orderedSearch struct {
	space  *Space
	q      Search
	view   view
	began  time.Time // when the first page was asked for
	digest [8]byte   // of the search and its branch
	filter search.Filter
	from   *position // nil: the first page
	top    topCandidates
	total  int
}

// browsing reads the cursor and fixes the version to show.
func (s *Space) browsing(ctx context.Context, v view, q Search) (*orderedSearch, error) {
	asked := q.indexQuery()
	b := &orderedSearch{space: s, q: q, view: v, began: s.clock().UTC().Truncate(time.Microsecond), digest: q.asked, top: topCandidates{most: q.Offset + q.K + 1}, filter: search.Filter{
		Prefix: q.Prefix, Text: q.Text, Question: q.question, States: asked.States, Types: q.Types, Agents: q.Writers, Tags: q.Tags, NoTags: q.NoTags, MinImportance: q.MinImportance, Dated: Span{Since: q.Since, Until: q.Until}}}
	if len(b.filter.States) == 0 {
		b.filter.States = []string{string(Active)}
	}
	for i := range 4 {
		b.digest[i] ^= byte(v.branch.ID >> (8 * i)) // a new branch with the same name differs
	}
	if v.version == store.Latest {
		head, err := s.engine.Head(ctx)
		if err != nil {
			return nil, s.translate("read the newest version", err)
		}
		b.view.version = head.Version
	}
	if err := b.continued(); err != nil {
		return nil, err
	}
	b.view.lineage = v.lineage.At(b.view.version)
	if _, err := s.upkeep.Await(ctx, b.view.version); err != nil {
		return nil, err
	}
	if b.from == nil {
		return b, nil
	}
	return b, s.reachable(ctx, view{branch: v.branch, lineage: b.view.lineage, past: true})
}

// continued resumes after the previous page.
func (b *orderedSearch) continued() error {
	if b.q.After == "" {
		return nil
	}
	c, err := parseBrowseCursor(b.q.After)
	switch {
	case err != nil:
		return err
	case c.digest != b.digest:
		return invalid("after is of another listing: repeat the query, the filters, the order and the branch of the page before, or begin again without it")
	case c.version == 0 || c.version > b.view.version || c.now.After(b.view.now.Add(clockSkew)):
		return errCursor()
	}
	b.view.version, b.view.now, b.began, b.total = c.version, c.now, c.began, c.total
	b.from = &position{c.value, c.namespace, c.key}
	return nil
}

// cursor continues behind a position.
func (b *orderedSearch) cursor(last *position) string {
	return browseCursor{b.digest, b.view.version, b.began, b.view.now, b.total, *last}.String()
}

// find finds the page, and on the first one how many matches there are.
func (b *orderedSearch) find(ctx context.Context) (err error) {
	within, most, tallied := b.view.searched(b.q), 0, b.from != nil
	if !tallied {
		if b.total, tallied, err = b.space.index.Tally(ctx, within, b.filter); err != nil {
			return err
		}
	}
	if tallied {
		most = b.top.most // no need to examine the others
	}
	if tallied {
		if done, err := b.fromCommits(ctx); done || err != nil {
			return err
		}
	}
	return b.space.counting(ctx, b.q.Order, b.view, func(counted counters.Present) error {
		if done, err := b.byCounters(ctx, within, counted, tallied); done || err != nil {
			return err
		}
		return b.space.index.Select(ctx, within, b.filter, b.q.Order.ordering(b.from, most), func(c *search.Columns) bool {
			if !tallied {
				b.total++
			}
			b.consider(c, counted)
			return !c.InOrder || len(b.top.list) < b.top.most
		})
	})
}

// fromCommits lists by time from the newest commits. done is false, and nothing is found, if that is too slow.
func (b *orderedSearch) fromCommits(ctx context.Context) (done bool, err error) {
	if b.q.collection() != memories || !isByTime(b.q.Order, &b.filter) {
		return false, nil
	}
	r, ok, err := b.space.recently(ctx, b.view, b.q.Order, b.from.instant(), b.top.most, func(in string) bool {
		return namespace.Selects(b.q.Namespaces, in) && (b.q.Project == "" || !namespace.Beside(b.q.Project, in))
	})
	if !ok || err != nil {
		return false, err
	}
	test := b.filter.At(b.view.now)
	done, err = r.each(ctx, func(c *search.Columns) bool {
		if test.Admits(c) {
			b.consider(c, counters.Present{})
		}
		return b.top.enough(c)
	})
	if !done {
		b.top = topCandidates{most: b.top.most}
	}
	return done, err
}

// consider adds a match unless it is on an earlier page, and reports whether it did.
func (b *orderedSearch) consider(c *search.Columns, counted counters.Present) bool {
	at := position{b.q.Order.value(c, counted.Of(c.Namespace, c.Key)), c.Namespace, c.Key}
	if b.from != nil && at.compare(b.from) <= 0 {
		return false
	}
	b.top.add(candidate{position: at, version: c.Version, branch: c.Branch, score: c.Score})
	return true
}

// mostInOrder bounds the namespaces whose counters are gone through in order, one after the other.
const mostInOrder = 64

// byCounters lists by a counter without reading all matches: first those with a counter, by namespace, then, if the page has room, the others
// by key. done is false if that is too slow.
func (b *orderedSearch) byCounters(ctx context.Context, within search.View, counted counters.Present, tallied bool) (done bool, err error) {
	index := b.space.index
	if !tallied || !b.q.Order.counts() || b.filter.Text != "" || len(b.filter.Tags) > 0 || len(b.filter.Agents) > 0 || !counted.Any() {
		return false, nil
	}
	namespaces, err := index.Namespaces(ctx, within)
	if err != nil || len(namespaces) > mostInOrder {
		return false, err
	}
	var start *counters.Place
	if b.from != nil {
		start = &counters.Place{Value: b.from.value} // before all keys with the value
	}
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		one, added := within, 0
		one.Namespaces = []string{name}
		err := index.SelectKeys(ctx, one, b.filter, countedKeys(counted.Descending(name, b.q.Order.counter(), start)), func(c *search.Columns) bool {
			if b.consider(c, counted) {
				added++
			}
			return added < b.top.most
		})
		if err != nil {
			return false, err
		}
	}
	if len(b.top.list) >= b.top.most {
		return true, nil
	}
	rest := search.Ordering{By: search.ByName, Most: b.top.most}
	if b.from != nil && b.from.value == 0 {
		rest.After = &search.Place{Namespace: b.from.namespace, Key: b.from.key}
	}
	return true, index.Select(ctx, within, b.filter, rest, func(c *search.Columns) bool {
		if b.q.Order.value(c, counted.Of(c.Namespace, c.Key)) == 0 {
			b.consider(c, counted)
		}
		return !c.InOrder || len(b.top.list) < b.top.most
	})
}

// countedKeys returns the keys alone.
func countedKeys(counted iter.Seq2[string, counters.Record]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range counted {
			if !yield(key) {
				return
			}
		}
	}
}

// digest identifies a search, apart from its page.
func (q Search) digest() [8]byte {
	q.After, q.K, q.Offset, q.Branch, q.Passage, q.Facets = "", 0, 0, "", 0, false
	if q.present {
		q.AsOf = AsOf{}
	}
	asked, err := json.Marshal(q)
	if err != nil { // NaN, which no index finds
		return [8]byte{}
	}
	sum := sha256.Sum256(asked)
	return [8]byte(sum[:8])
}

// browseCursor continues an ordered search.
type browseCursor struct {
	digest  [8]byte
	version uint64    // being read
	began   time.Time // when the first page was asked for
	now     time.Time // for expiry
	total   int
	position
}

func (c browseCursor) String() string {
	out := append([]byte(nil), c.digest[:]...)
	out = binary.AppendUvarint(out, c.version)
	out = binary.AppendVarint(out, c.began.UnixMicro())
	out = binary.AppendVarint(out, c.now.UnixMicro()-c.began.UnixMicro())
	out = binary.AppendUvarint(out, uint64(c.total))
	out = binary.AppendVarint(out, c.value)
	out = binary.AppendUvarint(out, uint64(len(c.namespace)))
	return base64.RawURLEncoding.EncodeToString(append(append(out, c.namespace...), c.key...))
}

func parseBrowseCursor(text string) (c browseCursor, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < len(c.digest) {
		return c, errCursor()
	}
	c.digest, raw = [8]byte(raw), raw[len(c.digest):]
	whole := func() uint64 {
		v, n := binary.Uvarint(raw)
		if n <= 0 {
			err, n = errCursor(), 0
		}
		raw = raw[n:]
		return v
	}
	signed := func() int64 {
		v := whole() // zigzag, as binary.AppendVarint writes
		return int64(v>>1) ^ -int64(v&1)
	}
	c.version = whole()
	began := signed()
	c.began, c.now = time.UnixMicro(began).UTC(), time.UnixMicro(began+signed()).UTC()
	c.total, c.value = int(whole()&math.MaxInt32), signed()
	length := whole()
	if err != nil || length > uint64(len(raw)) {
		return c, errCursor()
	}
	c.namespace, c.key = string(raw[:length]), string(raw[length:])
	return c, nil
}

// SearchBegan returns the base of an ordered search's relative moments such as an hour ago: when the first page was asked for, or now.
func SearchBegan(after string, now time.Time) time.Time {
	if c, err := parseBrowseCursor(after); after != "" && err == nil && c.began.Before(now) {
		return c.began
	}
	return now.UTC().Truncate(time.Microsecond)
}

// counting runs work with the counters, if an order needs them.
func (s *Space) counting(ctx context.Context, o Order, v view, work func(counters.Present) error) error {
	if !o.counts() {
		return work(counters.Present{})
	}
	counted, release, err := s.counters.Now(ctx, v.branch)
	if err != nil {
		return s.translate("read counters", err)
	}
	defer release()
	return work(counted)
}

// complete sets a search's order: without a text, or a vector in its place, it lists the newest.
func (q *Search) complete() {
	if q.Text == "" && q.Vector == nil {
		q.Order = cmp.Or(q.Order, ByNewest)
	}
}
