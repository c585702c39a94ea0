package push

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// rsyslog is a real collector, which writes each message into a file as it came.
type rsyslog struct {
	t       *testing.T
	program string
	dir, ca string
	port    string
}

func newRsyslog(t *testing.T) *rsyslog {
	t.Helper()
	program, err := exec.LookPath("rsyslogd")
	if err != nil {
		program = "/usr/sbin/rsyslogd" // which is not in the path of every user
	}
	drivers, _ := filepath.Glob("/usr/lib*/*/rsyslog/lmnsd_gtls.so")
	if _, err := os.Stat(program); err != nil || len(drivers) == 0 {
		t.Skip("rsyslogd with TLS is not installed: install the Debian packages rsyslog and rsyslog-gnutls")
	}
	r := &rsyslog{t: t, program: program, dir: t.TempDir(), port: "0"}
	files, _ := testcert.Write(t, r.dir)
	r.ca = files.Cert
	return r
}

func (r *rsyslog) path(name string) string { return filepath.Join(r.dir, name) }

// start starts it, on the port that it had before, until stop.
func (r *rsyslog) start() (stop func()) {
	r.t.Helper()
	text := fmt.Sprintf(`
global(workDirectory=%q maxMessageSize="512k" defaultNetstreamDriver="gtls" defaultNetstreamDriverCAFile=%q defaultNetstreamDriverCertFile=%q defaultNetstreamDriverKeyFile=%q)
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="raw" type="string" string="%%rawmsg%%\n")
input(type="imtcp" address="127.0.0.1" port=%q listenPortFileName=%q)
action(type="omfile" file=%q template="raw")
`, r.dir, r.ca, r.ca, r.path("key.pem"), r.port, r.path("port"), r.path("out"))
	if err := os.WriteFile(r.path("rsyslog.conf"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	c := exec.Command(r.program, "-n", "-f", r.path("rsyslog.conf"), "-i", r.path("pid"))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it is killed
		close(ended)
	}()
	await.That(r.t, "rsyslogd listens", func() bool {
		select {
		case <-ended:
			r.t.Fatalf("rsyslogd ended: %s", said.String())
		default:
		}
		port, err := os.ReadFile(r.path("port"))
		if r.port = strings.TrimSpace(string(port)); err != nil || r.port == "" {
			return false
		}
		conn, err := net.Dial("tcp", "127.0.0.1:"+r.port)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	stop = func() {
		_ = c.Process.Kill()
		<-ended
	}
	r.t.Cleanup(stop)
	return stop
}

// took are the messages in the file, by the numbers of their entries.
func (r *rsyslog) took() map[uint64]string {
	data, err := os.ReadFile(r.path("out"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	got := map[uint64]string{}
	for line := range strings.Lines(string(data)) {
		if text, whole := strings.CutSuffix(line, "\n"); whole {
			got[checked(r.t, text)] = text
		}
	}
	return got
}

func TestRsyslogTakesEachEntryOverTLSThroughItsRestart(t *testing.T) {
	r := newRsyslog(t)
	stop := r.start()
	log := logged(t, t.TempDir(), 3)
	log.Add(audit.Entry{Kind: audit.Operated, Person: "änn, uid 1000", Detail: strings.Repeat("x", 2000), Reason: `a "quoted" [reason]`})
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	end := running(t, log, To{Syslog: "tls://127.0.0.1:" + r.port, CA: r.ca})
	defer end()
	await.That(t, "rsyslog has five entries", func() bool { return len(r.took()) == 5 })
	stop()
	add(t, log, 4)
	r.start()
	await.That(t, "rsyslog has nine entries", func() bool { return len(r.took()) == 9 })
	end()
	got := r.took()
	if err := audit.Read(log.Dir(), func(line []byte, e audit.Entry) bool {
		if text := strings.TrimSuffix(string(line), "\n"); !strings.HasSuffix(got[e.Seq], text) {
			t.Errorf("entry %d came as %q, want the line %q", e.Seq, got[e.Seq], text)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}
