package push

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// otelcol starts the collector of OpenTelemetry's project until the test ends. It returns its address, and the file in which it writes each
// record that it takes.
func otelcol(t *testing.T) (url, out string) {
	t.Helper()
	program, err := exec.LookPath("otelcol")
	if err != nil {
		program, err = exec.LookPath("otelcol-contrib")
	}
	if err != nil {
		t.Skip("otelcol is not installed: put a release of the OpenTelemetry Collector into the path")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config, out := filepath.Join(dir, "otelcol.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf("receivers: {otlp: {protocols: {http: {endpoint: %q}}}}\nexporters: {debug: {verbosity: detailed}}\n"+
		"service: {telemetry: {metrics: {level: none}}, pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}\n", address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "--config", config)
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
		f.Close()
	})
	await.That(t, "otelcol listens", func() bool {
		select {
		case <-ended:
			said, _ := os.ReadFile(out)
			t.Fatalf("otelcol ended: %s", said)
		default:
		}
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return "http://" + address, out
}

func TestTheCollectorOfOpenTelemetryTakesEachEntry(t *testing.T) {
	url, out := otelcol(t)
	log := logged(t, t.TempDir(), 3)
	log.Add(audit.Entry{Kind: audit.Operated, Person: "änn, uid 1000", Detail: strings.Repeat("x", 2000), Reason: `a "quoted" reason`})
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	running(t, log, To{OTLP: url})() // stops at once, and sends what is left
	var took string
	await.That(t, "the collector writes the last entry", func() bool {
		data, err := os.ReadFile(out)
		took = string(data)
		return err == nil && strings.Contains(took, "-> alcove.seq: Int(5)")
	})
	if err := audit.Read(log.Dir(), func(line []byte, e audit.Entry) bool {
		if text := strings.TrimSuffix(string(line), "\n"); strings.Count(took, "Body: Str("+text+")") != 1 {
			t.Errorf("entry %d is not in what the collector took, once: %s", e.Seq, text)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-> service.name: Str(alcove)", "-> service.namespace: Str(work)", "EventName: alcove.audit.operated"} {
		if !strings.Contains(took, want) {
			t.Errorf("what the collector took has no %s", want)
		}
	}
}
