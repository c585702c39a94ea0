package certificate

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME is how an authority on the internet gives certificates. All but Names and Dir have defaults.
type ACME struct {
	Names     []string     // that the authority finds this server by, on port 443
	Dir       string       // keeps certificates and the account
	Directory string       // URL of the authority; empty: Let's Encrypt
	Email     string       // which the authority warns
	Client    *http.Client // reaches the authority; nil: http.DefaultClient
}

// Manager has certificates of an authority, and renews them. It answers the authority's questions on the listener that it is for
// (tls-alpn-01).
type Manager struct {
	names []string
	*autocert.Manager
}

// New returns a manager. It asks for a certificate when the first client connects. Who names it agrees to the terms of the authority.
func (a ACME) New() (*Manager, error) {
	if err := checkNames(a.Names); err != nil {
		return nil, err
	}
	for _, name := range a.Names {
		if _, err := netip.ParseAddr(name); err == nil {
			return nil, fmt.Errorf("authorities give certificates for names: %s is an address", name)
		}
	}
	if a.Directory == "" {
		a.Directory = autocert.DefaultACMEDirectory
	}
	if u, err := url.Parse(a.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the directory %.200q of an authority is not an https URL", a.Directory)
	}
	return &Manager{a.Names, &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(a.Dir), HostPolicy: autocert.HostWhitelist(a.Names...),
		Email: a.Email, Client: &acme.Client{DirectoryURL: a.Directory, HTTPClient: a.Client}}}, nil
}

// GetCertificate implements listen.Source. A client that names no host gets the certificate of the first name.
func (m *Manager) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		named := *hello
		named.ServerName = m.names[0]
		hello = &named
	}
	return m.Manager.GetCertificate(hello)
}

// Names implements listen.Source.
func (m *Manager) Names() []string { return slices.Clone(m.names) }

// Protocols implements listen.Source.
func (m *Manager) Protocols() []string { return []string{acme.ALPNProto} }
