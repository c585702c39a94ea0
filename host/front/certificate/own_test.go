package certificate

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestACertificateIsMadeAgainInTimeByTheSameAuthority(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "tls"), time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	made := func(names ...string) (serial, pin string) {
		t.Helper()
		cert, key, err := Own(dir, names, now)
		if err != nil {
			t.Fatalf("make a certificate: %v", err)
		}
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			t.Fatalf("the certificate and its key: %v", err)
		}
		read, err := readCertificate(cert)
		if err != nil {
			t.Fatal(err)
		}
		if pin, err = PinOf(dir); err != nil {
			t.Fatal(err)
		}
		return read.SerialNumber.String(), pin
	}
	for what, c := range map[string]struct {
		after time.Duration
		names []string
		again bool
	}{
		"at once":                        {0, []string{"10.0.0.1", "memory.example.org"}, false},
		"61 days before its end":         {serverHolds - renewBefore - 24*time.Hour, []string{"memory.example.org", "10.0.0.1"}, false},
		"59 days before its end":         {serverHolds - renewBefore + 24*time.Hour, []string{"memory.example.org", "10.0.0.1"}, true},
		"for another name, a week later": {7 * 24 * time.Hour, []string{"other.example.org"}, true},
	} {
		dir, now = filepath.Join(t.TempDir(), "tls"), time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
		first, pin := made("memory.example.org", "10.0.0.1")
		now = now.Add(c.after)
		if serial, other := made(c.names...); (serial != first) != c.again || other != pin {
			t.Errorf("%s: made again: %t, by the same authority: %t, want %t and true", what, serial != first, other == pin, c.again)
		}
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"server.key", "authority.key"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v, want it for its user alone", name, info.Mode(), err)
			}
		}
	}
}

func TestNamesOfCertificatesAreChecked(t *testing.T) {
	for _, names := range [][]string{nil, {""}, {"https://memory.example.org"}, {"a b"}, {"*.example.org"}, make([]string, 101)} {
		if _, _, err := Own(t.TempDir(), names, time.Now()); err == nil {
			t.Errorf("a certificate for %q is made, want it refused", names)
		}
	}
	for _, a := range []ACME{{Names: []string{"10.0.0.1"}}, {Names: []string{"a"}, Directory: "http://a"}, {}} {
		if _, err := a.New(); err == nil {
			t.Errorf("a manager for %+v is made, want it refused", a)
		}
	}
}
