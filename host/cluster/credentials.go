package cluster

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"time"
)

// Sizes of a cluster key, in bytes.
const (
	KeyLeast = 32
	KeyMost  = 4 << 10
)

// serverName is the name that every server has in its certificate.
const serverName = "server.alcove.invalid"

// Credentials authenticate the servers of a cluster to each other, by certificates of an authority that is derived from the cluster key.
type Credentials struct {
	key       []byte
	pool      *x509.CertPool
	presented tls.Certificate
}

// NewCredentials returns the credentials of a server with a cluster key, with a certificate of its own.
func NewCredentials(key []byte) (*Credentials, error) {
	if len(key) < KeyLeast || len(key) > KeyMost {
		return nil, fmt.Errorf("a cluster key has %d to %d bytes, not %d: make one with: openssl rand -base64 48", KeyLeast, KeyMost, len(key))
	}
	c := &Credentials{key: key, pool: x509.NewCertPool()}
	seed, err := c.derive("authority of the cluster", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	authority := ed25519.NewKeyFromSeed(seed)
	issuer := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Alcove cluster"}, NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root, err := certify(issuer, issuer, authority.Public(), authority)
	if err != nil {
		return nil, err
	}
	c.pool.AddCert(root)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	leaf, err := certify(&x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName}, NotBefore: issuer.NotBefore, NotAfter: issuer.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, root, public, authority)
	if err != nil {
		return nil, err
	}
	c.presented = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: private, Leaf: leaf}
	return c, nil
}

func certify(template, parent *x509.Certificate, public any, by ed25519.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		return nil, fmt.Errorf("make a certificate of the cluster: %w", err)
	}
	return x509.ParseCertificate(der)
}

// derive returns a secret of the cluster for a purpose.
func (c *Credentials) derive(purpose string, size int) ([]byte, error) {
	secret, err := hkdf.Key(sha256.New, c.key, nil, "alcove "+purpose, size)
	if err != nil {
		return nil, fmt.Errorf("derive the %s: %w", purpose, err)
	}
	return secret, nil
}

// Token returns the token of a space's owner, which is the same on all servers.
func (c *Credentials) Token(space string) (string, error) {
	secret, err := c.derive("token of the space "+space, 32)
	return base64.RawURLEncoding.EncodeToString(secret), err
}

// Logins returns the secret from which the authorization servers of spaces derive theirs.
func (c *Credentials) Logins() ([]byte, error) { return c.derive("authorization servers", 32) }

// Server is the configuration of a listener for the other servers.
func (c *Credentials) Server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.presented}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: c.pool, NextProtos: []string{"http/1.1"}}
}

// Client is the configuration of a connection to another server.
func (c *Credentials) Client() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c.presented}, RootCAs: c.pool, ServerName: serverName, NextProtos: []string{"http/1.1"}}
}
