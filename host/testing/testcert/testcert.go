// Package testcert makes certificates for the tests of servers with TLS.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// Files are a certificate and its key, in PEM.
type Files struct {
	Cert, Key string // paths
}

// Write makes a self-signed certificate for 127.0.0.1 and names in a directory, in place of the one that is there.
func Write(t testing.TB, dir string, names ...string) (Files, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Do(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must.Do(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "alcove test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must.Do(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must.Do(t, err)
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	writePEM(t, f.Cert, "CERTIFICATE", der)
	writePEM(t, f.Key, "PRIVATE KEY", keyDER)
	parsed, err := x509.ParseCertificate(der)
	must.Do(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return f, pool
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
