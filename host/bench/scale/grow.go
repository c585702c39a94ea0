package scale

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	block        = 1000 // memories of one namespace in a row
	turnsOfATalk = 20
	saveEvery    = 10_000 // memories
)

// Key is under which a memory is stored.
func Key(i int) string { return fmt.Sprintf("m/%09d", i) }

// namespace has nine in ten memories in default, block by block, and the others in notes.
func namespace(i int) string {
	if i/block%10 == 9 {
		return "notes"
	}
	return "default"
}

// tags are given to one memory in ten, in a hundred and in a thousand, each by its own chance.
func tags(random *rand.Rand) []string {
	var list []string
	for _, t := range []struct {
		name string
		in   int
	}{{tenth, 10}, {hundredth, 100}, {thousandth, 1000}} {
		if random.IntN(t.in) == 0 {
			list = append(list, t.name)
		}
	}
	return list
}

const tenth, hundredth, thousandth = "tenth", "hundredth", "thousandth"

// item is a memory as memory_store takes it.
func item(seed uint64, i int, text string) map[string]any {
	m := map[string]any{"key": Key(i), "value": text}
	if list := tags(of(seed^1<<63, i)); len(list) > 0 {
		m["tags"] = list
	}
	return m
}

// turn is a memory that is a turn of a conversation.
func turn(_ uint64, i int, text string) map[string]any {
	return map[string]any{"key": Key(i), "value": text, "metadata": map[string]any{
		"session": fmt.Sprint("s", i/turnsOfATalk), "seq": i % turnsOfATalk, "speaker": []string{"Anna", "Bert"}[i%2]}}
}

// grow stores memories until a store has n, and keeps in the state how far it came, also when it fails.
func (r *run) grow(ctx context.Context, name string, s *Server, n int, of func(seed uint64, i int, text string) map[string]any) (err error) {
	g := r.state.Stored[name]
	if g.Marks == nil {
		g.Marks = map[int]float64{}
	}
	keep := func() error {
		r.state.Stored[name] = grown{g.Memories, g.Seconds, g.TextBytes, maps.Clone(g.Marks)}
		return r.state.save(r.Dir)
	}
	defer func() { err = errors.Join(err, keep()) }()
	for g.Memories < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := r.until(g.Memories, n)
		items, bytes := []map[string]any{}, int64(0)
		for i := g.Memories; i < to; i++ {
			text, err := r.Texts.Text(i)
			if err != nil {
				return err
			}
			items, bytes = append(items, of(r.Seed, i, text)), bytes+int64(len(text))
		}
		_, took, err := s.Call(ctx, "memory_store", map[string]any{"items": items, "namespace": namespace(g.Memories)})
		if err != nil {
			return r.notStored(g.Memories, to, err)
		}
		g.Seconds += took.Seconds()
		if g.TextBytes += bytes; to == n || to == lastTenth(n) {
			g.Marks[to] = g.Seconds
		}
		before := g.Memories
		g.Memories = to
		r.worked(to - before)
		if to/saveEvery != before/saveEvery {
			if err := keep(); err != nil {
				return err
			}
		}
	}
	return nil
}

// until is where the batch ends that begins at a memory: at the end of its block, of the store, or of the part whose rate is told.
func (r *run) until(from, n int) int {
	to := min(from+r.Batch, n, (from/block+1)*block)
	if mark := lastTenth(n); from < mark {
		to = min(to, mark)
	}
	return to
}

// lastTenth is where the last tenth of a size begins.
func lastTenth(n int) int { return n - n/10 }

func (r *run) notStored(from, to int, err error) error {
	err = fmt.Errorf("store memories %d to %d: %w", from, to-1, err)
	if client.CodeOf(err) == client.Exhausted {
		return fmt.Errorf("%w: make room for %s, then go on with the same flags and --resume", err, r.Dir)
	}
	return err
}

// rates are the memories stored in a second: of all, and of the last tenth.
func (g grown) rates(n int) (all, last float64) {
	return rounded(float64(n) / g.Marks[n]), rounded(float64(n-lastTenth(n)) / (g.Marks[n] - g.Marks[lastTenth(n)]))
}
