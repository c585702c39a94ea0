package listen

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// newTLS serves a certificate, and gives the server's address.
func newTLS(t *testing.T, files testcert.Files) string {
	t.Helper()
	c, err := LoadCertificate(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(newHTTP(t, func(h *HTTP) { h.Certificate = c }), "http://")
}

// trusting is a client that trusts a pool, and connects anew for each request.
func trusting(t *testing.T, pool *x509.CertPool) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func status(c *http.Client, url, host string) (int, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	r.Host = host
	answer, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func TestARenewedCertificateIsServedWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	files, first := testcert.Write(t, dir)
	server := newTLS(t, files)
	old := trusting(t, first)
	if code, err := status(old, "https://"+server+"/healthz", ""); err != nil || code != http.StatusOK {
		t.Fatalf("before: %d, %v", code, err)
	}

	renewed, second := testcert.Write(t, t.TempDir())
	move(t, renewed.Cert, files.Cert)
	if code, err := status(old, "https://"+server+"/healthz", ""); err != nil || code != http.StatusOK {
		t.Errorf("with a certificate whose key is still to come: %d, %v", code, err)
	}
	move(t, renewed.Key, files.Key)
	if code, err := status(trusting(t, second), "https://"+server+"/healthz", ""); err != nil || code != http.StatusOK {
		t.Errorf("after: %d, %v", code, err)
	}
	if _, err := status(old, "https://"+server+"/healthz", ""); err == nil {
		t.Error("the old certificate is still served")
	}
}

// move replaces a file by a newer one.
func move(t *testing.T, from, to string) {
	t.Helper()
	later := time.Now().Add(time.Minute)
	if err := errors.Join(os.Chtimes(from, later, later), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

func TestFilesWithoutACertificateAreNamed(t *testing.T) {
	dir := t.TempDir()
	files, _ := testcert.Write(t, dir)
	if err := os.WriteFile(files.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cert := range []string{files.Cert, dir + "/absent.pem"} {
		if _, err := LoadCertificate(cert, files.Key); err == nil || !strings.Contains(err.Error(), cert) || !strings.Contains(err.Error(), files.Key) {
			t.Errorf("LoadCertificate(%s): %v, want an error that names both files", cert, err)
		}
	}
}

func TestANameInTheCertificateIsAProperHost(t *testing.T) {
	files, pool := testcert.Write(t, t.TempDir(), "memory.example")
	server := newTLS(t, files)
	c := trusting(t, pool)
	for host, want := range map[string]int{"memory.example": http.StatusOK, "memory.example:9742": http.StatusOK, "other.example": http.StatusForbidden} {
		if code, err := status(c, "https://"+server+"/healthz", host); err != nil || code != want {
			t.Errorf("%s: %d, %v; want %d", host, code, err, want)
		}
	}
}

func TestPlainHTTPIsRefusedWhereThereIsTLS(t *testing.T) {
	files, _ := testcert.Write(t, t.TempDir())
	code, _ := request(t, http.MethodGet, "http://"+newTLS(t, files)+"/healthz", "", nil)
	if code != http.StatusBadRequest {
		t.Errorf("plain HTTP: status %d, want %d", code, http.StatusBadRequest)
	}
}

func TestOtherMachinesNeedTLSAndKeys(t *testing.T) {
	files, _ := testcert.Write(t, t.TempDir())
	certificate, err := LoadCertificate(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address      string
		certificate  *Certificate
		keysRequired bool
		lacks        string
	}{
		{"127.0.0.1:0", nil, false, ""},
		{"0.0.0.0:0", nil, true, "--tls-cert"},
		{"0.0.0.0:0", certificate, false, "--require-keys"},
		{"0.0.0.0:0", certificate, true, ""},
	} {
		l, err := ListenHTTP(c.address)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckExposure(l, c.certificate, c.keysRequired)
		if c.lacks == "" && err != nil || c.lacks != "" && (!errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), c.lacks)) {
			t.Errorf("%s, TLS %t, keys %t: %v", c.address, c.certificate != nil, c.keysRequired, err)
		}
		l.Close()
	}
}
