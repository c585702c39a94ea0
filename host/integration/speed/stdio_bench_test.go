package speed_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// turnsOfASession is the length of the conversations that are searched.
const turnsOfASession = 300

// warmingCalls are made before calls count.
const warmingCalls = 100

// BenchmarkSearchOverStdio searches through a process that runs alcove mcp, and in the core of the same server, in alternating pairs. The
// server runs in the process of the benchmark, so that both search one store and one index. A search over stdio ends when its answer has been
// read; what a client does to understand it does not count. added is the median of the differences of the pairs, by the wall clock. The CPU of
// a call over stdio is that of client, server and bridge. ALCOVE_BENCH_MEMORIES is how many memories there are; 100,000 otherwise.
//
//	go test ./host/integration/speed -run '^$' -bench SearchOverStdio -benchtime 2000x -timeout 30m
func BenchmarkSearchOverStdio(b *testing.B) {
	texts := measure.NewTexts(1)
	searched := searchedServer(b, "", searchedMemories(b), func(int) memory.Item { return memory.Item{Value: quoted(texts.Text(20, 80))} })
	program := buildProgram(b)
	idle := bridgeTo(b, program, searched.dir).ended() // what a bridge uses without a call
	bridge := bridgeTo(b, program, searched.dir)
	core := searcher{name: "core", search: func(query string) func() int {
		found, err := server.As(searched.space, "").Search(b.Context(), memory.Search{Text: query, K: 10})
		if err != nil {
			b.Fatal(err)
		}
		return func() int { return len(found.Hits) }
	}}
	comparePairs(b, questions(2, 5), core, searcher{name: "stdio", search: bridge.search, beside: func() time.Duration { return bridge.ended() - idle }})
}

// BenchmarkConversationsOverStdio searches turns of conversations by their features, and like other memories, each through a bridge to a
// server with the same turns, in alternating pairs. Its figures are those of BenchmarkSearchOverStdio.
//
//	go test ./host/integration/speed -run '^$' -bench ConversationsOverStdio -benchtime 1000x -timeout 30m
func BenchmarkConversationsOverStdio(b *testing.B) {
	program, sides := buildProgram(b), make([]searcher, 2)
	for i, weights := range []string{"off", ""} {
		texts := measure.NewTexts(1)
		searched := searchedServer(b, weights, searchedMemories(b), func(i int) memory.Item { return turnOf(i, texts.Text(5, 30)) })
		idle := bridgeTo(b, program, searched.dir).ended()
		bridge := bridgeTo(b, program, searched.dir)
		sides[i] = searcher{name: []string{"off", "on"}[i], search: bridge.search, beside: func() time.Duration { return bridge.ended() - idle }}
	}
	comparePairs(b, questions(4, 10), sides[0], sides[1])
}

func turnOf(i int, text string) memory.Item {
	return memory.Item{Value: quoted(text), Metadata: map[string]json.RawMessage{
		"session": quoted(fmt.Sprint("s", i/turnsOfASession)), "seq": json.RawMessage(strconv.Itoa(i % turnsOfASession)), "speaker": quoted([]string{"Anna", "Bert"}[i%2]),
	}}
}

func quoted(text string) json.RawMessage { return json.RawMessage(strconv.Quote(text)) }

func searchedMemories(b *testing.B) int {
	b.Helper()
	text := os.Getenv("ALCOVE_BENCH_MEMORIES")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 || n%1000 != 0 {
		b.Fatalf("ALCOVE_BENCH_MEMORIES=%s is no multiple of 1000", text)
	}
	return n
}

// questions are of other texts than the memories, with the same words.
func questions(least, most int) []string {
	texts, list := measure.NewTexts(1), make([]string, 500)
	for range 1000 {
		texts.Text(1, 2)
	}
	for i := range list {
		list[i] = texts.Text(least, most)
	}
	return list
}

type benchedServer struct {
	dir   string
	space *memory.Space
}

// searchedServer serves memories, stored in batches of 1,000.
func searchedServer(b *testing.B, conversations string, n int, item func(i int) memory.Item) benchedServer {
	b.Helper()
	dir := b.TempDir()
	h, err := host.Open(b.Context(), host.Options{Dir: dir, Version: "bench", Conversations: conversations})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Close() })
	space, began := h.Memory(), time.Now()
	for from := 0; from < n; from += 1000 {
		items := make([]memory.Item, 1000)
		for i := range items {
			items[i] = item(from + i)
			items[i].Key = fmt.Sprintf("key-%07d", from+i)
		}
		if _, err := server.As(space, "").Store(b.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := space.WaitIdle(b.Context()); err != nil { // the index merges nothing during the searches
		b.Fatal(err)
	}
	b.Logf("%d memories stored in %.1f s", n, time.Since(began).Seconds())
	server.Serve(b, h, host.Listen{})
	return benchedServer{dir, space}
}

// searcher is one side of a comparison.
type searcher struct {
	name   string
	search func(query string) (hits func() int)
	beside func() time.Duration // ends the search's own process, and returns its CPU; nil: none
}

// comparePairs searches for the same on both sides, in turn, and reports what the second takes beside the first.
func comparePairs(b *testing.B, queries []string, first, second searcher) {
	sides := []searcher{first, second}
	hits := 0
	for _, query := range queries[:warmingCalls] {
		one, two := first.search(query)(), second.search(query)()
		if one != two {
			b.Fatalf("%q has %d hits by %s and %d by %s", query, one, first.name, two, second.name)
		}
		hits += one
	}
	if hits < warmingCalls {
		b.Fatalf("%d queries have %d hits in all", warmingCalls, hits)
	}
	took, used := make([][]time.Duration, len(sides)), make([]time.Duration, len(sides))
	for i := 0; b.Loop(); i++ {
		for j := range sides {
			side := (i + j) % len(sides)
			before, began := processCPU(), time.Now()
			hits := sides[side].search(queries[i%len(queries)])
			took[side] = append(took[side], time.Since(began))
			used[side] += processCPU() - before
			hits() // or the search failed
		}
	}
	added := make([]time.Duration, len(took[0]))
	for i := range added {
		added[i] = took[1][i] - took[0][i]
	}
	for i, side := range sides {
		cpu := used[i] / time.Duration(len(added))
		if side.beside != nil {
			cpu += side.beside() / time.Duration(len(added)+warmingCalls)
		}
		b.ReportMetric(inMilliseconds(middle(took[i])), side.name+"-p50-ms")
		b.ReportMetric(inMilliseconds(cpu), side.name+"-CPU-ms")
	}
	b.ReportMetric(inMilliseconds(middle(added)), "added-p50-ms")
	b.ReportMetric(inMilliseconds(middle(took[1])-middle(took[0])), "difference-of-p50-ms")
	b.ReportMetric(0, "ns/op")
}

func middle(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// buildProgram builds alcove without families, which a bridge does not use.
func buildProgram(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "alcove")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, "../../../cmd/alcove")
	if said, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build alcove: %v\n%s", err, said)
	}
	return path
}

// stdioBridge is a process that runs alcove mcp.
type stdioBridge struct {
	b    *testing.B
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// bridgeTo begins a session through a bridge to a server that runs.
func bridgeTo(b *testing.B, program, dir string) *stdioBridge {
	b.Helper()
	s := &stdioBridge{b: b, cmd: exec.Command(program, "mcp", "--data", dir)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	s.cmd.Stderr, s.in, s.out = b.Output(), in, bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); s.cmd.Wait() })
	s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		b.Fatal(err)
	}
	return s
}

// ask waits for the result of a request.
func (s *stdioBridge) ask(method, params string) json.RawMessage {
	s.b.Helper()
	return s.result(method, s.answer(method, params))
}

// answer waits for the answer to a request, which is the next line: nothing in these sessions makes the server send notifications.
func (s *stdioBridge) answer(method, params string) (line []byte) {
	s.b.Helper()
	s.next++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.next, method, params); err != nil {
		s.b.Fatal(err)
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.b.Fatalf("read the answer to %s: %v", method, err)
	}
	return line
}

// result reads the answer to the last request.
func (s *stdioBridge) result(method string, line []byte) json.RawMessage {
	s.b.Helper()
	var answer struct {
		ID            int
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil || answer.ID != s.next {
		s.b.Fatalf("%s was answered with %.300s, %v", method, line, err)
	}
	return answer.Result
}

func (s *stdioBridge) search(query string) (hits func() int) {
	s.b.Helper()
	line := s.answer("tools/call", fmt.Sprintf(`{"name":"memory_search","arguments":{"query":%q,"k":10}}`, query))
	return func() int {
		var answer struct {
			StructuredContent struct{ Results []struct{} }
			IsError           bool
		}
		if err := json.Unmarshal(s.result("tools/call", line), &answer); err != nil || answer.IsError {
			s.b.Fatalf("a search was answered with %.300s, %v", line, err)
		}
		return len(answer.StructuredContent.Results)
	}
}

// ended ends the process, and returns how long it has run on processors.
func (s *stdioBridge) ended() time.Duration {
	s.b.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.b.Fatal(err)
	}
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}
