package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

var indexedFields = []query.Field{{Path: "s", Type: query.String}, {Path: "n", Type: query.Number}, {Path: "b", Type: query.Bool}, {Path: "at", Type: query.Time}, {Path: "o.s", Type: query.String}}

func thingsCollection() Collection {
	f := indexedFields
	return Collection{Name: "fam/things", Indexes: []query.Index{{f[0]}, {f[1]}, {f[2]}, {f[3]}, {f[0], f[1]}, {f[4], f[3]}, {f[2], f[0], f[1]}}}
}

// indexModel does random things to records and holds queries against plain scans.
type indexModel struct {
	t        testing.TB
	rng      *rand.Rand
	dir      string
	ticks    atomic.Int64
	engine   *bolt.Engine
	s        *Space
	c        Collection
	branches []string
	forks    int
	versions []uint64 // of commits on default
	answered int      // from an index
	trace    []string
	pieces   [][]store.Piece // of copies
}

func (m *indexModel) open() {
	m.t.Helper()
	now := func() time.Time { return time.UnixMicro(m.ticks.Load()).UTC() }
	var err error
	if m.engine, err = bolt.Open(context.Background(), m.dir, bolt.Options{Now: now, NoSync: true}); err != nil {
		m.t.Fatal(err)
	}
	if m.s, err = Open(context.Background(), Options{Engine: m.engine, Index: search.New(search.Options{}), Clock: now, DeepChain: 3}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *indexModel) close() {
	m.t.Helper()
	if err := errors.Join(m.s.WaitIdle(context.Background()), m.engine.Check(context.Background()), m.s.Close(context.Background()), m.engine.Close()); err != nil {
		m.fatal("close: %v", err)
	}
}

func (m *indexModel) fatal(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(m.trace, "\n"))
}

func newIndexModel(t testing.TB, seed int64) *indexModel {
	m := &indexModel{t: t, rng: rand.New(rand.NewSource(seed)), dir: t.TempDir(), c: thingsCollection(), branches: []string{Default}}
	m.ticks.Store(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	m.open()
	return m
}

// settled waits until nothing is being built.
func settled(t testing.TB, s *Space) {
	t.Helper()
	await.That(t, "every index is built, and retired ones are reclaimed", func() bool {
		if err := s.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.indexes.Pending() == 0
	})
}

var someStrings = []string{"", "a", "ab", "ab\x00", "ab\x00\xc3\xa9", "b", "\u00e9t\u00e9", "zz", "open", "closed"}

func (m *indexModel) value(f query.Field) any {
	if m.rng.Intn(8) == 0 {
		return nil
	}
	if m.rng.Intn(12) == 0 {
		return []any{"of another type"}
	}
	switch f.Type {
	case query.String:
		return someStrings[m.rng.Intn(len(someStrings))]
	case query.Number:
		return []any{-1e300, -2.5, -1, 0, 0.5, 1, 2, 3, 1e18}[m.rng.Intn(9)]
	case query.Bool:
		return m.rng.Intn(2) == 0
	}
	at := time.Date(2029, 12, 31, m.rng.Intn(24), 0, 0, m.rng.Intn(3)*1000, time.UTC)
	if m.rng.Intn(2) == 0 {
		at = at.In(time.FixedZone("east", 7200))
	}
	return at.Format(time.RFC3339Nano)
}

func (m *indexModel) record() json.RawMessage {
	if m.rng.Intn(20) == 0 {
		return json.RawMessage(`"no object"`)
	}
	r := map[string]any{}
	for _, f := range indexedFields {
		v := m.value(f)
		if v == nil && m.rng.Intn(2) == 0 {
			continue
		}
		if f.Path == "o.s" {
			r["o"] = map[string]any{"s": v, "else": 1}
			continue
		}
		r[f.Path] = v
	}
	data, err := json.Marshal(r)
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

func (m *indexModel) key() string { return fmt.Sprintf("%c%d", "kl"[m.rng.Intn(2)], m.rng.Intn(30)) }

func (m *indexModel) branch() string { return m.branches[m.rng.Intn(len(m.branches))] }

func (m *indexModel) namespace() string { return modelNamespaces[m.rng.Intn(2)] }

// write stages a few changes, and commits them on a branch or as a proposal.
func (m *indexModel) write() {
	branch := m.branch()
	t := stage(m.t, m.s, branch)
	for range 1 + m.rng.Intn(4) {
		m.change(t)
	}
	m.compare(t, branch+" with changes")
	c := Commit{}
	if m.rng.Intn(12) == 0 {
		m.forks++
		c.Proposal = fmt.Sprintf("p%d", m.forks)
		m.branches = append(m.branches, c.Proposal)
	}
	done, err := t.Commit(context.Background(), c)
	if err != nil {
		m.fatal("commit on %s: %v", branch, err)
	}
	m.trace = append(m.trace, fmt.Sprintf("commit %d on %s", done.Version, done.Branch))
	if done.Branch == Default && done.Version != 0 {
		m.versions = append(m.versions, done.Version)
	}
	if done.Version == 0 && c.Proposal != "" { // nothing changed
		m.branches = m.branches[:len(m.branches)-1]
	}
}

func (m *indexModel) change(t *Stage) {
	namespace, key := m.namespace(), m.key()
	if m.rng.Intn(5) == 0 {
		if _, err := t.DeleteRecords(context.Background(), m.c, namespace, []string{key}); err != nil {
			m.fatal("delete: %v", err)
		}
		return
	}
	it := RecordItem{Key: key, Value: m.record()}
	if m.rng.Intn(4) == 0 {
		at := t.Now().Add(time.Duration(1+m.rng.Intn(30)) * time.Second)
		it.ExpiresAt = &at
	}
	if err := t.Keep(context.Background(), m.c, namespace, it); err != nil {
		m.fatal("put: %v", err)
	}
}

func (m *indexModel) step() {
	m.ticks.Add(time.Second.Microseconds())
	switch n := m.rng.Intn(100); {
	case n < 50:
		m.write()
	case n < 58:
		from := m.branch()
		m.forks++
		name := fmt.Sprintf("b%d", m.forks)
		if _, err := m.s.Fork(context.Background(), from, name, AsOf{}, Write{}); err != nil {
			m.fatal("fork: %v", err)
		}
		m.branches = append(m.branches, name)
		m.trace = append(m.trace, "fork "+from+" "+name)
	case n < 66 && len(m.branches) > 1:
		m.merge()
	case n < 69 && len(m.branches) > 3:
		at := 1 + m.rng.Intn(len(m.branches)-1)
		if err := m.s.Delete(context.Background(), m.branches[at], Write{}); err != nil {
			m.fatal("delete branch: %v", err)
		}
		m.trace = append(m.trace, "delete "+m.branches[at])
		m.branches = slices.Delete(m.branches, at, at+1)
	case n < 71:
		m.close()
		m.open()
		if m.c.Indexes != nil {
			m.s.DeclareIndexes(m.c)
		}
		m.trace = append(m.trace, "reopen")
	case n < 74:
		m.ticks.Add(20 * time.Second.Microseconds())
	case n < 77 && len(m.versions) > 5:
		m.trim()
	case n < 79:
		m.purge()
	case n < 82:
		m.declare()
	default:
		m.look()
	}
}

func (m *indexModel) merge() {
	from, into := m.branch(), m.branch()
	if from == into {
		return
	}
	strategy := []Strategy{Source, Target, Newest}[m.rng.Intn(3)]
	_, err := m.s.Merge(context.Background(), Merge{Source: from, Target: into, Strategy: strategy}, Write{})
	if err != nil {
		m.fatal("merge: %v", err)
	}
	m.trace = append(m.trace, fmt.Sprintf("merge %s into %s by %s", from, into, strategy))
}

func (m *indexModel) trim() {
	branch, at := m.branch(), m.versions[m.rng.Intn(len(m.versions))]
	_, err := m.s.Trim(context.Background(), branch, AsOf{Version: at})
	if _, trimmed := asTrimmed(err); err != nil && !trimmed {
		var known *Error
		if !errors.As(err, &known) {
			m.fatal("trim: %v", err)
		}
	}
	m.trace = append(m.trace, fmt.Sprintf("trim %s to %d: %v", branch, at, err))
}

func (m *indexModel) purge() {
	p := purge.Request{Namespace: m.namespace(), Collection: m.c.Name, Key: m.key()}
	_, err := m.s.Purge(context.Background(), p)
	var known *Error
	if err != nil && (!errors.As(err, &known) || known.Code != NotFound) {
		m.fatal("purge: %v", err)
	}
	m.trace = append(m.trace, fmt.Sprintf("purge %s: %v", p.Key, err))
}

// declare changes which indexes are kept.
func (m *indexModel) declare() {
	all := thingsCollection().Indexes
	m.c.Indexes = nil
	for _, index := range all {
		if m.rng.Intn(4) > 0 {
			m.c.Indexes = append(m.c.Indexes, index)
		}
	}
	m.c.Indexes = append(m.c.Indexes, all[0])
	m.s.DeclareIndexes(m.c)
	m.trace = append(m.trace, fmt.Sprintf("declare %v", m.c.Indexes))
}

// look compares queries on a branch now, or in its past.
func (m *indexModel) look() {
	branch := m.branch()
	if m.rng.Intn(2) == 0 {
		settled(m.t, m.s)
	}
	at := AsOf{}
	if len(m.versions) > 0 && m.rng.Intn(2) == 0 {
		at.Version = m.versions[m.rng.Intn(len(m.versions))]
	}
	t, err := m.s.owner("").StageAt(context.Background(), branch, at)
	if err != nil {
		var known *Error
		if errors.As(err, &known) {
			return // trimmed, or before the branch
		}
		m.fatal("stage: %v", err)
	}
	for range 5 {
		m.compare(t, fmt.Sprintf("%s at %d", branch, at.Version))
	}
}

func (m *indexModel) filter() query.Filter {
	f := indexedFields[m.rng.Intn(len(indexedFields))]
	q := query.Filter{Field: f.Path, Op: []query.Op{query.Equal, query.Equal, query.In, query.Greater, query.AtLeast, query.Less, query.AtMost, query.Prefix}[m.rng.Intn(8)]}
	typed := func() any {
		for {
			if v := m.value(f); v != nil {
				if _, other := v.([]any); !other {
					return v
				}
			}
		}
	}
	var v any
	switch {
	case q.Op == query.Prefix && f.Type != query.String:
		return m.filter()
	case q.Op == query.In:
		v = []any{typed(), typed(), nil}[m.rng.Intn(2):]
	case q.Op == query.Equal && m.rng.Intn(5) == 0:
		v = nil
	default:
		v = typed()
	}
	data, err := json.Marshal(v)
	if err != nil {
		m.t.Fatal(err)
	}
	q.Value = data
	return q
}

// compare asks a random question and works the answer out from a plain listing.
func (m *indexModel) compare(t *Stage, what string) {
	m.t.Helper()
	namespace := m.namespace()
	q := query.Query{Limit: 1 + m.rng.Intn(7), Descending: m.rng.Intn(2) == 0, Count: m.rng.Intn(3) == 0}
	for range m.rng.Intn(3) {
		q.Filters = append(q.Filters, m.filter())
	}
	if m.rng.Intn(2) == 0 {
		q.Order = indexedFields[m.rng.Intn(len(indexedFields))].Path
	}
	if m.rng.Intn(4) == 0 {
		q.Prefix = "k"
	}
	reader := t
	if m.rng.Intn(4) == 0 {
		reader = t.Expired()
	}
	if p, err := m.c.queried().Plan(namespace, q); err == nil {
		if m.s.indexes.Covering(m.c.Name, p.Index, t.lineage()) != nil {
			m.answered++
		}
	}
	var got []Record
	for {
		page, err := reader.QueryRecords(context.Background(), m.c, namespace, q)
		var known *Error
		if errors.As(err, &known) && known.Code == InvalidArgument {
			if !strings.Contains(known.Message, "declare one in the manifest") {
				m.fatal("%s: %v", what, err)
			}
			return
		}
		if err != nil {
			m.fatal("%s: %v", what, err)
		}
		got = append(got, page.Records...)
		if q.Count && page.Total != len(m.naive(reader, namespace, q)) {
			m.fatal("%s: %+v counts %d, of %d", what, q, page.Total, len(m.naive(reader, namespace, q)))
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	m.judge(what, q, got, m.naive(reader, namespace, q))
}

func (m *indexModel) judge(what string, q query.Query, got []Record, want map[string]Record) {
	m.t.Helper()
	seen := map[string]bool{}
	for i, r := range got {
		w, ok := want[r.Key]
		if !ok || seen[r.Key] || !bytes.Equal(w.Value, r.Value) || w.Version != r.Version || !w.ExpiresAt.Equal(r.ExpiresAt) {
			m.fatal("%s: %s answers %s=%s, at %d; a scan has %v", what, describeQuery(q), r.Key, r.Value, i, w)
		}
		seen[r.Key] = true
		if q.Order == "" || i == 0 {
			continue
		}
		c := naiveCompare(fieldOf(got[i-1].Value, q.Order), fieldOf(r.Value, q.Order))
		if q.Descending && c < 0 || !q.Descending && c > 0 {
			m.fatal("%s: %s has %s before %s", what, describeQuery(q), got[i-1].Value, r.Value)
		}
	}
	for key, w := range want {
		if !seen[key] {
			m.fatal("%s: %s lacks %s=%s", what, describeQuery(q), key, w.Value)
		}
	}
}

func describeQuery(q query.Query) string {
	data, err := json.Marshal(q)
	return fmt.Sprint(string(data), err)
}

// naive lists everything and selects by decoded values.
func (m *indexModel) naive(t *Stage, namespace string, q query.Query) map[string]Record {
	m.t.Helper()
	found := map[string]Record{}
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := t.ListRecords(context.Background(), m.c, namespace, q.Prefix, after, 0)
		if err != nil {
			m.fatal("list: %v", err)
		}
		for _, r := range page {
			if !slices.ContainsFunc(q.Filters, func(f query.Filter) bool { return !naiveAdmits(r.Value, f) }) {
				found[r.Key] = r
			}
		}
		after = next
	}
	return found
}

// fieldOf is a field as its type has it; nil for anything else.
func fieldOf(value json.RawMessage, path string) any {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		panic(err)
	}
	for _, name := range strings.Split(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return typedAs(v, path)
}

func typedAs(v any, path string) any {
	switch f := indexedFields[slices.IndexFunc(indexedFields, func(f query.Field) bool { return f.Path == path })]; f.Type {
	case query.String:
		if s, ok := v.(string); ok {
			return s
		}
	case query.Number:
		if n, ok := v.(float64); ok {
			return n
		}
	case query.Bool:
		if b, ok := v.(bool); ok {
			return b
		}
	case query.Time:
		if s, ok := v.(string); ok {
			if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
				return at
			}
		}
	}
	return nil
}

func naiveCompare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch x := a.(type) {
	case string:
		return strings.Compare(x, b.(string))
	case float64:
		y := b.(float64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	case bool:
		return map[bool]int{true: 1}[x] - map[bool]int{true: 1}[b.(bool)]
	}
	return a.(time.Time).Compare(b.(time.Time))
}

func naiveAdmits(value json.RawMessage, f query.Filter) bool {
	v := fieldOf(value, f.Field)
	var raw any
	if err := json.Unmarshal(f.Value, &raw); err != nil {
		panic(err)
	}
	if f.Op == query.In {
		return slices.ContainsFunc(raw.([]any), func(one any) bool { return naiveCompare(v, typedAs(one, f.Field)) == 0 })
	}
	want := typedAs(raw, f.Field)
	if f.Op != query.Equal && v == nil {
		return false
	}
	switch c := naiveCompare(v, want); f.Op {
	case query.Equal:
		return c == 0
	case query.Greater:
		return c > 0
	case query.AtLeast:
		return c >= 0
	case query.Less:
		return c < 0
	case query.AtMost:
		return c <= 0
	}
	return strings.HasPrefix(v.(string), want.(string))
}

// Each day another seed has its turn.
func TestQueriesOfRecordsAnswerAsAPlainScanDoes(t *testing.T) {
	steps := 250
	if testing.Short() {
		steps = 150
	}
	for _, seed := range stress.Seeds(t, 1, 4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := newIndexModel(t, int64(seed))
			for i := range steps {
				if i == steps/8 { // there are records before there is an index
					m.declare()
				}
				m.step()
			}
			for _, branch := range m.branches {
				m.compare(stage(t, m.s, branch), branch) // has it built
				settled(t, m.s)
				for range 20 {
					m.compare(stage(t, m.s, branch), branch)
				}
			}
			if m.answered < 100 {
				t.Errorf("an index answered %d questions", m.answered)
			}
			m.close()
		})
	}
}
