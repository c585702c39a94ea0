package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkColdStart starts the built program when nothing of its file is in memory, in turn with reading the same bytes, and
// likewise an older build that BEFORE names:
//
//	make build && BEFORE=path go test -run '^$' -bench ColdStart -benchtime 20x ./cmd/alcove
func BenchmarkColdStart(b *testing.B) {
	program := builtProgram(b)
	b.Run("now", func(b *testing.B) { startCold(b, program) })
	if before := os.Getenv("BEFORE"); before != "" {
		b.Run("before", func(b *testing.B) { startCold(b, before) })
	}
}

func startCold(b *testing.B, program string) {
	var read, version, serve []time.Duration
	dir := filepath.Join(b.TempDir(), "data")
	served(b, program, dir) // which makes the directory
	for b.Loop() {
		forget(b, program)
		read = append(read, timed(func() { readAll(b, program) }))
		forget(b, program)
		version = append(version, timed(func() { runToEnd(b, exec.Command(program, "version")) }))
		forget(b, program)
		serve = append(serve, served(b, program, dir))
	}
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(median(read)/1000, "read-ms")
	b.ReportMetric(median(version)/1000, "version-ms")
	b.ReportMetric(median(serve)/1000, "serve-ms")
	b.ReportMetric(median(version)/median(read), "version/read")
	b.ReportMetric(median(serve)/median(read), "serve/read")
	b.ReportMetric(0, "ns/op")
}

// forget takes a file out of the page cache.
func forget(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(unix.Fsync(int(f.Fd())), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		b.Fatal(err)
	}
}

func readAll(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		b.Fatal(err)
	}
}

func runToEnd(b *testing.B, c *exec.Cmd) {
	b.Helper()
	if said, err := c.CombinedOutput(); err != nil {
		b.Fatalf("run %s: %v\n%s", c, err, said)
	}
}

// served is how long a server takes until clients can connect.
func served(b *testing.B, program, dir string) time.Duration {
	b.Helper()
	c := exec.Command(program, "serve", "--data", dir, "--listen", "off")
	began := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	var took time.Duration
	for took == 0 {
		if conn, err := net.Dial("unix", filepath.Join(dir, "alcove.sock")); err == nil {
			took = time.Since(began)
			conn.Close()
		}
		time.Sleep(time.Millisecond)
		if time.Since(began) > time.Minute {
			b.Fatal("the server does not listen")
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkStartOfASession starts alcove mcp beside a running server and waits for the answer of tools/list, in turn with a program that
// prints "hello" and exits. bound-ms is twice the time of that program plus 15 ms, which a session must not exceed. BEFORE names an older
// build to start, too; with COLD=1, sessions are also started when nothing of the program's file is in memory, in turn with reading it:
//
//	make build && go test -run '^$' -bench StartOfASession -benchtime 50x ./cmd/alcove
func BenchmarkStartOfASession(b *testing.B) {
	programs := map[string]string{"session": builtProgram(b)}
	if before := os.Getenv("BEFORE"); before != "" {
		programs["before"] = before
	}
	hello, dir := helloProgram(b), filepath.Join(b.TempDir(), "data")
	serveFor(b, programs["session"], dir)
	took, cpu := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		took["hello"] = append(took["hello"], timed(func() { runToEnd(b, exec.Command(hello)) }))
		for name, program := range programs {
			warm, used := sessionStart(b, program, dir)
			took[name], cpu[name] = append(took[name], warm), append(cpu[name], used)
			if os.Getenv("COLD") != "" {
				copied := copyOf(b, program) // the server has the other one mapped
				forget(b, copied)
				cold, _ := sessionStart(b, copied, dir)
				took[name+"-cold"] = append(took[name+"-cold"], cold)
				forget(b, copied)
				took[name+"-read"] = append(took[name+"-read"], timed(func() { readAll(b, copied) }))
			}
		}
	}
	for name := range took {
		b.ReportMetric(median(took[name])/1000, name+"-ms")
	}
	for name := range cpu {
		b.ReportMetric(median(cpu[name])/1000, name+"-cpu-ms")
	}
	b.ReportMetric(2*median(took["hello"])/1000+15, "bound-ms")
	b.ReportMetric(0, "ns/op")
}

// helloProgram builds the program that a session is compared with.
func helloProgram(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source, program := filepath.Join(dir, "hello.go"), filepath.Join(dir, "hello")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"hello\\n\") }\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	runToEnd(b, exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, source))
	return program
}

// serveFor serves a directory until the benchmark ends.
func serveFor(b *testing.B, program, dir string) {
	b.Helper()
	serving := exec.Command(program, "serve", "--data", dir, "--listen", "off")
	if err := serving.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		serving.Process.Signal(os.Interrupt)
		serving.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if conn, err := net.Dial("unix", filepath.Join(dir, "alcove.sock")); err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			b.Fatal("the server does not listen")
		}
	}
}

const sessionStartMessages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// sessionStart is the time from the start of alcove mcp to its list of tools, and the processor time of the whole session.
func sessionStart(b *testing.B, program, dir string) (took, cpu time.Duration) {
	b.Helper()
	c := exec.Command(program, "mcp", "--data", dir)
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		b.Fatal(err)
	}
	answers, began := bufio.NewReader(out), time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	_, errWritten := io.WriteString(in, sessionStartMessages)
	for line := ""; !strings.Contains(line, `"id":2,`); {
		var err error
		if line, err = answers.ReadString('\n'); err != nil {
			b.Fatalf("read the list of tools: got %q, %v (write: %v)", line, err, errWritten)
		}
	}
	took = time.Since(began)
	in.Close()
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took, c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// copyOf copies a program once, beside the original.
func copyOf(b *testing.B, program string) string {
	b.Helper()
	copied := filepath.Join(filepath.Dir(program), filepath.Base(program)+".cold")
	if _, err := os.Stat(copied); err == nil {
		return copied
	}
	data, err := os.ReadFile(program)
	if err = errors.Join(err, os.WriteFile(copied, data, 0o755)); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.Remove(copied) })
	return copied
}

func builtProgram(b *testing.B) string {
	b.Helper()
	program, err := filepath.Abs("../../bin/alcove")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		b.Skip("the program is not built: make build")
	}
	return program
}
