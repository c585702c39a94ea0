// Package certificate makes the certificates of a server: by an authority of its own, or through ACME.
package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base32"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
)

const (
	authorityHolds = 10 * 365 * 24 * time.Hour
	serverHolds    = 397 * 24 * time.Hour // what clients take at most
	renewBefore    = 60 * 24 * time.Hour  // its end
)

// Own makes a certificate for names and addresses, by an authority whose key stays in the folder, unless the one that is there serves. It
// returns the files of certificate and key.
func Own(dir string, names []string, now time.Time) (cert, key string, err error) {
	if err := checkNames(names); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", fmt.Errorf("make a folder for the server's certificate: %w", err)
	}
	cert, key = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	if there, err := readCertificate(cert); err == nil && now.Add(renewBefore).Before(there.NotAfter) && sameNames(there, names) {
		return cert, key, nil
	}
	by, signer, err := authority(dir, now)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(serverHolds),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	for _, name := range names {
		if a, err := netip.ParseAddr(name); err == nil {
			template.IPAddresses = append(template.IPAddresses, a.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	if err := write(cert, key, template, by, own, signer); err != nil {
		return "", "", fmt.Errorf("make the server's certificate: %w", err)
	}
	return cert, key, nil
}

func checkNames(names []string) error {
	if len(names) == 0 || len(names) > 100 {
		return fmt.Errorf("%d names: a certificate has 1 to 100", len(names))
	}
	for _, name := range names {
		if name == "" || len(name) > 253 || strings.ContainsAny(name, " /*@") || strings.Contains(name, "://") {
			return fmt.Errorf("the name %.100q is neither a host name, such as memory.example.org, nor an address", name)
		}
	}
	return nil
}

func sameNames(c *x509.Certificate, names []string) bool {
	have := slices.Clone(c.DNSNames)
	for _, a := range c.IPAddresses {
		have = append(have, a.String())
	}
	want := slices.Clone(names)
	slices.Sort(have)
	slices.Sort(want)
	return slices.Equal(have, want)
}

// authority returns the authority in a folder, or makes one.
func authority(dir string, now time.Time) (*x509.Certificate, crypto.Signer, error) {
	cert, key := filepath.Join(dir, "authority.crt"), filepath.Join(dir, "authority.key")
	there, err := readCertificate(cert)
	switch {
	case err == nil:
		signer, err := readKey(key)
		if err != nil {
			return nil, nil, fmt.Errorf("read the key of the server's authority: %w", err)
		}
		return there, signer, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("read the server's authority: %w", err)
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "Alcove " + now.UTC().Format("2006-01-02 15:04")}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(authorityHolds),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true}
	if err := write(cert, key, template, nil, signer, signer); err != nil {
		return nil, nil, fmt.Errorf("make the server's authority: %w", err)
	}
	there, err = readCertificate(cert)
	return there, signer, err
}

// write signs a certificate, and writes it with that of its authority, and its key, which comes first so that no certificate is without one.
func write(cert, key string, template, by *x509.Certificate, own *ecdsa.PrivateKey, signer crypto.Signer) (err error) {
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return err
	}
	issuer := by
	if by == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, own.Public(), signer)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return err
	}
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if by != nil {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: by.Raw})...)
	}
	if err := durable.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return err
	}
	return durable.WriteFile(cert, chain, 0o644)
}

func readCertificate(path string) (*x509.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s has no certificate", path)
	}
	return x509.ParseCertificate(block.Bytes)
}

func readKey(path string) (crypto.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s has no key", path)
	}
	read, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := read.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has a key that cannot sign", path)
	}
	return signer, nil
}

// PinOf returns what tells the authority in a folder from others: people copy it beside an invitation.
func PinOf(dir string) (string, error) {
	there, err := readCertificate(filepath.Join(dir, "authority.crt"))
	if err != nil {
		return "", fmt.Errorf("read the server's authority: %w", err)
	}
	return Pin(there), nil
}

// Pin returns what tells a certificate from others.
func Pin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}
