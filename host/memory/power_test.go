package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/powerloss"
)

// powerWork makes the test binary the process whose power fails: the directory that it works in.
const powerWork = "ALCOVE_TEST_POWER_WORK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(powerWork); dir != "" {
		if err := powerWorkload(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// atOnce is hashed for texts as they are indexed.
type atOnce struct{ hashed }

func (a atOnce) Vector(text string) []float32 {
	v, _ := a.Embed(context.Background(), []string{text})
	return v[0]
}

func (atOnce) OfWords(search.DocumentWords) ([]float32, bool) { return nil, false }

// powered is a space whose index has many small parts, and an embedder whose vectors are in many small files.
type powered struct {
	*Space
	engine *bolt.Engine
	keeper *semantic.Keeper
}

func openPowered(ctx context.Context, dir string) (*powered, error) {
	engine, err := bolt.Open(ctx, dir, bolt.Options{MapSize: 1 << 20})
	if err != nil {
		return nil, err
	}
	keeper := semantic.New(semantic.Options{Blobs: engine, FlushAfter: time.Millisecond})
	err = keeper.Set(semantic.Settings{Name: "hashed", Identity: "1", Dimensions: 24, Embedder: hashed{}, Instant: atOnce{}})
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	s, err := Open(ctx, Options{Engine: engine, Index: search.New(search.Options{Semantic: keeper, Tail: 64}), Vectors: keptVectors{keeper}, QuestionTime: time.Minute})
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	keeper.Start(s)
	return &powered{s, engine, keeper}, s.WaitIdle(ctx)
}

func (p *powered) close(ctx context.Context) error {
	return errors.Join(p.Space.Close(ctx), p.keeper.Close(), p.engine.Close())
}

const (
	powerStarts = 3
	powerBatch  = 50
)

// powerWorkload stores, forks, forgets and purges in several starts, so that the index and the vectors are saved, merged and rewritten, and says
// which memories are stored, and which purged.
func powerWorkload(ctx context.Context, dir string) error {
	stored := 0
	for start := range powerStarts {
		p, err := openPowered(ctx, dir)
		if err != nil {
			return err
		}
		for range 5 {
			if err := p.storeNumbered(ctx, Default, stored, powerBatch); err != nil {
				return err
			}
			stored += powerBatch
			fmt.Printf("stored %d\n", stored)
			if err := p.WaitIdle(ctx); err != nil { // parts are merged and saved
				return err
			}
		}
		if start == 0 {
			_, err = p.Fork(ctx, Default, "side", AsOf{}, Write{})
		}
		if err == nil {
			err = p.storeNumbered(ctx, "side", 10_000+start*10, 10)
		}
		if err == nil {
			_, err = p.Forget(ctx, Location{Branch: Default}, []string{powerKey(start*7 + 1)}, Write{})
		}
		if err == nil {
			_, err = p.Purge(ctx, purge.Request{Key: powerKey(start*7 + 3)})
		}
		if err != nil {
			return err
		}
		fmt.Printf("purged %d\n", start*7+3)
		if err := p.close(ctx); err != nil {
			return err
		}
	}
	return nil
}

func powerKey(i int) string { return fmt.Sprintf("k%05d", i) }

var powerWords = []string{"red", "blue", "cat", "dog", "tree", "stone", "river"}

func powerText(i int) string {
	return fmt.Sprintf("%s %s number%d", powerWords[i%len(powerWords)], powerWords[i/7%len(powerWords)], i%40)
}

func (p *powered) storeNumbered(ctx context.Context, branch string, first, n int) error {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Key: powerKey(first + i), Value: fmt.Appendf(nil, "%q", powerText(first+i)), Tags: []string{"t" + fmt.Sprint((first+i)%3)}}
	}
	_, err := p.Store(ctx, Location{Branch: branch}, items, Write{})
	return err
}

// answers are those to questions of each kind, once every memory has its vector.
func (p *powered) answers(t *testing.T) (all []string) {
	t.Helper()
	await.That(t, "all is embedded", func() bool { return p.keeper.Status()[0].Waiting == 0 })
	branches, err := p.Branches(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range branches {
		for i, text := range []string{"red cat", "number7 river", "stone", "blue dog number11", "tree"} {
			q := Search{Branch: b.Name, Text: text, K: 50, Mode: []Mode{Lexical, Hybrid, Semantic}[i%3]}
			if i%2 == 1 {
				q.Tags = []string{"t1"}
			}
			all = append(all, fmt.Sprintf("%s %q %s:", b.Name, text, q.Mode)+p.hits(t, q))
		}
	}
	return all
}

// hits are all hits of a search.
func (p *powered) hits(t *testing.T, q Search) (list string) {
	t.Helper()
	for ; ; q.Offset += q.K {
		found, err := p.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			list += fmt.Sprintf(" %s@%d=%.6f", h.Key, h.Version, h.Score)
		}
		if q.Offset+q.K >= found.Total {
			return list
		}
	}
}

// afterPowerFailure makes sure that the space in a directory has what was said, and that its index and vectors answer as ones that are made of the
// memories alone.
func afterPowerFailure(t *testing.T, dir string, said []byte) error {
	t.Helper()
	ctx := t.Context()
	p, err := openPowered(ctx, dir)
	if err != nil {
		return err
	}
	stored, purged := 0, []int{}
	for line := range strings.Lines(string(said)) {
		var n int
		if _, err := fmt.Sscanf(line, "stored %d", &n); err == nil {
			stored = n
		} else if _, err := fmt.Sscanf(line, "purged %d", &n); err == nil {
			purged = append(purged, n)
		}
	}
	if stored > 0 {
		last, err := p.Recall(ctx, Location{Branch: Default}, powerKey(stored-1), AsOf{})
		if err != nil || last == nil {
			return fmt.Errorf("memory %d, which was acknowledged, is not there (%w)", stored-1, err)
		}
	}
	for _, n := range purged {
		if found, err := p.Recall(ctx, Location{Branch: Default}, powerKey(n), AsOf{}); found != nil || err != nil {
			return fmt.Errorf("memory %d, which was purged, is back: %+v (%w)", n, found, err)
		}
	}
	got := p.answers(t)
	report, err := p.Verify(ctx)
	if err != nil || len(report.Findings) > 0 {
		return fmt.Errorf("verify: %v, %w", report.Findings, err)
	}
	if err := p.close(ctx); err != nil {
		return err
	}
	if err := dropDerived(ctx, dir); err != nil {
		return err
	}
	if p, err = openPowered(ctx, dir); err != nil {
		return err
	}
	want := p.answers(t)
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("%s", unlike(got[i], want[i]))
		}
	}
	return p.close(ctx)
}

// unlike is how two answers begin, and the hits that only one of them has.
func unlike(got, want string) string {
	only := func(a, b string) []string {
		return slices.DeleteFunc(strings.Fields(a), func(hit string) bool { return slices.Contains(strings.Fields(b), hit) })
	}
	return fmt.Sprintf("%.40s… alone has %v, %.40s… alone %v", got, only(got, want), want, only(want, got))
}

// dropDerived drops the files of index and vectors, so that both are made again.
func dropDerived(ctx context.Context, dir string) error {
	engine, err := bolt.Open(ctx, dir, bolt.Options{MapSize: 1 << 20})
	if err != nil {
		return err
	}
	for _, prefix := range []string{"search/", "vectors/"} {
		blobs, err := engine.Blobs(ctx, prefix)
		for _, b := range blobs {
			err = errors.Join(err, engine.DropBlob(ctx, b.Name))
		}
		if err != nil {
			return errors.Join(err, engine.Close())
		}
	}
	return engine.Close()
}

// TestAnIndexAnswersRightWhateverAPowerFailureLeftOfIt lets the power fail while parts of the index and vectors are saved, merged, rewritten by a
// purge, and written by a clean stop. ALCOVE_POWER_ROUNDS is how often.
func TestAnIndexAnswersRightWhateverAPowerFailureLeftOfIt(t *testing.T) {
	if testing.Short() {
		t.Skip("what is traced is another process, which the race detector does not see: it runs in the long form")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace, err := powerloss.Record(t.Context(), powerloss.Command{Root: dir, Program: program, Environment: []string{powerWork + "=" + dir}})
	if errors.Is(err, powerloss.ErrUnavailable) && os.Getenv("CI") != "true" {
		t.Skipf("%v (with CI=true this fails)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	seed, rounds := rand.Uint64(), 24
	if text := os.Getenv("ALCOVE_POWER_ROUNDS"); text != "" {
		if _, err := fmt.Sscan(text, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	err = trace.Failures(rand.New(rand.NewPCG(seed, 1)), rounds, nil, func(f *powerloss.Failure) error {
		left := t.TempDir()
		defer os.RemoveAll(left)
		if err := f.Leave(left); err != nil {
			t.Fatal(err)
		}
		return afterPowerFailure(t, left, f.Said[:bytes.LastIndexByte(f.Said, '\n')+1])
	})
	if err != nil {
		t.Errorf("seed %d: %v, want the answers of an index that is made of the memories alone", seed, err)
	}
}
