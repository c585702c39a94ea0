package speed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/capture"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// importSink stores on a server, as alcove import does.
type importSink struct {
	acts   operator.Server
	stored int
}

func (s *importSink) Store(ctx context.Context, list []operator.Memory) error {
	done, err := operator.Call(ctx, s.acts, operator.Import, operator.ImportRequest{Memories: list})
	s.stored += done.Stored
	return err
}

// BenchmarkImport imports 20,000 turns of Claude Code's into new directories: of a server with all first-party families, with redaction
// alone, and with another one. turns/cpu-s counts the processor time of client and server, which other work of the machine
// hardly changes; the compilation of modules is done before.
func BenchmarkImport(b *testing.B) {
	const sessions, exchanges = 50, 100
	dir := b.TempDir()
	for s := range sessions {
		var lines strings.Builder
		for n := range exchanges {
			writeTurns(&lines, s, n)
		}
		project := filepath.Join(dir, "projects", fmt.Sprintf("p%d", s%5))
		must.Do(b, os.MkdirAll(project, 0o755))
		must.Do(b, os.WriteFile(filepath.Join(project, fmt.Sprintf("s%d.jsonl", s)), []byte(lines.String()), 0o600))
	}
	source, _ := capture.SourceOf(capture.ClaudeCode)
	for name, families := range map[string][]string{"all": nil, "redaction": {"redaction"}, "facts": {"facts"}} {
		b.Run(name, func(b *testing.B) {
			var cpu float64
			for b.Loop() {
				b.StopTimer()
				sink := &importSink{acts: server.Carrying(b, host.Options{Families: server.Families(families...)}).Acts}
				c := capture.Collector{Reader: capture.Reader{Source: source}, Root: dir, Sink: sink, Cursors: &capture.Cursors{Dir: b.TempDir()}}
				b.StartTimer()
				began := processCPU()
				must.Do(b, c.Collect(b.Context()))
				cpu += (processCPU() - began).Seconds()
				if want := sessions * exchanges * 4; sink.stored != want {
					b.Fatalf("got %d turns, want %d", sink.stored, want)
				}
			}
			turns := float64(b.N * sessions * exchanges * 4)
			b.ReportMetric(turns/cpu, "turns/cpu-s")
			b.ReportMetric(turns/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// writeTurns writes four turns: a question, an answer with a call, and an answer.
func writeTurns(out *strings.Builder, session, n int) {
	line := func(kind, id, content string) {
		const form = `{"isSidechain":false,"cwd":"/nowhere/p%d","sessionId":"s%d","gitBranch":"main","type":%q,` +
			`"message":{"role":%q,"content":%s},"uuid":"%s-%d","timestamp":"2026-03-01T10:%02d:00.123Z"}` + "\n"
		_, _ = fmt.Fprintf(out, form, session%5, session, kind, kind, content, id, n, n%60)
	}
	words := strings.Repeat(fmt.Sprintf("why does part %d of session %d need the table of version %d again, ", n, session, n*session), 4)
	line("user", "u", fmt.Sprintf("%q", words))
	line("assistant", "a", fmt.Sprintf(`[{"type":"text","text":%q},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"go test ./part%d"}}]`, words, n, n))
	line("user", "r", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%q}]`, n, strings.Repeat("ok of the output ", 100)))
	line("assistant", "b", fmt.Sprintf(`[{"type":"text","text":%q}]`, words+words))
}
