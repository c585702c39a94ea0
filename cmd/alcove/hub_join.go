package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/remote"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	joinWithin  = time.Minute
	longestJoin = 64 << 10 // bytes of an answer
)

func (a *app) hubJoinCommand() *cobra.Command {
	var device string
	c := &cobra.Command{
		Use: "join URL CODE", Short: "Accept an invitation to a hub, and save the key on this device", Args: arguments(2, 2),
		Long: `Accept an invitation. The key goes into a file in the settings of this user, with the certificate of the hub's authority if it has one of its own,
and this command prints how other commands use them.`,
		RunE: func(c *cobra.Command, args []string) error {
			if device == "" {
				device = deviceName()
			}
			return a.join(c.Context(), args[0], args[1], device)
		},
	}
	c.Flags().StringVar(&device, "device", "", "what to call this device (default: the name of the machine)")
	return c
}

// deviceName is the name of this machine, as a key can have it.
func deviceName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	name = regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(name, "-")
	return name[:min(len(name), 64)]
}

// membership is what a device has of a hub.
type membership struct {
	URL           string   `json:"url"`
	Agent         string   `json:"agent"`
	Device        string   `json:"device"`
	Namespaces    []string `json:"namespaces"`
	KeyFile       string   `json:"key_file"`
	AuthorityFile string   `json:"ca_file,omitempty"`
}

func (a *app) join(ctx context.Context, address, code, device string) error {
	if _, err := remote.New(remote.Options{URL: address}); err != nil { // a code is sent where a key would be
		return &usageError{err}
	}
	folder, err := hubFolder(address)
	if err != nil {
		return err
	}
	m := membership{URL: strings.TrimSuffix(address, "/"), KeyFile: filepath.Join(folder, "key")}
	if _, err := os.Stat(m.KeyFile); err == nil {
		return &usageError{fmt.Errorf("this device has a key of %s already, in %s: remove that file to join again", m.URL, m.KeyFile)}
	}
	code, pin, _ := strings.Cut(code, ".")
	met := &hubTrust{pin: pin, roots: a.roots}
	secret, err := a.accept(ctx, &m, met, code, device)
	if err != nil {
		return err
	}
	if err := m.keep(folder, secret, met); err != nil {
		return fmt.Errorf("%w: the invitation is used up, ask for another", err)
	}
	return a.printMembership(m)
}

// hubFolder is where this user keeps the key of a hub.
func hubFolder(address string) (string, error) {
	settings, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the settings of this user, where the key is kept: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", &usageError{err}
	}
	return filepath.Join(settings, "alcove", "hubs", strings.ReplaceAll(u.Host, ":", "_")), nil
}

// accept sends the code of an invitation, and returns the key.
func (a *app) accept(ctx context.Context, m *membership, met *hubTrust, code, device string) (secret string, err error) {
	config, err := met.config()
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"code": code, "device": device})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/join", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	defer transport.CloseIdleConnections()
	c := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it leads elsewhere") }}
	answer, err := c.Do(r)
	if err != nil {
		return "", fmt.Errorf("join %s: %w", m.URL, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestJoin))
	if err != nil {
		return "", fmt.Errorf("join %s: %w", m.URL, err)
	}
	var read struct {
		Key        string
		Agent      string
		Device     string
		Namespaces []string
		Error      *struct{ Code, Message string }
	}
	if err := json.Unmarshal(text, &read); err != nil || read.Key == "" && read.Error == nil {
		return "", fmt.Errorf("join %s: it answered with status %d, unlike a hub", m.URL, answer.StatusCode)
	}
	if read.Error != nil {
		return "", &client.Error{Code: client.Code(read.Error.Code), Message: read.Error.Message}
	}
	m.Agent, m.Device, m.Namespaces = read.Agent, read.Device, read.Namespaces
	return read.Key, nil
}

// keep writes the key, and the certificate of the hub's authority.
func (m *membership) keep(folder, secret string, met *hubTrust) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the key: %w", err)
	}
	if met.authority != nil {
		m.AuthorityFile = filepath.Join(folder, "authority.crt")
		if err := os.Remove(m.AuthorityFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := writeNew(m.AuthorityFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: met.authority.Raw}), 0o644); err != nil {
			return err
		}
	}
	return writeNew(m.KeyFile, []byte(secret+"\n"), 0o600)
}

func (a *app) printMembership(m membership) error {
	if a.asJSON {
		return a.printJSON(m)
	}
	if err := a.printf("joined %s as %s, from the device %s\n  export ALCOVE_URL=%s ALCOVE_KEY_FILE=%q", m.URL, m.Agent, m.Device, m.URL, m.KeyFile); err != nil {
		return err
	}
	if m.AuthorityFile != "" {
		if err := a.printf(" ALCOVE_CA_FILE=%q", m.AuthorityFile); err != nil {
			return err
		}
	}
	return a.printf("\nWith these, commands use the hub, and alcove setup connects the clients of this machine to it.\n")
}

// hubTrust trusts a server whose chain ends with a certificate that is known by its pin.
type hubTrust struct {
	pin       string                         // empty: roots are trusted
	roots     func() (*x509.CertPool, error) // to trust without a pin; nil: the system's
	authority *x509.Certificate
}

func (p *hubTrust) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.pin != "" {
		c.InsecureSkipVerify = true // VerifyConnection does it
		c.VerifyConnection = p.verify
		return c, nil
	}
	var err error
	c.RootCAs, err = p.roots()
	return c, err
}

// verify checks that the chain leads to the certificate with the pin, and is for the server's name.
func (p *hubTrust) verify(s tls.ConnectionState) error {
	for _, c := range s.PeerCertificates[1:] {
		if certificate.Pin(c) != p.pin {
			continue
		}
		roots := x509.NewCertPool()
		roots.AddCert(c)
		if _, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: s.ServerName}); err != nil {
			return err
		}
		p.authority = c
		return nil
	}
	return errors.New("its certificate is not from the authority that the invitation names: another server may be answering")
}
