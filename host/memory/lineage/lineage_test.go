package lineage

import (
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// tree is a catalogue whose records are committed one version after another.
type tree struct {
	*Catalogue
	head   uint64
	writes map[store.BranchID]map[uint64]string // the namespace of each write, by its version
}

func newTree() *tree {
	return &tree{Catalogue: New(), writes: map[store.BranchID]map[uint64]string{}}
}

// write writes in a namespace of a branch, and returns the version.
func (t *tree) write(b *Branch, namespace string) uint64 {
	at := t.next().Version
	if t.writes[b.ID] == nil {
		t.writes[b.ID] = map[uint64]string{}
	}
	t.writes[b.ID][at] = namespace
	return at
}

func (t *tree) next() store.Point {
	t.head++
	return store.Point{Version: t.head, Time: time.UnixMicro(int64(t.head))}
}

// branch forks a branch from another at the newest version; from nil starts it empty.
func (t *tree) branch(name string, from *Branch) *Branch {
	r := Record{Name: name}
	if from != nil {
		r.Parent, r.From, r.At = from.Name, from.ID, t.head
	}
	return t.Publish(t.NextID(), r, t.next(), time.Time{})
}

// merge merges a branch as it is into another, and returns the version of the merge.
func (t *tree) merge(source, target *Branch, namespaces ...string) uint64 {
	r := MergeRecord{Source: source.ID, SourceAt: t.head, Target: target.ID, Namespaces: namespaces}
	at := t.next().Version
	t.AddMerge(Merge{MergeRecord: r, At: at, Stored: r.key()})
	return at
}

func (t *tree) remove(b *Branch, reclaimed bool) *Branch {
	r := b.Record
	r.Deleted, r.Reclaimed = true, reclaimed
	return t.Publish(b.ID, r, t.next(), b.Created)
}

// bases are the merge bases of two branches now.
func (t *tree) bases(tt *testing.T, a, b *Branch, namespace string) []store.Lineage {
	tt.Helper()
	both := t.Knows(a.Lineage.At(t.head), namespace).Common(t.Knows(b.Lineage.At(t.head), namespace))
	bases, err := t.Bases(both, namespace, func(b store.BranchID, after, to uint64) (bool, error) {
		for at, in := range t.writes[b] {
			if in == namespace && at > after && at <= to {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		tt.Fatal(err)
	}
	return bases
}

// expect fails unless the two branches have one base, which reads one of them through a version.
func (t *tree) expect(tt *testing.T, a, b *Branch, namespace string, want store.Segment) {
	tt.Helper()
	if bases := t.bases(tt, a, b, namespace); len(bases) != 1 || bases[0][0] != want {
		tt.Errorf("the bases of %s and %s in %s are %v, not %v", a.Name, b.Name, namespace, bases, want)
	}
}

func TestTheBaseOfAForkIsWhereItBegan(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	at := c.write(first, "n")
	fork := c.branch("fork", first)
	c.write(first, "n")
	c.expect(t, fork, first, "n", store.Segment{Branch: first.ID, At: at})
	apart := c.branch("apart", nil)
	c.write(apart, "n")
	if bases := c.bases(t, fork, apart, "n"); len(bases) != 0 {
		t.Errorf("branches with nothing in common have the bases %v", bases)
	}
}

func TestAMergeMovesTheBaseInItsNamespacesOnly(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	c.write(first, "n")
	began := c.write(first, "other")
	fork := c.branch("fork", first)
	c.write(fork, "other")
	merged := c.write(fork, "n")
	c.merge(fork, first, "n")
	c.expect(t, fork, first, "n", store.Segment{Branch: fork.ID, At: merged})
	c.expect(t, fork, first, "other", store.Segment{Branch: first.ID, At: began})
}

func TestABaseThatOnlyAnotherNamespaceWroteIsNone(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	c.write(first, "n")
	a := c.branch("a", first)
	c.write(first, "other")
	b, d := c.branch("b", first), c.branch("d", first)
	merged := c.write(a, "n")
	for _, target := range []*Branch{b, d} {
		r := MergeRecord{Source: a.ID, SourceAt: merged, Target: target.ID, Namespaces: []string{"n"}}
		c.AddMerge(Merge{MergeRecord: r, At: c.next().Version, Stored: r.key()})
	}
	c.write(b, "n")
	c.expect(t, b, d, "n", store.Segment{Branch: a.ID, At: merged})
}

func TestANewerBaseThatKnowsNothingMoreIsDropped(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	c.write(first, "n")
	idle, middle := c.branch("idle", first), c.branch("middle", first)
	c.write(idle, "n")
	at := c.merge(idle, middle)
	a, b := c.branch("a", middle), c.branch("b", middle)
	c.merge(idle, a) // at a higher version, with what middle knows of it
	c.merge(idle, b)
	c.expect(t, a, b, "n", store.Segment{Branch: middle.ID, At: at})
}

func TestCrosswiseMergesLeaveTwoBases(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	fork := c.branch("fork", first)
	c.write(first, "n")
	at := c.write(fork, "n")
	r, back := MergeRecord{Source: fork.ID, SourceAt: at, Target: first.ID}, MergeRecord{Source: first.ID, SourceAt: at, Target: fork.ID}
	c.AddMerge(Merge{MergeRecord: r, At: c.next().Version, Stored: r.key()})
	c.AddMerge(Merge{MergeRecord: back, At: c.next().Version, Stored: back.key()})
	if bases := c.bases(t, fork, first, "n"); len(bases) != 2 {
		t.Errorf("the bases are %v, not one of each side", bases)
	}
}

func TestPinsAreTheForksAndMergesOfABranch(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	forked := c.head
	fork := c.branch("fork", first)
	c.next()
	read := c.head
	at := c.merge(fork, first)
	if pins, want := c.Pins(first.ID), []uint64{forked, at}; !slices.Equal(pins, want) {
		t.Errorf("the pins of the target are %v, not %v", pins, want)
	}
	if pins := c.Pins(fork.ID); !slices.Equal(pins, []uint64{read}) {
		t.Errorf("the pins of the source are %v, not %d", pins, read)
	}
}

func TestADeletedBranchIsNeededByItsForksAndByTwoThatMergedIt(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	second := c.branch("second", nil)
	source := c.branch("source", nil)
	fork := c.branch("fork", source)
	source = c.remove(source, false)
	if b, found := c.Unneeded(); found {
		t.Errorf("%s has a fork, and is not needed", b.Name)
	}
	fork = c.remove(fork, true)
	c.merge(source, first)
	if b, found := c.Unneeded(); !found || b.ID != source.ID {
		t.Errorf("a branch that one other merged is needed: %v", b)
	}
	c.merge(source, second)
	if b, found := c.Unneeded(); found {
		t.Errorf("%s is the base of two branches, and is not needed", b.Name)
	}
	if c.Named("fork") != nil || c.ByID(fork.ID) == nil {
		t.Error("a deleted branch is found by its name, or not by its id")
	}
}

func TestAMergeIsObsoleteOnceOnlyItsTargetKnowsTheSource(t *testing.T) {
	c := newTree()
	first := c.branch("first", nil)
	second := c.branch("second", nil)
	source := c.branch("source", nil)
	c.merge(source, first)
	c.merge(source, second)
	c.remove(source, true)
	if obsolete := c.ObsoleteBy(source.ID); len(obsolete) != 0 {
		t.Errorf("two branches know the source, and %d merges are obsolete", len(obsolete))
	}
	c.remove(second, true)
	obsolete := c.ObsoleteBy(source.ID)
	if !slices.ContainsFunc(obsolete, func(m Merge) bool { return m.Target == first.ID }) {
		t.Errorf("only its target knows the source, and the obsolete merges are %v", obsolete)
	}
	c.DropMerges(obsolete)
	if c.Merged() != 2-len(obsolete) {
		t.Errorf("%d merges are left of 2, after %d were dropped", c.Merged(), len(obsolete))
	}
}

func TestACatalogueLoadsWhatItWrote(t *testing.T) {
	var branches, merges []store.Entry
	stored := func(list *[]store.Entry, version uint64, w store.Write, err error) {
		if err != nil {
			t.Fatal(err)
		}
		e := store.Entry{Key: w.Key, Point: store.Point{Version: version, Time: time.UnixMicro(int64(version))}, Branch: w.Branch, Value: w.Value}
		*list = append(*list, e)
	}
	first, fork := Record{Name: "first"}, Record{Name: "fork", Parent: "first", From: 1, At: 1}
	system, gone := Record{Name: System}, Record{Name: "gone", Deleted: true}
	for i, r := range []Record{first, fork, system, gone} {
		w, err := r.Write(store.BranchID(i + 1))
		stored(&branches, uint64(i+1), w, err)
	}
	w, err := MergeRecord{Source: 2, SourceAt: 5, Target: 1}.Write()
	stored(&merges, 6, w, err)
	c := New()
	if err := c.Load(branches, merges); err != nil {
		t.Fatal(err)
	}
	if b := c.Named("fork"); b == nil || len(b.Lineage) != 2 || b.Lineage[1] != (store.Segment{Branch: 1, At: 1}) {
		t.Errorf("the fork is %+v", b)
	}
	if c.Named(System) != nil || c.System() == nil || len(c.Live()) != 2 || len(c.Kept()) != 4 {
		t.Errorf("%d live and %d kept branches", len(c.Live()), len(c.Kept()))
	}
	if keys := c.MergeKeys(1); c.Merged() != 1 || !slices.Equal(keys, []store.Key{merges[0].Key}) || c.NextID() != 5 {
		t.Errorf("the merges into the first branch are %v", keys)
	}
}
