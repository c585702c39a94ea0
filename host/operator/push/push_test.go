package push

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/alcove-memory/alcove/host/operator/audit"
)

// logged makes an audit log with its first entry and some calls.
func logged(t *testing.T, dir string, calls int) *audit.Log {
	t.Helper()
	l, err := audit.Open(audit.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	add(t, l, calls)
	return l
}

func add(t *testing.T, l *audit.Log, calls int) {
	t.Helper()
	for range calls {
		l.Add(audit.Entry{Kind: audit.Called, Family: "notes", Agent: "änn", Outcome: "ok"})
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

// running sends a log until stop, which waits for what is left.
func running(t *testing.T, l *audit.Log, to To) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{To: to, Dir: l.Dir(), Name: "work", Version: "test", Logger: slog.New(slog.DiscardHandler), Flush: l.Flush})
	}()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

var message = regexp.MustCompile(`^<(\d+)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+ alcove/work \d+ [a-z]+ \[origin software="alcove" swVersion="test"\]\[meta sequenceId="(\d+)"\] (\{.*"hash":"[0-9a-f]{64}"\})$`)

// checked returns the number of a message's entry.
func checked(t *testing.T, text string) uint64 {
	t.Helper()
	m := message.FindStringSubmatch(text)
	if m == nil || !strings.Contains(m[3], `{"seq":`+m[2]+",") {
		t.Errorf("the message %q is none of RFC 5424 with a line of the log", text)
		return 0
	}
	seq, _ := strconv.ParseUint(m[2], 10, 64)
	return seq
}

// framedMessage reads a message with its length before it.
func framedMessage(in *bufio.Reader) (string, error) {
	length, err := in.ReadString(' ')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(length))
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(in, text)
	return string(text), err
}

func TestDatagramsOfSyslogHaveEachEntry(t *testing.T) {
	for _, network := range []string{"udp", "unixgram"} {
		address, url := "127.0.0.1:0", "udp://%s"
		if network == "unixgram" {
			address, url = filepath.Join(t.TempDir(), "log"), "unix://%s"
		}
		conn, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		stop := running(t, logged(t, t.TempDir(), 3), To{Syslog: fmt.Sprintf(url, conn.LocalAddr())})
		defer stop()
		for want := uint64(1); want <= 4; want++ {
			text := make([]byte, 1<<16)
			n, _, err := conn.ReadFrom(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := checked(t, string(text[:n])); got != want {
				t.Errorf("over %s entry %d came, want %d", network, got, want)
			}
		}
	}
}

// A collector that ends a connection gets the batch again that it may not have: each entry arrives, in order.
func TestEachEntryArrivesOverTLSThroughEndsOfConnections(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: web.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	log := logged(t, t.TempDir(), 5)
	stop := running(t, log, To{Syslog: "tls://" + l.Addr().String(), CA: ca})
	defer stop()
	arrived := map[uint64]bool{}
	for round := range 3 {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for want := uint64(6 * (round + 1)); !arrived[want]; {
			text, err := framedMessage(in)
			if err != nil {
				t.Fatal(err)
			}
			arrived[checked(t, text)] = true
		}
		conn.Close()
		add(t, log, 6)
	}
	if err := l.Close(); err != nil { // lest the end waits for it
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 18; seq++ {
		if !arrived[seq] {
			t.Errorf("entry %d did not arrive", seq)
		}
	}
}

// collectorOf answers as it is told, and keeps the numbers of the records that it takes.
type collectorOf struct {
	t      *testing.T
	status atomic.Int32
	mu     sync.Mutex
	seqs   []uint64
	header http.Header
}

func (c *collectorOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var data logs.LogsData
	if err == nil {
		err = proto.Unmarshal(body, &data)
	}
	if err != nil || r.URL.Path != "/v1/logs" {
		c.t.Errorf("a request to %s: %v", r.URL.Path, err)
	}
	if status := int(c.status.Load()); status != http.StatusOK {
		w.WriteHeader(status)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header
	for _, record := range data.ResourceLogs[0].ScopeLogs[0].LogRecords {
		if !strings.HasPrefix(record.Body.GetStringValue(), `{"seq":`) || !strings.HasPrefix(record.EventName, "alcove.audit.") {
			c.t.Errorf("the record %v is no line of the log", record)
		}
		c.seqs = append(c.seqs, uint64(record.Attributes[1].Value.GetIntValue()))
	}
}

func TestAnOpenTelemetryCollectorTakesEachEntryThroughRestartsAndItsFailures(t *testing.T) {
	dir, c := t.TempDir(), &collectorOf{t: t}
	s := httptest.NewServer(c)
	defer s.Close()
	to := To{OTLP: s.URL, Headers: "Authorization=Bearer%20t0ken, x=1"}
	var last uint64
	for _, status := range []int32{http.StatusServiceUnavailable, http.StatusOK, http.StatusInternalServerError, http.StatusOK} {
		c.status.Store(status)
		l := logged(t, dir, 4)
		running(t, l, to)() // stops at once, and sends what is left
		h, err := l.Head()
		if err != nil {
			t.Fatal(err)
		}
		last = h.Seq
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []uint64{}
	for n := uint64(1); n <= last; n++ {
		want = append(want, n)
	}
	if !slices.Equal(c.seqs, want) || c.header.Get("Authorization") != "Bearer t0ken" || c.header.Get("X") != "1" {
		t.Errorf("entries %d arrived with %v, want 1 to %d once each, with the headers", c.seqs, c.header, last)
	}
}

// faulty is a collector that fails for a while.
type faulty struct{ fails int }

func (f *faulty) send(context.Context, []line) error {
	if f.fails--; f.fails >= 0 {
		return errors.New("it is full")
	}
	return nil
}

func (f *faulty) close() {}

func TestAFailureOfACollectorIsLoggedOnceAndItsEndToo(t *testing.T) {
	var said bytes.Buffer
	l := logged(t, t.TempDir(), 3)
	p := pusher{to: &faulty{fails: 3}, name: "siem", flush: l.Flush, logger: slog.New(slog.NewTextHandler(&said, nil)), follower: audit.Follower{Dir: l.Dir()},
		cursors: &cursors{path: filepath.Join(t.TempDir(), cursorFile), last: map[string]uint64{}}}
	for round, want := range []bool{false, false, false, true, true} {
		if got := p.round(t.Context()); got != want {
			t.Errorf("round %d is taken: %t, want %t", round, got, want)
		}
	}
	failed, ended := strings.Count(said.String(), "cannot send the audit log"), strings.Count(said.String(), "has everything again")
	if failed != 1 || ended != 1 || strings.Count(said.String(), "collector=siem") != 2 {
		t.Errorf("the log says %s, want the failure and its end once, with the collector", said.String())
	}
}

func TestWhatIsNoCollectorIsRefused(t *testing.T) {
	for _, to := range []To{{Syslog: "udp://host"}, {Syslog: "http://host:514"}, {Syslog: "unix://host/log"}, {Syslog: "tls://u:p@host:6514"}, {Syslog: "tcp://host:601/x"},
		{OTLP: "ftp://host"}, {OTLP: "http://u:p@host"}, {OTLP: "http://host", Headers: "novalue"}, {Syslog: "tls://host:6514", CA: "none.pem"}, {Syslog: "tcp://host:601", CA: "ca.pem"}, {CA: "ca.pem"}} {
		if err := to.Check(); err == nil || strings.Contains(err.Error(), "novalue") {
			t.Errorf("%+v: %v, want an error without a header's text", to, err)
		}
	}
	if err := (To{Syslog: "unix:///dev/log", OTLP: "https://collector.example:4318"}).Check(); err != nil {
		t.Errorf("two collectors: %v", err)
	}
}

func TestALongMessageIsCutInADatagramAlone(t *testing.T) {
	long := line{text: []byte(strings.Repeat("x", 64<<10)), entry: audit.Entry{Seq: 1, Kind: audit.Called}}
	udp, err := newSyslog("udp://127.0.0.1:514", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := newSyslog("tcp://127.0.0.1:601", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(udp.framed(long)); n != longestDatagram {
		t.Errorf("a datagram has %d bytes, want %d", n, longestDatagram)
	}
	if n := len(tcp.framed(long)); n < 64<<10 {
		t.Errorf("a message over a stream has %d bytes, want all", n)
	}
}
