package push

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/regular"
)

// Numbers of RFC 5424.
const (
	facility = 13 // log audit
	warning  = 4
	notice   = 5
	info     = 6

	longestApp      = 48
	longestHost     = 255
	longestDatagram = 60_000 // bytes of a UDP message; what is longer is cut
	largestCA       = 1 << 20
	mostSequence    = 1<<31 - 1
)

// syslog sends messages of RFC 5424: as datagrams, or over a stream with the length before each, as RFC 5425 and 6587 say.
type syslog struct {
	network, address string
	tls              *tls.Config // nil: without TLS
	host, app, pid   string
	version          string

	conn net.Conn
	gone *atomic.Pointer[time.Time] // when the collector closed conn; nil: it did not
	last []line                     // what was written last, of which nothing says whether it arrived
	sent time.Time                  // when
	lost []line                     // what may not have arrived, and is written again
}

// doubtful is the time after a message within which the end of its connection may have lost it.
const doubtful = 10 * time.Second

func newSyslog(text, ca string, o Options) (*syslog, error) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("%.80q cannot be a collector of syslog: give unix:///dev/log, udp://HOST:514, tcp://HOST:601 or tls://HOST:6514", text)
	}
	host, _ := os.Hostname()
	s := &syslog{host: printable(host, longestHost), app: printable("alcove"+suffixed(o.Name), longestApp), pid: fmt.Sprint(os.Getpid()), version: o.Version}
	switch s.network, s.address = u.Scheme, u.Host; {
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		s.network, s.address = "unixgram", u.Path
	case (u.Scheme == "udp" || u.Scheme == "tcp") && u.Port() != "" && u.Path == "":
	case u.Scheme == "tls" && u.Port() != "" && u.Path == "":
		s.network = "tcp"
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
	default:
		return nil, fmt.Errorf("%.80q cannot be a collector of syslog: give unix:///dev/log, udp://HOST:514, tcp://HOST:601 or tls://HOST:6514", text)
	}
	if s.tls == nil || ca == "" {
		return s, nil
	}
	data, err := regular.Read(ca, largestCA)
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust for syslog: %w", err)
	}
	if s.tls.RootCAs = x509.NewCertPool(); !s.tls.RootCAs.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificate in PEM", ca)
	}
	return s, nil
}

func suffixed(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// printable is a text in the characters that a header may have; "-" if nothing is left.
func printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return cmp.Or(text[:min(len(text), most)], "-")
}

// send implements collector.
func (s *syslog) send(ctx context.Context, list []line) (err error) {
	if s.conn != nil {
		if ended := s.gone.Load(); ended != nil {
			if s.close(); ended.Sub(s.sent) < doubtful {
				s.lost = s.last
			}
		}
	}
	if list = slices.Concat(s.lost, list); len(list) == 0 {
		return nil
	}
	if s.conn == nil {
		if err := s.dial(ctx); err != nil {
			return fmt.Errorf("reach the collector of syslog: %w", err)
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := s.conn.SetWriteDeadline(deadline); err != nil {
			return err
		}
	}
	for _, l := range list {
		if _, err := s.conn.Write(s.framed(l)); err != nil {
			s.close()
			s.lost = s.last
			return fmt.Errorf("send to the collector of syslog: %w", err)
		}
	}
	s.lost, s.last, s.sent = nil, list[max(0, len(list)-mostLines):], time.Now()
	return nil
}

func (s *syslog) dial(ctx context.Context) error {
	d := net.Dialer{}
	conn, err := d.DialContext(ctx, s.network, s.address)
	if err != nil {
		return err
	}
	if s.tls != nil {
		over := tls.Client(conn, s.tls)
		if err := over.HandshakeContext(ctx); err != nil {
			conn.Close()
			if unknown := (*tls.CertificateVerificationError)(nil); errors.As(err, &unknown) {
				err = fmt.Errorf("its certificate is not trusted: name the authority's with --audit-syslog-ca: %w", err)
			}
			return err
		}
		conn = over
	}
	gone := &atomic.Pointer[time.Time]{}
	s.conn, s.gone = conn, gone
	if s.stream() {
		go func() { // a collector says nothing: what ends the reading is its end
			_, _ = io.Copy(io.Discard, conn)
			now := time.Now()
			gone.Store(&now)
		}()
	}
	return nil
}

func (s *syslog) stream() bool { return s.network == "tcp" }

// framed is an entry as it is sent.
func (s *syslog) framed(l line) []byte {
	text := s.message(l)
	if s.stream() {
		return append(fmt.Appendf(nil, "%d ", len(text)), text...)
	}
	if s.network == "udp" && len(text) > longestDatagram {
		text = text[:longestDatagram]
	}
	return text
}

// message is an entry as RFC 5424 has it. Its text is the line of the log, hash included.
func (s *syslog) message(l line) []byte {
	e := l.entry
	data := fmt.Sprintf(`[origin software="alcove" swVersion="%s"]`, printable(strings.NewReplacer(`"`, "", `\`, "", "]", "").Replace(s.version), 32))
	if e.Seq <= mostSequence {
		data += fmt.Sprintf(`[meta sequenceId="%d"]`, e.Seq)
	}
	head := fmt.Sprintf("<%d>1 %s %s %s %s %s %s ", facility*8+severity(e), e.Time.UTC().Format("2006-01-02T15:04:05.000000Z07:00"), s.host, s.app, s.pid, printable(string(e.Kind), 32), data)
	return append([]byte(head), l.text...)
}

func severity(e audit.Entry) int {
	switch e.Kind {
	case audit.Denied, audit.Refused, audit.Edited, audit.Damaged, audit.Dropped:
		return warning
	case audit.Operated, audit.Granted, audit.Installed, audit.Removed, audit.Changed, audit.Undone, audit.FromBackup, audit.Began:
		return notice
	}
	if len(e.Denied) > 0 {
		return warning
	}
	return info
}

func (s *syslog) close() {
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn = nil
}
