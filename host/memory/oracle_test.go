package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// The oracle keeps a full copy of every namespace after every write, as a graph of states like that of a version
// control system, and works everything out from the copies: it shares no idea with what it judges.

// inEnglish is how texts become words.
var inEnglish = sync.OnceValue(func() *search.Analyser { return must.Get(search.NewAnalyser("")) })

type place2 struct{ namespace, key string }

// cell is what a key holds; deleted ones stay, with the version that deleted them.
type cell struct {
	text    string            // the value, a string; or else
	fields  map[string]string // its fields
	meta    map[string]string
	tags    []string
	state   State
	expires time.Time
	version uint64
	deleted bool
}

func (c cell) there() bool { return c.version != 0 && !c.deleted }

func (c cell) live(now time.Time) bool {
	return c.there() && (c.expires.IsZero() || c.expires.After(now))
}

func (c cell) value() string {
	var v any = c.text
	if c.fields != nil {
		v = c.fields
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// says is what a cell says to a merge, which does not look at versions.
func (c cell) says() string {
	if !c.there() {
		return ""
	}
	return fmt.Sprintf("%s %v %q %s %d", c.value(), c.meta, c.tags, c.state, c.expires.UnixMicro())
}

// words are what a search looks at.
func (c cell) words(key string) []string {
	words := inEnglish().Terms(c.text)
	said := []string{key}
	if c.turn() {
		said = []string{c.meta["speaker"], c.meta["caption"]}
	}
	for _, text := range slices.Concat(slices.Collect(maps.Values(c.fields)), c.tags, said) {
		words = append(words, inEnglish().Terms(text)...)
	}
	return words
}

// chats reports whether a turn is of a chat with an assistant.
func (c cell) chats() bool { return c.meta["role"] == "user" || c.meta["role"] == "assistant" }

// factor is that of a turn's words.
func (c cell) factor() float64 {
	if c.meta["role"] == "assistant" {
		return .3
	}
	return 1
}

// turn reports whether a cell is part of a conversation.
func (c cell) turn() bool { return c.meta["session"] != "" && c.meta["seq"] != "" }

// node is the state of one namespace on a branch.
type node struct {
	parents []*node
	cells   map[string]cell
	events  []string
}

func (n *node) ancestors(into map[*node]bool) map[*node]bool {
	if n == nil || into[n] {
		return into
	}
	into[n] = true
	for _, p := range n.parents {
		p.ancestors(into)
	}
	return into
}

// bases are the common ancestors that are not ancestors of another common one.
func bases(a, b *node) []*node {
	inA, inB := a.ancestors(map[*node]bool{}), b.ancestors(map[*node]bool{})
	common := map[*node]bool{}
	for n := range inA {
		if inB[n] {
			common[n] = true
		}
	}
	for n := range maps.Clone(common) {
		for _, p := range n.parents {
			for older := range p.ancestors(map[*node]bool{}) {
				delete(common, older)
			}
		}
	}
	return slices.Collect(maps.Keys(common))
}

var modelNamespaces = []string{"default", "other"}

// tree is the states of all namespaces of a branch.
type tree map[string]*node

func (t tree) cell(p place2) cell { return t[p.namespace].cells[p.key] }

type instant struct {
	version uint64
	time    time.Time
	tree    tree
}

type oracle struct {
	timelines map[string][]instant
	floor     uint64 // nothing was trimmed above it
}

func newOracle() *oracle {
	first := tree{}
	for _, namespace := range modelNamespaces {
		first[namespace] = &node{cells: map[string]cell{}}
	}
	return &oracle{timelines: map[string][]instant{Default: {{tree: first}}}}
}

func (o *oracle) head(branch string) tree {
	line := o.timelines[branch]
	return line[len(line)-1].tree
}

func (o *oracle) at(branch string, version uint64) tree {
	found := newOracle().head(Default)
	for _, m := range o.timelines[branch] {
		if m.version <= version {
			found = m.tree
		}
	}
	return found
}

// commit is what one version changes: per namespace cells, an event, and what was merged into it.
type commit struct {
	cells  map[place2]cell
	events map[string]string
	merged tree
}

func (o *oracle) write(branch string, version uint64, at time.Time, c commit) {
	next := maps.Clone(o.head(branch))
	for namespace, was := range next {
		n := &node{parents: []*node{was}, cells: maps.Clone(was.cells), events: slices.Clone(was.events)}
		changed := false
		for p, to := range c.cells {
			if p.namespace == namespace {
				to.version = version
				n.cells[p.key], changed = to, true
			}
		}
		if event, ok := c.events[namespace]; ok {
			n.events = append(n.events, event)
			changed = true
		}
		if other := c.merged[namespace]; other != nil {
			n.parents = append(n.parents, other)
			changed = true
		}
		if changed {
			next[namespace] = n
		}
	}
	o.timelines[branch] = append(o.timelines[branch], instant{version, at, next})
}

// verdict is what a merge has to do.
type verdict struct {
	writes     map[place2]cell
	unresolved []place2
	// unsure are keys that a merge by fields may resolve in one way or another: the branches were merged crosswise.
	unsure []place2
}

func (o *oracle) merged(m Merge) verdict {
	v := verdict{writes: map[place2]cell{}}
	for _, namespace := range modelNamespaces {
		if m.Namespaces == nil || slices.Contains(m.Namespaces, namespace) {
			o.mergeNamespace(m, namespace, &v)
		}
	}
	return v
}

func (o *oracle) mergeNamespace(m Merge, namespace string, v *verdict) {
	s, t := o.head(m.Source)[namespace], o.head(m.Target)[namespace]
	common := bases(s, t)
	keys := maps.Clone(s.cells)
	maps.Copy(keys, t.cells)
	for key := range keys {
		v.mergeKey(m, place2{namespace, key}, common, s.cells[key], t.cells[key])
	}
}

func (v *verdict) mergeKey(m Merge, p place2, common []*node, s, t cell) {
	was := func(c cell) bool {
		if len(common) == 0 {
			return c.says() == ""
		}
		return slices.ContainsFunc(common, func(n *node) bool { return n.cells[p.key].says() == c.says() })
	}
	if s.says() == t.says() {
		return
	}
	if i := slices.IndexFunc(m.Resolutions, func(r Resolution) bool { return r.Namespace == p.namespace && r.Key == p.key }); i >= 0 {
		v.resolve(m.Resolutions[i], p, s, t)
		return
	}
	changedS, changedT := !was(s), !was(t)
	switch {
	case !changedS:
	case !changedT:
		v.take(p, s)
	case m.Strategy == Strict:
		v.unresolved = append(v.unresolved, p)
	case m.Strategy == Source, m.Strategy == Newest && s.version > t.version:
		v.take(p, s)
	case m.Strategy == Fields:
		v.mergeFields(p, common, s, t)
	}
}

func (v *verdict) take(p place2, c cell) {
	c.deleted = !c.there()
	v.writes[p] = c
}

func (v *verdict) resolve(r Resolution, p place2, s, t cell) {
	switch r.Take {
	case "source":
		v.take(p, s)
	case "delete":
		if t.there() {
			v.take(p, cell{})
		}
	case "value":
		c := t
		if s.there() {
			c = s
		}
		c.deleted, c.fields, c.text = false, nil, strings.Trim(string(r.Value), `"`)
		if c.state == "" {
			c.state = Active
		}
		if c.version = math.MaxUint64; c.says() != t.says() {
			v.take(p, c)
		}
	}
}

func (v *verdict) mergeFields(p place2, common []*node, s, t cell) {
	if len(common) > 1 {
		v.unsure = append(v.unsure, p)
		return
	}
	base := cell{state: Active}
	if len(common) == 1 && common[0].cells[p.key].there() {
		base = common[0].cells[p.key]
	}
	merged, ok := mergeCells(base, s, t)
	if !s.there() || !t.there() || !ok {
		v.unresolved = append(v.unresolved, p)
		return
	}
	if merged.says() != t.says() {
		v.take(p, merged)
	}
}

// mergeCells merges field by field; clashes is told by ok.
func mergeCells(base, s, t cell) (merged cell, ok bool) {
	merged = t
	ok = true
	one := func(base, s, t string) string {
		if s != t && s != base && t != base {
			ok = false
		}
		if t != base {
			return t
		}
		return s
	}
	all := func(base, s, t map[string]string) map[string]string {
		both := map[string]string{}
		for name := range joined(s, t) {
			if value := one(base[name], s[name], t[name]); value != "" {
				both[name] = value
			}
		}
		return both
	}
	if s.fields != nil && t.fields != nil {
		merged.fields, merged.text = all(base.fields, s.fields, t.fields), ""
	} else {
		from := map[string]cell{s.value(): s, t.value(): t}[one(valueOf(base), s.value(), t.value())]
		merged.fields, merged.text = from.fields, from.text
	}
	merged.meta = all(base.meta, s.meta, t.meta)
	if len(merged.meta) == 0 {
		merged.meta = nil
	}
	merged.tags = mergeTags(base.tags, s.tags, t.tags)
	merged.state = State(one(string(base.state), string(s.state), string(t.state)))
	micros := func(c cell) string { return fmt.Sprint(c.expires.UnixMicro()) }
	merged.expires = map[string]time.Time{micros(s): s.expires, micros(t): t.expires}[one(micros(base), micros(s), micros(t))]
	return merged, ok
}

func valueOf(base cell) string {
	if !base.there() {
		return ""
	}
	return base.value()
}

func joined(a, b map[string]string) map[string]string {
	both := maps.Clone(a)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, b)
	return both
}

// mergeTags is the target's tags but those that the source dropped, and then those that the source added.
func mergeTags(base, s, t []string) []string {
	merged := slices.DeleteFunc(slices.Clone(t), func(tag string) bool { return slices.Contains(base, tag) && !slices.Contains(s, tag) })
	for _, tag := range s {
		if !slices.Contains(base, tag) && !slices.Contains(t, tag) {
			merged = append(merged, tag)
		}
	}
	return merged
}

// ranked is what a search has to find: BM25 and conversations written down once more, over a copy of the view.
func ranked(t tree, now time.Time, query string, namespaces []string) []string {
	docs, cells := map[place2][]string{}, map[place2]cell{}
	total := 0
	for namespace, n := range t {
		if namespaces != nil && !slices.Contains(namespaces, namespace) {
			continue
		}
		for key, c := range n.cells {
			if c.live(now) && c.state != Archived {
				docs[place2{namespace, key}], cells[place2{namespace, key}] = c.words(key), c
				total += len(c.words(key))
			}
		}
	}
	found := scores(docs, float64(total)/float64(len(docs)), query)
	return best(conversed(cells, docs, found, query), 10)
}

// conversed are the scores that turns of conversations have: see search.Conversation.
func conversed(cells map[place2]cell, docs map[place2][]string, plain map[place2]float64, query string) map[place2]float64 {
	after := maps.Clone(plain)
	q := understood(cells, docs, query)
	for p, c := range cells {
		if share := dateShare(c.meta["ts"], q.june, q.in2025); c.turn() && share > 0 && (q.dateAlone || len(plain) == 0) {
			after[p]++
		}
	}
	matches := maps.Clone(after)
	for p, c := range cells {
		if !c.turn() {
			continue
		}
		window := q.window(p)
		if delete(after, p); window == 0 && matches[p] == 0 {
			continue
		}
		_, cover := q.own(p)
		before, zone := 0.0, 0.0
		if !c.chats() {
			before, zone = q.questionBefore(p), q.zone(p)
		}
		// In the order of the index, since a sum in another order may differ in its last digit.
		after[p] = 1e-6*matches[p] + (.35*window + .2*cover + .25*before + .125*q.total*q.named(c) + .5*q.total*dateShare(c.meta["ts"], q.june, q.in2025)) + .4*zone
	}
	return after
}

// question is a question about cells.
type question struct {
	cells                   map[place2]cell
	docs                    map[place2][]string
	average                 float64
	terms                   []string
	weights                 map[string]float64
	total                   float64
	june, in2025, dateAlone bool
}

func understood(cells map[place2]cell, docs map[place2][]string, query string) *question {
	words := strings.Fields(query)
	q := &question{cells: cells, docs: docs, weights: map[string]float64{}, june: slices.Contains(words, "june"), in2025: slices.Contains(words, "2025")}
	q.dateAlone = !slices.ContainsFunc(words, func(w string) bool { return w != "june" && w != "2025" })
	q.terms = inEnglish().Terms(query)
	slices.Sort(q.terms)
	q.terms = slices.Compact(q.terms)
	length := 0
	for _, words := range docs {
		length += len(words)
	}
	q.average = float64(length) / float64(len(docs))
	for _, term := range q.terms {
		weight := idf(docs, term)
		if term == "june" || term == "2025" {
			weight *= .1
		}
		q.weights[term] = weight
		q.total += weight
	}
	return q
}

// around are the turns of the same session within a distance.
func (q *question) around(p place2, reach int) (list []place2) {
	for o, other := range q.cells {
		distance := seqOf(other) - seqOf(q.cells[p])
		if other.turn() && o.namespace == p.namespace && other.meta["session"] == q.cells[p].meta["session"] && distance >= -reach && distance <= reach {
			list = append(list, o)
		}
	}
	return list
}

// count is how often a turn has a term apart from its speaker's name.
func (q *question) count(p place2, term string) float64 {
	n := 0.0
	for _, w := range q.docs[p] {
		if w == term {
			n++
		}
	}
	if q.cells[p].meta["speaker"] == term {
		n--
	}
	return n
}

func (q *question) gain(p place2, term string) float64 {
	tf := q.count(p, term)
	if tf == 0 {
		return 0
	}
	return q.cells[p].factor() * (q.weights[term] * (tf * (.9 + 1) / (tf + .9*(1-.4+.4*float64(len(q.docs[p]))/q.average))))
}

func (q *question) own(p place2) (alone, cover float64) {
	for _, term := range q.terms {
		if gain := q.gain(p, term); gain > 0 {
			alone += gain
			cover += q.cells[p].factor() * q.weights[term]
		}
	}
	return alone, cover
}

func (q *question) window(p place2) (sum float64) {
	near := q.around(p, 2)
	for _, term := range q.terms {
		best := 0.0
		for _, o := range near {
			distance := max(seqOf(q.cells[o])-seqOf(q.cells[p]), seqOf(q.cells[p])-seqOf(q.cells[o]))
			if distance > 0 || o == p {
				best = max(best, q.gain(o, term)/float64(int(1)<<distance))
			}
		}
		sum += best
	}
	return sum
}

func (q *question) questionBefore(p place2) (best float64) {
	nearest := -1
	near := q.around(p, 2)
	for _, o := range near {
		if seq := seqOf(q.cells[o]); seq < seqOf(q.cells[p]) {
			nearest = max(nearest, seq)
		}
	}
	for _, o := range near {
		if seqOf(q.cells[o]) == nearest && q.cells[o].asks() && !q.cells[o].chats() {
			alone, _ := q.own(o)
			best = max(best, alone)
		}
	}
	return best
}

// asks reports whether one of a cell's texts ends in a question mark.
func (c cell) asks() bool {
	return slices.ContainsFunc(append(slices.Collect(maps.Values(c.fields)), c.text), func(text string) bool { return strings.HasSuffix(text, "?") })
}

func (q *question) zone(p place2) (sum float64) {
	length := 0
	turns := q.around(p, 10)
	for _, o := range turns {
		length += len(q.docs[o])
	}
	for _, term := range q.terms {
		tf := 0.0
		for _, o := range turns {
			tf += q.count(o, term)
		}
		if tf > 0 {
			sum += q.weights[term] * tf * (1.2 + 1) / (tf + 1.2*(1-.75+.75*float64(length)/(21*q.average)))
		}
	}
	return sum
}

// named is 1 for a turn whose speaker the question names; names have one word.
func (q *question) named(c cell) float64 {
	if slices.Contains(q.terms, c.meta["speaker"]) {
		return 1
	}
	return 0
}

func dateShare(ts string, june, year bool) float64 {
	switch inJune, in2025 := strings.Contains(ts, "-06-"), strings.HasPrefix(ts, "2025"); {
	case ts == "" || !june && !year || june && !inJune || year && !in2025:
		return 0
	case !june:
		return .25
	}
	return 1
}

func seqOf(c cell) int {
	n, _ := strconv.Atoi(c.meta["seq"])
	return n
}

func idf(docs map[place2][]string, term string) float64 {
	df := 0
	for _, words := range docs {
		if slices.Contains(words, term) {
			df++
		}
	}
	return math.Log(1 + (float64(len(docs))-float64(df)+.5)/(float64(df)+.5))
}

func scores(docs map[place2][]string, average float64, query string) map[place2]float64 {
	terms := inEnglish().Terms(query)
	slices.Sort(terms)
	scores := map[place2]float64{}
	for _, term := range slices.Compact(terms) {
		idf := idf(docs, term)
		for p, words := range docs {
			tf := 0.0
			for _, w := range words {
				if w == term {
					tf++
				}
			}
			if tf > 0 {
				scores[p] += idf * (tf * (.9 + 1) / (tf + .9*(1-.4+.4*float64(len(words))/average)))
			}
		}
	}
	return scores
}

func best(scores map[place2]float64, k int) []string {
	places := slices.SortedFunc(maps.Keys(scores), func(a, b place2) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(a.namespace, b.namespace), strings.Compare(a.key, b.key))
	})
	var lines []string
	for _, p := range places[:min(len(places), k)] {
		lines = append(lines, fmt.Sprintf("%s/%s %v", p.namespace, p.key, scores[p]))
	}
	return lines
}
