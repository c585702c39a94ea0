package main

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/daemon/remote"
	"github.com/alcove-memory/alcove/host/regular"
)

const (
	longestKeyFile = 8 << 10 // bytes
	longestCAFile  = 1 << 20 // bytes
)

// serverElsewhere is the server that commands use in place of that of a data directory, and how they are let in.
type serverElsewhere struct {
	url     string // empty: none
	keyFile string // of the API key, for either server; empty: it is in ALCOVE_KEY
	caFile  string // certificates to trust; empty: the system's
	admin   string // URL of a server's listener for operators; empty: none
	cert    string // the operator's certificate there, a file
	certKey string // its key
}

func (a *app) elsewhereFlags(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&a.elsewhere.url, "url", a.env("ALCOVE_URL"), "use the memory of this server instead of a data directory, such as https://memory.example:9742 (or ALCOVE_URL)")
	flags.StringVar(&a.elsewhere.keyFile, "key-file", a.env("ALCOVE_KEY_FILE"), "a file with the API key to present (or ALCOVE_KEY_FILE, or the key itself in ALCOVE_KEY)")
	flags.StringVar(&a.elsewhere.caFile, "ca-file", a.env("ALCOVE_CA_FILE"), "a PEM file with the only certificates to trust for --url (or ALCOVE_CA_FILE; default: those of the system)")
	flags.StringVar(&a.elsewhere.admin, "admin", a.env("ALCOVE_ADMIN"), "operate this server, such as https://memory.example:9743, with --client-cert, --client-key and --key-file (or ALCOVE_ADMIN)")
	flags.StringVar(&a.elsewhere.cert, "client-cert", a.env("ALCOVE_CLIENT_CERT"), "the operator's certificate for --admin, a PEM file (or ALCOVE_CLIENT_CERT)")
	flags.StringVar(&a.elsewhere.certKey, "client-key", a.env("ALCOVE_CLIENT_KEY"), "the key of that certificate (or ALCOVE_CLIENT_KEY)")
	flags.StringVar(&a.why, "why", a.env("ALCOVE_WHY"), "the reason to record in the audit log (or ALCOVE_WHY)")
}

// checkFlags checks the flags together, and settles which memory a command is about, if the environment names a server and a flag a data
// directory.
func (a *app) checkFlags(c *cobra.Command, _ []string) error {
	flags := c.Flags()
	for _, name := range []string{"diff", "dry-run"} {
		if full, err := flags.GetBool(name); err == nil && full {
			a.inFull = true
		}
	}
	if err := errors.Join(c.ValidateRequiredFlags(), c.ValidateFlagGroups()); err != nil { // cobra would return it as any other error
		return &usageError{fmt.Errorf("%w: see %s --help", err, c.CommandPath())}
	}
	switch {
	case a.space != "" && a.elsewhere.url != "":
		return &usageError{fmt.Errorf("--space names a space of this machine: give that of a server in the address, as in --url %s/s/%s", strings.TrimSuffix(a.elsewhere.url, "/"), a.space)}
	case !flags.Changed("data"):
		return nil
	case flags.Changed("url"):
		return &usageError{errors.New("--data names the memory on this machine and --url that of a server: give one of them")}
	case flags.Changed("admin"):
		return &usageError{errors.New("--data names a server of this machine and --admin one elsewhere: give one of them")}
	}
	a.elsewhere.url, a.elsewhere.admin = "", ""
	return nil
}

// here refuses commands that work on a data directory if a server elsewhere was named.
func (a *app) here() error {
	if a.elsewhere.admin != "" && a.elsewhere.url == "" {
		return &usageError{fmt.Errorf("this command works on a data directory of its own machine, and --admin (or ALCOVE_ADMIN) names the server %s: run it on that machine, or without --admin", a.elsewhere.admin)}
	}
	if a.elsewhere.url == "" {
		return nil
	}
	return &usageError{fmt.Errorf("this command works on a data directory of its own machine, and --url (or ALCOVE_URL) names the server %s: run it on that machine, or without --url", a.elsewhere.url)}
}

// key is the API key to present; empty: none.
func (a *app) key() (string, error) {
	if a.elsewhere.keyFile == "" {
		return strings.TrimSpace(a.env("ALCOVE_KEY")), nil
	}
	data, err := regular.Read(a.elsewhere.keyFile, longestKeyFile)
	if err != nil {
		return "", fmt.Errorf("read the API key (--key-file): %w", err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", &usageError{fmt.Errorf("the file %s (--key-file) is empty: put the key there that alcove key create printed", a.elsewhere.keyFile)}
	}
	return key, nil
}

// server is the server that --url names. notices says that the client hears what the server tells between calls.
func (a *app) server(notices bool) (*remote.Server, error) {
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	o := remote.Options{URL: a.elsewhere.url, Key: key, Program: "alcove/" + versionText(), Notices: notices}
	if o.Roots, err = a.roots(); err != nil {
		return nil, err
	}
	return remote.New(o)
}

// roots are the certificates to trust; nil: the system's.
func (a *app) roots() (*x509.CertPool, error) {
	file := a.elsewhere.caFile
	if file == "" {
		return nil, nil
	}
	data, err := regular.Read(file, longestCAFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificates to trust (--ca-file): %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, &usageError{fmt.Errorf("%s (--ca-file) has no certificate: give a file in PEM, such as that of alcove serve --tls-cert", file)}
	}
	return pool, nil
}

// dialFunc connects to a server, for a session that starts in a state.
type dialFunc = func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error)

// dialer connects to the server that commands use: that of --url, or the owner of the data directory, found or started.
func (a *app) dialer(hello owner.Hello) (dialFunc, error) { return a.dialerTo(hello, false) }

func (a *app) dialerTo(hello owner.Hello, notices bool) (dialFunc, error) {
	if a.elsewhere.url != "" {
		s, err := a.server(notices)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
			conn, err := s.Dial(ctx, resumed(hello, at))
			if err != nil {
				return nil, err
			}
			return conn, nil
		}, nil
	}
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	hello.Key = key
	o, err := a.ownerOf(hello)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
		o := o
		o.Hello = resumed(o.Hello, at)
		return owner.Dial(ctx, o)
	}, nil
}

// settingsFile is where the command line keeps its state between commands: in the data directory, or, for a server elsewhere, with the
// settings of this user.
func (a *app) settingsFile() (string, error) {
	if a.elsewhere.url == "" {
		dir, err := a.ownDir()
		return settingsPath(dir), err
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find where the current branch is kept: %w", err)
	}
	sum := sha256.Sum256([]byte(a.elsewhere.url))
	return filepath.Join(folder, "alcove", "servers", hex.EncodeToString(sum[:12])+".json"), nil
}
