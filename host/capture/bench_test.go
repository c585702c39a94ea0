package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// spaceSink stores in a space as an import does, without the socket between.
type spaceSink struct {
	access *memory.Access
	stored int
}

func (s *spaceSink) Store(ctx context.Context, memories []portable.Memory) error {
	done, err := s.access.Import(ctx, "", memories, memory.Write{})
	s.stored += done.Stored
	return err
}

func newSpaceSink(b *testing.B) *spaceSink {
	return &spaceSink{access: testspace.Open(b, testspace.Options{}).As(memory.Caller{Agent: "import", Rights: memory.FullRights()})}
}

// BenchmarkCollect reads transcripts of 20,000 turns into a space. plain/s is how many memories with the same content are stored in
// batches of the same size when they are there already, in the same run; of-plain is the ratio.
func BenchmarkCollect(b *testing.B) {
	dir := b.TempDir()
	const sessions, turns = 100, 200
	for session := range sessions {
		var lines strings.Builder
		for turn := range turns / 4 {
			writeExchange(&lines, session, turn)
		}
		write(b, filepath.Join(dir, "projects", fmt.Sprintf("p%d", session%5), fmt.Sprintf("s%d.jsonl", session)), lines.String())
	}
	s, _ := SourceOf(ClaudeCode)
	gathered := &memorySink{}
	collectInto(b, s, dir, gathered, nil)
	all := gathered.list()

	var collecting, storing time.Duration
	for b.Loop() {
		plain := newSpaceSink(b)
		began := time.Now()
		for at := 0; at < len(all); at += chunkTurns {
			if err := plain.Store(b.Context(), all[at:min(at+chunkTurns, len(all))]); err != nil {
				b.Fatal(err)
			}
		}
		storing += time.Since(began)

		sink := newSpaceSink(b)
		began = time.Now()
		collectInto(b, s, dir, sink, &Cursors{Dir: b.TempDir()})
		collecting += time.Since(began)
		if sink.stored != sessions*turns || plain.stored != sink.stored {
			b.Fatalf("got %d turns, and %d plainly, want %d", sink.stored, plain.stored, sessions*turns)
		}
	}
	n := float64(b.N * sessions * turns)
	b.ReportMetric(n/collecting.Seconds(), "turns/s")
	b.ReportMetric(n/storing.Seconds(), "plain/s")
	b.ReportMetric(storing.Seconds()/collecting.Seconds(), "of-plain")
}

// writeExchange writes four turns: a question, a call that ends, and two answers.
func writeExchange(out *strings.Builder, session, n int) {
	line := func(kind, id, content string) {
		const form = `{"parentUuid":"x","isSidechain":false,"userType":"external","cwd":"/nowhere/p%d","sessionId":"s%d","version":"2.1.60",` +
			`"gitBranch":"main","type":%q,"message":{"role":%q,"content":%s},"uuid":"%s-%d","timestamp":"2026-03-01T10:%02d:00.123Z"}` + "\n"
		_, _ = fmt.Fprintf(out, form, session%5, session, kind, kind, content, id, n, n%60)
	}
	words := strings.Repeat(fmt.Sprintf("why does part %d of session %d need the table of version %d again, ", n, session, n*session), 6)
	line("user", "u", fmt.Sprintf("%q", words))
	const call = `[{"type":"text","text":%q},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"go test ./part%d"}}]`
	line("assistant", "a", fmt.Sprintf(call, words, n, n))
	line("user", "r", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%q}]`, n, strings.Repeat("ok of the output ", 100)))
	line("assistant", "b", fmt.Sprintf(`[{"type":"text","text":%q}]`, words+words))
}

func collectInto(b *testing.B, s Source, dir string, sink Sink, cursors *Cursors) {
	b.Helper()
	c := Collector{Root: dir, Sink: sink, Cursors: cursors}
	c.Source = s
	if err := c.Collect(b.Context()); err != nil {
		b.Fatal(err)
	}
}
