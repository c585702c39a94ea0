package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/push"
)

// defaultIdle is how long a server that was started on demand stays when nobody uses it.
const defaultIdle = 15 * time.Minute

type serveFlags struct {
	listen, socket  string
	tlsCert, tlsKey string
	tlsOwn          []string // names for which the server makes a certificate
	acme            host.ACME
	issuer          string
	issuerRules     *operator.IssuerRules // of a configuration file; nil: the issuer hands out API keys
	public          string                // the URL by which clients elsewhere reach the server; empty: none
	oauth           bool
	registration    bool // of clients of OAuth
	readOnly, auto  bool
	idle            time.Duration
	familiesDir     string
	language        string
	bm25            string
	conversations   string
	locked          bool
	posture         string // of a new directory; empty: by what the server is
	console         bool
	noConsole       bool
	requireKeys     bool
	keysChosen      bool // --require-keys was given
	logRequests     bool
	logCalls        bool
	logFormat       string
	logLevel        string
	traces          string // a collector of OpenTelemetry; empty: none
	anchor          string
	anchorEvery     time.Duration
	auditKeep       time.Duration
	auditBytes      int64
	auditTo         push.To
	operators       host.OperatorsListen
	embedder        operator.EmbedderConfig
	chosenEmbedder  string // none, or empty
	config          string // a configuration file; empty: none
	spacesOpen      int
	spacesIdle      time.Duration
	cluster         clusterFlags
	follow          followFlags
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the data directory until interrupted",
		Long: `Serve the data directory over HTTP and on a Unix socket, which alcove mcp and all commands use.
HTTP clients authenticate with the token in the file "token" of the data directory (alcove connect prints it).`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.findConfig(&f); err != nil {
				return err
			}
			if err := a.flagsOfFile(c, &f); err != nil {
				return err
			}
			f.keysChosen = c.Flags().Changed("require-keys")
			return a.serve(c.Context(), f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", a.env("ALCOVE_CONFIG"), "a configuration file whose section server sets these flags; the command line and the environment take precedence (or ALCOVE_CONFIG)")
	flags.StringVar(&f.listen, "listen", a.envOr("ALCOVE_LISTEN", host.DefaultHTTP), "the HTTP address, or off (or ALCOVE_LISTEN)")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "the certificate for HTTP, a PEM file that is reloaded when it changes; required to listen on other than loopback addresses")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the key of the certificate, a PEM file")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	flags.StringSliceVar(&f.tlsOwn, "tls-own", nil, "issue and renew a certificate for these names and addresses from the server's own certificate authority, which clients must trust")
	flags.StringSliceVar(&f.acme.Names, "acme", nil, "get and renew a certificate for these host names from a certificate authority such as Let's Encrypt, whose terms you accept; port 443 of the names must reach this server")
	flags.StringVar(&f.acme.Directory, "acme-directory", "", "the `URL` of the authority (default: that of Let's Encrypt)")
	flags.StringVar(&f.acme.Email, "acme-email", "", "the address for warnings of the authority (default: none)")
	c.MarkFlagsMutuallyExclusive("tls-own", "acme", "tls-cert")
	flags.StringVar(&f.issuer, "issuer", "", "the URL of the authorization server that issues API keys of this server, announced to HTTP clients (RFC 9728; default: none)")
	flags.StringVar(&f.public, "public-url", a.env("ALCOVE_PUBLIC_URL"), "the `URL` by which clients elsewhere reach the server, through a proxy or directly, such as https://memory.example.org (or ALCOVE_PUBLIC_URL; default: none)")
	flags.BoolVar(&f.oauth, "oauth", false, "serve OAuth at the public URL: holders of API keys and the operator authorize clients on a web page")
	flags.BoolVar(&f.registration, "oauth-registration", false, "let OAuth clients without a metadata URL register")
	c.MarkFlagsMutuallyExclusive("oauth", "issuer")
	flags.StringVar(&f.socket, "socket", "", "the path of the socket (default: in the data directory)")
	flags.BoolVar(&f.console, "console", false, "serve the console to other machines (default: this machine only)")
	flags.BoolVar(&f.noConsole, "no-console", false, "serve no console")
	c.MarkFlagsMutuallyExclusive("console", "no-console")
	flags.IntVar(&f.spacesOpen, "spaces-open", 200, "the number of spaces that can be open at once")
	flags.DurationVar(&f.spacesIdle, "spaces-idle", 5*time.Minute, "close a space after this time without clients")
	f.cluster.add(flags, a)
	f.follow.add(a, c)
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse every write")
	flags.StringVar(&f.familiesDir, "families-dir", a.env("ALCOVE_FAMILIES_DIR"), "a watched folder of tool families (or ALCOVE_FAMILIES_DIR)")
	flags.StringVar(&f.bm25, "bm25", a.env("ALCOVE_BM25"), "k1 and b of collections, as in memory=1.2/0.75 (or ALCOVE_BM25; default: derived from the average length of documents)")
	flags.StringVar(&f.conversations, "conversations", a.env("ALCOVE_CONVERSATIONS"), "the weights of conversation turns: off, or as in zone=0.4,speaker=0.125 (or ALCOVE_CONVERSATIONS)")
	flags.StringVar(&f.language, "language", a.env("ALCOVE_LANGUAGE"), "the language of texts, and of single collections: german,notes=french (or ALCOVE_LANGUAGE; default: english)")
	flags.BoolVar(&f.locked, "locked", a.env("ALCOVE_LOCKED") != "", "lock the data directory, as alcove lock does: only families in alcove.lock run, and those that are built in (or ALCOVE_LOCKED)")
	flags.StringVar(&f.posture, "posture", a.env("ALCOVE_POSTURE"), "how independently the built-in families act in a new memory: personal or careful (or ALCOVE_POSTURE; default: personal, and careful for a server with keys or for other machines)")
	flags.BoolVar(&f.requireKeys, "require-keys", false, "refuse clients without an API key, permanently; =false admits them again (default: unchanged)")
	flags.BoolVar(&f.logRequests, "log-requests", a.env("ALCOVE_LOG_REQUESTS") != "", "record tool calls for 7 days in the folder requests of the data directory, for alcove replay (or ALCOVE_LOG_REQUESTS)")
	flags.StringVar(&f.traces, "traces", a.env("ALCOVE_TRACES"), "send spans of calls to the OpenTelemetry collector at this `URL`, such as http://127.0.0.1:4318 (or ALCOVE_TRACES; default: none)")
	flags.BoolVar(&f.logCalls, "log-calls", a.env("ALCOVE_LOG_CALLS") != "", "log each call: agent, key, tool, namespaces and outcome, but no values (or ALCOVE_LOG_CALLS)")
	flags.StringVar(&f.logFormat, "log-format", a.envOr("ALCOVE_LOG_FORMAT", "text"), "the format of the server's log: text or json (or ALCOVE_LOG_FORMAT)")
	flags.StringVar(&f.logLevel, "log-level", a.envOr("ALCOVE_LOG_LEVEL", "info"), "the lowest level of the server's log: debug, info, warn or error (or ALCOVE_LOG_LEVEL)")
	flags.StringVar(&f.anchor, "audit-anchor", a.env("ALCOVE_AUDIT_ANCHOR"), "store the head of the audit log in this file or at this https URL (or ALCOVE_AUDIT_ANCHOR)")
	flags.DurationVar(&f.anchorEvery, "audit-anchor-every", time.Minute, "how often to store the head")
	flags.DurationVar(&f.auditKeep, "audit-keep", 0, "delete files of the audit log whose entries are all older than this, such as 9600h; the chain continues from the deleted head (default: delete by size alone)")
	flags.Int64Var(&f.auditBytes, "audit-bytes", 1<<30, "the largest size of the audit log in bytes; beyond it, the oldest entries are deleted")
	flags.StringVar(&f.auditTo.Syslog, "audit-syslog", a.env("ALCOVE_AUDIT_SYSLOG"), "send the audit log to this `URL` by syslog (RFC 5424): unix:///dev/log, udp://HOST:514, tcp://HOST:601 or tls://HOST:6514 (or ALCOVE_AUDIT_SYSLOG)")
	flags.StringVar(&f.auditTo.CA, "audit-syslog-ca", "", "a PEM file of certificates to trust for tls (default: those of the system)")
	flags.StringVar(&f.auditTo.OTLP, "audit-otlp", a.env("ALCOVE_AUDIT_OTLP"), "send the audit log as log records to the OpenTelemetry collector at this `URL`, such as http://127.0.0.1:4318 (or ALCOVE_AUDIT_OTLP)")
	flags.StringVar(&f.operators.Address, "admin-listen", a.env("ALCOVE_ADMIN_LISTEN"), "the address for operators on other machines, who need a client certificate and a key of alcove operator create (or ALCOVE_ADMIN_LISTEN; default: none)")
	flags.StringVar(&f.operators.Cert, "admin-cert", "", "the server's certificate for --admin-listen, a PEM file")
	flags.StringVar(&f.operators.Key, "admin-key", "", "the key of that certificate, a PEM file")
	flags.StringVar(&f.operators.Clients, "admin-clients", "", "the certificates of the authority that issues client certificates to operators, a PEM file")
	flags.BoolVar(&f.auto, "auto", false, "started on demand: log to the data directory, run without HTTP if its port is taken, exit when idle or when another owner exists")
	flags.StringVar(&f.chosenEmbedder, "embedder", a.env("ALCOVE_EMBEDDER"), "none: search by words alone (or ALCOVE_EMBEDDER; default: the configured embedder, or the built-in one)")
	f.embedder = a.embedderFromEnvironment()
	embedderFlags(c, &f.embedder, "embedder-")
	flags.DurationVar(&f.idle, "idle", 0, "exit after this time without clients (default: never; with --auto 15m)")
	return c
}

func (a *app) envOr(name, otherwise string) string {
	if v := a.env(name); v != "" {
		return v
	}
	return otherwise
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.familiesDir); err == nil && !info.IsDir() { // one that is not there may come later
		return &usageError{fmt.Errorf("--families-dir: %s is not a folder", f.familiesDir)}
	}
	if err := checkKeyFile(f.embedder.KeyFile); err != nil {
		return err
	}
	if _, err := a.sharing.CheckDir(dir); err != nil { // before the log is opened in it
		return err
	}
	out := io.Writer(a.err)
	if f.auto {
		log, err := owner.OpenLog(dir)
		if err != nil {
			return err
		}
		defer log.Close()
		out = log
		if f.idle == 0 {
			f.idle = defaultIdle
		}
	}
	if f.chosenEmbedder != "" && f.chosenEmbedder != "none" {
		return &usageError{fmt.Errorf("--embedder %.40q: it can be none; alcove embedder use chooses a configured one", f.chosenEmbedder)}
	}
	embedder, err := embedderToServe(f.embedder)
	if err != nil {
		return err
	}
	cache, err := a.moduleCache()
	if err != nil {
		return err
	}
	anchor, err := anchorOf(f.anchor, a.env("ALCOVE_AUDIT_ANCHOR_TOKEN"), f.anchorEvery)
	if err != nil {
		return err
	}
	if err := a.checkAuditFlags(&f); err != nil {
		return err
	}
	posture, err := f.firstPosture()
	if err != nil {
		return err
	}
	directory, err := a.directory(dir)
	if err != nil {
		return err
	}
	logger, err := serverLog(out, f.logFormat, f.logLevel)
	if err != nil {
		return err
	}
	shared, err := f.cluster.options()
	if err != nil {
		return err
	}
	if err := f.follow.check(f); err != nil {
		return err
	}
	following, err := f.follow.options(a)
	if err != nil {
		return err
	}
	options := host.Options{Dir: dir, Follow: following, Driver: directory.Driver, Version: versionText(), ReadOnly: f.readOnly, Sharing: a.sharing, Logger: logger,
		Cache: cache, Families: builtIn(), Release: a.release, FamiliesDir: f.familiesDir, Language: f.language, BM25: f.bm25, Conversations: f.conversations, Locked: f.locked, Posture: posture, LogRequests: f.logRequests, LogCalls: f.logCalls, Traces: f.traces, Embedder: embedder, Lexical: f.chosenEmbedder == "none", Anchor: anchor, AnchorEvery: f.anchorEvery, AuditKeep: f.auditKeep, AuditBytes: f.auditBytes, AuditTo: f.auditTo}
	to, err := a.listenTo(f)
	if err != nil {
		return err
	}
	if shared != nil {
		err = host.ServeShared(ctx, options, to, *shared)
	} else {
		err = host.OpenAndServe(ctx, options, to)
	}
	if f.auto && errors.As(err, new(*owner.OwnedError)) {
		return nil // somebody else was faster
	}
	return err
}

// listenTo is where a server with flags listens.
func (a *app) listenTo(f serveFlags) (to host.Listen, err error) {
	if f.listen == "off" {
		f.listen = ""
	}
	to = host.Listen{Socket: f.socket, HTTP: f.listen, HTTPOptional: f.auto, TLSCert: f.tlsCert, TLSKey: f.tlsKey, Issuer: f.issuer, Idle: f.idle,
		Public: f.public, Operators: f.operators, IssuerRules: f.issuerRules, OAuth: host.OAuth{Serve: f.oauth, Register: f.registration}}
	if to.TLSOwn = f.tlsOwn; len(f.acme.Names) > 0 {
		to.ACME = &f.acme
	}
	if a.space == "" {
		if to.Spaces, err = a.spacesToServe(f.spacesOpen, f.spacesIdle); err != nil {
			return to, err
		}
	}
	if f.console || f.noConsole {
		to.Console = &f.console
	}
	if f.keysChosen {
		to.RequireKeys = &f.requireKeys
	}
	return to, nil
}

// shortestKeep and leastBytes are the least that an audit log keeps.
const (
	shortestKeep = time.Hour
	leastBytes   = 16 << 20
)

// checkAuditFlags checks how the audit log is bounded and where it is sent, and where operators are served.
func (a *app) checkAuditFlags(f *serveFlags) error {
	f.auditTo.Headers = a.env("OTEL_EXPORTER_OTLP_HEADERS")
	err := f.auditTo.Check()
	switch o := f.operators; {
	case err != nil:
	case f.auditKeep != 0 && f.auditKeep < shortestKeep:
		err = fmt.Errorf("--audit-keep %s: the shortest is %s", f.auditKeep, shortestKeep)
	case f.auditBytes < leastBytes || f.auditBytes > audit.MostBytes:
		err = fmt.Errorf("--audit-bytes %d: give %d to %d", f.auditBytes, leastBytes, int64(audit.MostBytes))
	case o.Address != "" && (o.Cert == "" || o.Key == "" || o.Clients == ""):
		err = errors.New("--admin-listen: give --admin-cert and --admin-key, and --admin-clients for the certificates of clients")
	}
	if err != nil {
		return &usageError{err}
	}
	return nil
}

// serverLog is a log in a format, from a level on.
func serverLog(out io.Writer, format, least string) (*slog.Logger, error) {
	var o slog.HandlerOptions
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, known := levels[least]
	if !known {
		return nil, &usageError{fmt.Errorf("--log-level %.40q: it can be debug, info, warn or error", least)}
	}
	o.Level = level
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(out, &o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, &o)), nil
	}
	return nil, &usageError{fmt.Errorf("--log-format %.40q: it can be text or json", format)}
}

// builtIn are the families that this program carries.
func builtIn() []modules.Module {
	var list []modules.Module
	for _, g := range guests.All() {
		list = append(list, modules.Module{Digest: g.Digest, Manifest: []byte(g.Manifest), Read: g.Read, Body: g.Body(), Native: nativeOf(g)})
	}
	return list
}

// ownerOf is how the owner of the data directory is found, or started.
func (a *app) ownerOf(hello owner.Hello) (o owner.Options, err error) {
	dir, err := a.ownDir()
	if err != nil {
		return o, err
	}
	start, err := a.starter(dir)
	return owner.Options{Dir: dir, Sharing: a.sharing, Hello: hello, Start: start}, err
}

// starter starts a server of a data directory with this program.
func (a *app) starter(dir string) (func() (<-chan error, error), error) {
	if server, found := a.serverOfSpaces(dir); found {
		return spaceStarter(server, dir), nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start the server with: %w", err)
	}
	cache, err := a.moduleCache()
	if err != nil {
		return nil, err
	}
	added := []string{"--cache", cmp.Or(cache.Dir, noCache)}
	if a.sharing.Group {
		added = append(added, "--shared-group")
	}
	if _, err := a.storeURL(); err != nil { // the server would end with the same error
		return nil, err
	}
	added = append(added, a.storeArguments()...)
	return owner.Starter(program, dir, added...), nil
}
