package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkEdit measures alcove family dev of the built program, and in turn of an older build that BEFORE names, on the families that
// alcove family new makes:
//
//	make build && BEFORE=path go test -tags guests -run '^$' -bench Edit -benchtime 10x ./cmd/alcove
//
// From an edit until a client has the new answer, the build command aside, it takes answer-ms, of which the server's process computes for
// cpu-ms; compiled-ms is until an answer comes from compiled code. Medians; a watched file is looked at every 100 ms.
func BenchmarkEdit(b *testing.B) {
	programs := map[string]string{"now": builtProgram(b)}
	if before := os.Getenv("BEFORE"); before != "" {
		programs["before"] = before
	}
	for _, l := range []struct{ language, file, ending string }{{"go", "family.go", `"!"`}, {"c", "family.c", `%t!"`}} {
		b.Run(l.language, func(b *testing.B) {
			env := scaffolds(b, l.language)
			authors := map[string]*author{}
			for name, program := range programs {
				authors[name] = newAuthor(b, program, append(env, "XDG_CACHE_HOME="+b.TempDir()), l.language, l.file)
				authors[name].edits(l.ending, strings.Replace(l.ending, "!", "0", 1))
			}
			for i := 0; b.Loop(); i++ {
				for _, a := range authors {
					a.edits(strings.Replace(l.ending, "!", fmt.Sprint(i), 1), strings.Replace(l.ending, "!", fmt.Sprint(i+1), 1))
				}
			}
			for name, a := range authors {
				b.ReportMetric(median(a.answer[1:])/1000, name+"-answer-ms") // the first edit was before the loop
				b.ReportMetric(median(a.cpu[1:])/1000, name+"-cpu-ms")
				b.ReportMetric(median(a.compiled[1:])/1000, name+"-compiled-ms")
			}
			b.ReportMetric(0, "ns/op") // of both programs, with their builds
		})
	}
}

// author edits a family and calls its tool.
type author struct {
	b                     *testing.B
	dev                   *dev
	client                *mcpClient
	tool, file, digest    string
	answer, cpu, compiled []time.Duration
}

func newAuthor(b *testing.B, program string, env []string, language, file string) *author {
	b.Helper()
	work := b.TempDir()
	dir := filepath.Join(work, "tea")
	cmd := exec.Command(program, "family", "new", "tea", "--lang", language)
	cmd.Dir, cmd.Env = work, env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("run %s: %v\n%s", cmd, err, out)
	}
	a := &author{b: b, dev: startDevOf(b, program, env, dir), tool: "tea_greet", file: filepath.Join(dir, file)}
	connect := a.dev.until("serving", "").Connect
	a.digest = a.dev.until("built", "").Digest
	served := exec.Command(connect[0], connect[1:]...)
	served.Env, served.Stderr = env, b.Output()
	a.client = clientOf(b, served)
	return a
}

// edits replaces the ending of what the tool answers, and measures until the answers have it.
func (a *author) edits(old, new string) {
	a.b.Helper()
	used, began := a.processor(), time.Now()
	edit(a.b, a.file, old, new)
	built := a.dev.until("built", "")
	for built.Digest == a.digest { // the file was seen half-written
		built = a.dev.until("built", "")
	}
	a.digest = built.Digest
	took := func() time.Duration {
		return time.Since(began) - time.Duration(built.BuildMS*float64(time.Millisecond))
	}
	interpreted := a.calls(strings.Trim(new, `%t"`))
	a.answer, a.cpu = append(a.answer, took()), append(a.cpu, a.processor()-used)
	for interpreted {
		time.Sleep(20 * time.Millisecond) // the compiler is at work
		interpreted = a.calls(strings.Trim(new, `%t"`))
	}
	a.compiled = append(a.compiled, took())
}

// calls calls the tool, whose answer must have an ending, and reports whether it was interpreted.
func (a *author) calls(ending string) bool {
	a.b.Helper()
	var answer struct{ Text string }
	if a.client.call(a.tool, map[string]any{"name": "Ada"}, &answer); answer.Text != "Hello, Ada"+ending {
		a.b.Fatalf("it answers %q, want the ending %q", answer.Text, ending)
	}
	for a.dev.lines.Scan() {
		if line := a.dev.lines.Text(); strings.Contains(line, `"kind":"ended"`) {
			return strings.Contains(line, `"interpreted":true`)
		}
	}
	a.b.Fatalf("family dev has ended: %v", a.dev.lines.Err())
	return false
}

// processor returns the processor time of the process that serves, apart from the commands that it runs.
func (a *author) processor() time.Duration {
	a.b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.dev.cmd.Process.Pid))
	if err != nil {
		a.b.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	var skip string
	var user, system int64
	if _, err := fmt.Sscan(fields, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &user, &system); err != nil {
		a.b.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100 // clock ticks
}
