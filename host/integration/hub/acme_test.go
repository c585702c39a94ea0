package hub

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// authority is a real authority of ACME, which finds every name on this machine and asks at a port.
func authority(t *testing.T, port int) (directory string, client *http.Client, roots *x509.CertPool) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(t.Output(), "", 0)
	store := db.NewMemoryStore()
	signs := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "The usual one"}})
	front := wfe.New(quiet, store, va.New(quiet, 0, port, false, names(t), store), signs, nil, false, false, 1, 1)
	s := httptest.NewTLSServer(front.Handler())
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AddCert(signs.GetRootCert(0).Cert)
	return s.URL + wfe.DirectoryPath, s.Client(), roots
}

// names is the address of a server of names, over TCP, for which each is this machine.
func names(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for answerName(conn) == nil {
				}
			}()
		}
	}()
	return l.Addr().String()
}

// answerName answers a question: two bytes of length before each message.
func answerName(conn net.Conn) error {
	length := make([]byte, 2)
	if _, err := io.ReadFull(conn, length); err != nil {
		return err
	}
	asked := make([]byte, binary.BigEndian.Uint16(length))
	if _, err := io.ReadFull(conn, asked); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(asked); err != nil {
		return err
	}
	m.Header.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	}
	answer, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}

func TestAnAuthorityOnTheInternetGivesTheCertificate(t *testing.T) {
	const name = "memory.example.org"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, text, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	directory, client, roots := authority(t, port)
	requires := true
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: at, ACME: &host.ACME{Names: []string{name}, Directory: directory, Client: client}, RequireKeys: &requires, Public: "https://" + name})
	serial := func(asked string) (string, error) {
		conn, err := tls.Dial("tcp", at, &tls.Config{RootCAs: roots, ServerName: asked})
		if err != nil {
			return "", err
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
	}
	first, err := serial(name)
	if err != nil {
		t.Fatalf("a client of %s: %v, want a certificate of the authority", name, err)
	}
	if again, err := serial(name); err != nil || again != first {
		t.Errorf("the next client: got the certificate %s, %v, want %s again", again, err, first)
	}
	if _, err := serial("other.example.org"); err == nil {
		t.Error("a client of another name gets a certificate, want none asked for")
	}
	s.Restart()
	if again, err := serial(name); err != nil || again != first {
		t.Errorf("after a restart: got the certificate %s, %v, want %s, which was kept", again, err, first)
	}
	kept, err := filepath.Glob(filepath.Join(owner.TLSPath(s.Dir), "acme", "*"))
	if err != nil || len(kept) < 2 {
		t.Errorf("the folder of ACME has %q, %v, want the account and the certificate", kept, err)
	}
}
