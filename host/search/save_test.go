package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// shelf keeps blobs in memory. It fails after so many changes, if a number is set.
type shelf struct {
	blobs  map[string][]byte
	fails  int
	during func() // called when something is stored; nil: nothing is
}

var errShelf = errors.New("the shelf is full")

func (s *shelf) change() error {
	if s.fails--; s.fails == 0 {
		s.fails = 1
		return errShelf
	}
	return nil
}

func (s *shelf) PutBlob(_ context.Context, name string, r io.Reader) (store.Blob, error) {
	if s.during != nil {
		s.during()
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, s.change()); err == nil {
		s.blobs[name] = data
	}
	return store.Blob{Name: name, Size: int64(len(data))}, err
}

type shelved struct{ *bytes.Reader }

func (shelved) Close() error  { return nil }
func (b shelved) Size() int64 { return b.Reader.Size() }

func (s *shelf) GetBlob(_ context.Context, name string) (store.BlobReader, error) {
	if data, ok := s.blobs[name]; ok {
		return shelved{bytes.NewReader(data)}, nil
	}
	return nil, store.ErrNotFound
}

func (s *shelf) DropBlob(_ context.Context, name string) error {
	if err := s.change(); err != nil {
		return err
	}
	delete(s.blobs, name)
	return nil
}

func (s *shelf) Blobs(_ context.Context, prefix string) (list []store.Blob, err error) {
	for name := range s.blobs {
		if strings.HasPrefix(name, prefix) {
			list = append(list, store.Blob{Name: name})
		}
	}
	return list, nil
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestWhatIsLoadedIsWhatWasSavedAndWhatWasMissed saves an index now and then, loads what was saved, interrupted or not, and
// applies what that says it misses.
func TestWhatIsLoadedIsWhatWasSavedAndWhatWasMissed(t *testing.T) {
	for seed := range int64(60) {
		rng := rand.New(rand.NewSource(seed))
		docs, s := randomDocs(rng), &shelf{blobs: map[string][]byte{}}
		x := New(Options{Tail: 1 + rng.Intn(20)})
		for i, d := range docs {
			x.Apply(d)
			if rng.Intn(8) == 0 {
				tend(t, x)
			}
			if rng.Intn(15) == 0 {
				s.fails = rng.Intn(12)
				save := x.Save
				if rng.Intn(2) == 0 {
					save = x.SaveAll
				}
				if err := save(t.Context(), s, uint64(i+1)); err != nil && !errors.Is(err, errShelf) {
					t.Fatal(err)
				}
			}
		}
		s.fails = 0
		y := New(Options{Tail: 10})
		covered, err := y.Load(t.Context(), s, silent())
		if err != nil {
			t.Fatal(err)
		}
		missed := 0
		for _, i := range rng.Perm(len(docs)) {
			if d := docs[i]; d.Version > covered.Of(d.Branch) {
				missed++
				y.Apply(d)
			}
		}
		if missed == len(docs) && len(s.blobs) > 2 {
			t.Errorf("seed %d: nothing was loaded of %d files", seed, len(s.blobs))
		}
		compare(t, rng, docs, y)
	}
}

// compare compares rankings with those of a plain list.
func compare(t *testing.T, rng *rand.Rand, docs []Doc, x *Index) {
	t.Helper()
	for _, l := range []store.Lineage{trunk, {{Branch: 1, At: 90}}, {{Branch: 3, At: store.Latest}, {Branch: 2, At: 120}, {Branch: 1, At: 50}}} {
		v, q := View{Lineage: l, Now: time.UnixMicro(100)}, Query{Text: text(rng), K: 500, Plain: true}
		r, err := x.Search(t.Context(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		if want := ranked(docs, v, q); !slices.EqualFunc(r.Hits, want, func(a, b Hit) bool { return a.Score == b.Score && a.Key == b.Key && a.Version == b.Version }) {
			t.Fatalf("%v: found\n%v\nnot\n%v", l, r.Hits, want)
		}
	}
}

func TestEverythingAboutADocumentIsSaved(t *testing.T) {
	importance := .25
	d := Doc{Branch: 7, Version: 3, Namespace: "n", Collection: "c", Key: "k", Text: []string{strings.Repeat("tea ", 100) + "?"}, Tags: []string{"a", "b"}, Type: "note",
		State: "archived", Time: time.UnixMicro(5), Expires: time.UnixMicro(50), Importance: &importance,
		Turn: &Turn{Session: "s", Position: -4, Speaker: "Anna Lee", Said: time.UnixMicro(-77)}}
	x, s := New(Options{Tail: 1}), &shelf{blobs: map[string][]byte{}}
	x.Apply(d, Doc{Branch: 7, Version: 4, Namespace: "n", Collection: "c", Key: "gone", Deleted: true})
	tend(t, x)
	if err := x.Save(t.Context(), s, 4); err != nil {
		t.Fatal(err)
	}
	y := New(Options{})
	covered, err := y.Load(t.Context(), s, silent())
	if err != nil || covered.Of(7) != 4 || covered.Of(8) != 4 || !slices.Equal(covered.Branches(), []store.BranchID{7}) {
		t.Fatalf("Load = %+v, %v, want branch 7 covered up to 4", covered, err)
	}
	q := Query{Text: "tea anna", Tags: []string{"b"}, Types: []string{"note"}, States: []string{"archived"}, Explain: true}
	ask := func(x *Index, now int64) string {
		r, err := x.Search(t.Context(), View{Lineage: store.Lineage{{Branch: 7, At: store.Latest}}, Now: time.UnixMicro(now)}, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hits) == 0 {
			return ""
		}
		why := *r.Hits[0].Why
		r.Hits[0].Semantic, r.Hits[0].Why = 0, nil
		turn := why.Turn
		why.Turn = nil
		return fmt.Sprintf("%+v %+v %+v", r.Hits[0], why, turn)
	}
	if got, want := ask(y, 49), ask(x, 49); got != want || got == "" || !strings.Contains(got, "Importance:0.25") {
		t.Errorf("found\n%s\nnot\n%s", got, want)
	}
	if got := ask(y, 50); got != "" {
		t.Errorf("what is expired is found: %s", got)
	}
	for _, p := range y.parts {
		if turn := y.table.turnOf(p.rows[0]); turn == nil || turn.at != -4 || turn.said != -77 || !turn.asks {
			t.Errorf("the turn is %+v", turn)
		}
	}
}

func TestTheRoleOfATurnIsSaved(t *testing.T) {
	x, s := New(Options{Tail: 1}), &shelf{blobs: map[string][]byte{}}
	roles := []Role{Person, User, Assistant}
	for _, role := range roles {
		x.Apply(Doc{Branch: 1, Version: uint64(role) + 1, Key: "k", Text: []string{"tea?"}, State: Active, Turn: &Turn{Session: "s", Role: role}})
	}
	tend(t, x)
	if err := x.Save(t.Context(), s, 3); err != nil {
		t.Fatal(err)
	}
	y := New(Options{})
	if _, err := y.Load(t.Context(), s, silent()); err != nil {
		t.Fatal(err)
	}
	y.branches[1].each(func(number uint32) {
		r := y.table.row(number)
		if got, want := y.table.turnOf(number).role, roles[r.version-1]; got != want {
			t.Errorf("version %d has role %d, want %d", r.version, got, want)
		}
	})
}

func TestAPayloadOfAnotherFormatIsNamed(t *testing.T) {
	x := New(Options{Tail: 1})
	x.Apply(Doc{Branch: 1, Version: 1, Key: "k", Text: []string{"tea"}, State: Active})
	tend(t, x)
	if _, err := readPayload(append([]byte{payloadFormat - 1}, x.branches[1].parts[0].sealed.Payload()[1:]...), 1); err == nil || !strings.Contains(err.Error(), fmt.Sprint("format ", payloadFormat-1)) {
		t.Errorf("readPayload = %v, want an error that names format %d", err, payloadFormat-1)
	}
}

func TestADamagedFileIsNamedAndItsBranchLeftOut(t *testing.T) {
	for what, damage := range map[string]func(data []byte) []byte{
		"changed": func(data []byte) []byte { data[len(data)-1] ^= 1; return data },
		"cut":     func(data []byte) []byte { return data[:len(data)-1] },
		"gone":    func([]byte) []byte { return nil },
	} {
		x, s := New(Options{Tail: 1}), &shelf{blobs: map[string][]byte{}}
		for branch := range store.BranchID(3) {
			x.Apply(Doc{Branch: branch, Version: uint64(branch + 1), Key: "k", Text: []string{"tea"}, State: Active})
		}
		tend(t, x)
		if err := x.SaveAll(t.Context(), s, 3); err != nil {
			t.Fatal(err)
		}
		var name string
		for _, p := range x.parts {
			if p.branch == 1 {
				name = p.blob
			}
		}
		if s.blobs[name] = damage(s.blobs[name]); s.blobs[name] == nil {
			delete(s.blobs, name)
		}
		var log bytes.Buffer
		y := New(Options{})
		covered, err := y.Load(t.Context(), s, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || covered.Of(0) != 3 || covered.Of(1) != 0 || covered.Of(2) != 3 {
			t.Fatalf("%s: Load = %+v, %v, want branch 1 left out and the others up to 3", what, covered, err)
		}
		if what != "gone" && !strings.Contains(log.String(), name) || s.blobs[name] != nil {
			t.Errorf("%s: %s is not named, or kept: %s", what, name, log.String())
		}
	}
}

func TestAnIndexOfAnotherAnalysisIsNotLoaded(t *testing.T) {
	x, s := New(Options{Tail: 1}), &shelf{blobs: map[string][]byte{}}
	x.Apply(Doc{Branch: 1, Version: 1, Key: "k", Text: []string{"tea"}, State: Active})
	tend(t, x)
	if err := x.Save(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	y := New(Options{Language: "german"})
	if covered, err := y.Load(t.Context(), s, silent()); err != nil || covered.Of(1) != 0 {
		t.Errorf("Load = %+v, %v, want nothing of branch 1", covered, err)
	}
	for name := range s.blobs {
		if strings.Contains(name, "part") {
			t.Errorf("%s is kept", name)
		}
	}
}

func TestWhatWasPurgedIsInNoPartAndNoFile(t *testing.T) {
	for _, tail := range []int{1, 3, 100} {
		x, s := New(Options{Tail: tail}), &shelf{blobs: map[string][]byte{}}
		for i := range 8 {
			x.Apply(Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Text: []string{"tea zebra"}, Tags: []string{"giraffe"}, State: Active})
			tend(t, x)
		}
		if err := x.Save(t.Context(), s, 8); err != nil {
			t.Fatal(err)
		}
		view := View{Lineage: trunk}
		if got := keys(t, x, view, Query{Text: "zebra"}); got != "0 1 2 3 4 5 6 7" {
			t.Fatalf("Search(zebra) = %q, want all 8", got)
		}
		for i := range 8 {
			d := Doc{Branch: 1, Version: uint64(i + 1), Key: fmt.Sprint(i), Deleted: true}
			if i == 3 {
				d = Doc{Branch: 1, Version: 4, Key: "3", Text: []string{"tea"}, State: Active}
			}
			x.Replace(d)
		}
		if got := keys(t, x, view, Query{Text: "zebra tea"}); got != "3" {
			t.Errorf("found %q", got)
		}
		tend(t, x)
		if err := x.SaveAll(t.Context(), s, 8); err != nil {
			t.Fatal(err)
		}
		for name, data := range s.blobs {
			if bytes.Contains(data, []byte("zebra")) || bytes.Contains(data, []byte("giraffe")) {
				t.Errorf("with tails of %d, %s has it", tail, name)
			}
		}
		for _, p := range x.parts {
			p.eachTerm("zebra", func(string) { t.Errorf("with tails of %d, a part has it", tail) })
		}
		if got := keys(t, x, view, Query{Text: "zebra tea"}); got != "3" {
			t.Errorf("afterwards found %q", got)
		}
	}
}

// FuzzPayload reads damaged rows: they are refused, or read whole.
func FuzzPayload(f *testing.F) {
	x := New(Options{Tail: 100})
	rng := rand.New(rand.NewSource(1))
	for _, d := range randomDocs(rng)[:30] {
		x.Apply(d)
	}
	for _, p := range x.parts {
		data := x.describe(p)
		f.Add(data, len(p.rows), 10, byte(1))
		f.Add(data, len(p.rows), len(data)/2, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, documents, at int, change byte) {
		data = slices.Clone(data)
		if len(data) > 0 && at >= 0 {
			data[at%len(data)] ^= change
		}
		s, err := readPayload(data, documents)
		if err == nil && len(s.rows) != documents {
			t.Errorf("%d documents of %d", len(s.rows), documents)
		}
		for _, e := range s.expiring {
			if int(e.local) >= documents {
				t.Errorf("document %d of %d expires", e.local, documents)
			}
		}
	})
}

func TestAnIndexThatDidNotChangeIsNotSavedAgain(t *testing.T) {
	x, s := New(Options{Tail: 100}), &shelf{blobs: map[string][]byte{}}
	x.Apply(zebras(600)...)
	if err := x.SaveAll(t.Context(), s, 600); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(s.blobs)
	if err := x.SaveAll(t.Context(), s, 601); err != nil { // a commit without anything to index
		t.Fatal(err)
	}
	for name, data := range s.blobs {
		if name != manifestName && !bytes.Equal(before[name], data) {
			t.Errorf("%s was saved again, want the manifest alone", name)
		}
	}
	y := New(Options{})
	covered, err := y.Load(t.Context(), s, silent())
	if err != nil || covered.Of(1) != 601 || len(before) != len(s.blobs) {
		t.Errorf("Load covers version %d of %d files (%v), want 601 of %d", covered.Of(1), len(s.blobs), err, len(before))
	}
	if err := y.SaveAll(t.Context(), s, 601); err != nil || len(before) != len(s.blobs) {
		t.Errorf("a save after a start leaves %d files (%v), want %d", len(s.blobs), err, len(before))
	}
}
