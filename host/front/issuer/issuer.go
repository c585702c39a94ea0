// Package issuer checks the tokens of an authorization server elsewhere: JWTs that it signed.
package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/weburl"
)

const (
	longestToken  = 16 << 10 // bytes
	longestAnswer = 1 << 20  // bytes of metadata and keys
	askWithin     = 10 * time.Second
	askAgain      = 10 * time.Second // after metadata or keys could not be read
	keysFor       = time.Hour
	leeway        = 30 * time.Second // between clocks
)

// Options configures a Checker. All but Client are needed.
type Options struct {
	URL    string // of the authorization server
	Rules  keys.Issuer
	Client *http.Client
	Clock  func() time.Time
	Logger *slog.Logger
}

// Checker checks tokens. It may be used concurrently.
type Checker struct {
	o       Options
	client  *http.Client
	methods []string

	mu     sync.Mutex
	known  keyfunc.Keyfunc // nil: the keys were not read yet
	failed time.Time
	why    error
	stop   context.CancelFunc
	ctx    context.Context
}

// New returns a checker that has asked for nothing yet.
func New(o Options) (*Checker, error) {
	if err := o.Rules.Check(); err != nil {
		return nil, fmt.Errorf("the rules of the issuer %s: %w", o.URL, err)
	}
	methods, err := algorithms(o.Rules.Algorithms)
	if err != nil {
		return nil, err
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	client := *o.Client
	client.Timeout, client.Transport = askWithin, limited{client.Transport}
	c := &Checker{o: o, client: &client, methods: methods}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

// Close ends what reads the keys again.
func (c *Checker) Close() { c.stop() }

// algorithms returns the algorithms of signatures. A key that verifies must not be one that signs.
func algorithms(wanted []string) ([]string, error) {
	all := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	if len(wanted) == 0 {
		return []string{"RS256", "PS256", "ES256", "EdDSA"}, nil
	}
	for _, name := range wanted {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("the algorithm %.40q is not one of %s", name, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// Is reports whether a text has the form of a JWT.
func Is(token string) bool { return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2 }

// Check returns who holds a token for an audience, what they may do in the space with a name, and until when it holds. The empty name is the
// server's own memory.
func (c *Checker) Check(ctx context.Context, token, audience, space string) (of keys.Subject, g keys.Grant, expires time.Time, err error) {
	if len(token) > longestToken {
		return of, g, expires, denied("the token has %d bytes: %d is the limit", len(token), longestToken)
	}
	known, err := c.keys(ctx)
	if err != nil {
		return of, g, expires, err
	}
	parser := jwt.NewParser(jwt.WithValidMethods(c.methods), jwt.WithIssuer(c.o.URL), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(c.o.Clock))
	claims := jwt.MapClaims{}
	if _, err := parser.ParseWithClaims(token, claims, known.KeyfuncCtx(ctx)); err != nil {
		return of, g, expires, denied("the token of %s is not valid here: %s", c.o.URL, reason(err))
	}
	of = keys.Subject{Issuer: c.o.URL}
	if of.ID, err = claims.GetSubject(); err != nil || of.ID == "" {
		return of, g, expires, denied("the token has no claim sub")
	}
	end, err := claims.GetExpirationTime()
	if err != nil || end == nil {
		return of, g, expires, denied("the token has no claim exp")
	}
	g, err = c.o.Rules.GrantFor(claims, space)
	return of, g, end.Time, err
}

// reason returns what of a token is wrong. It has nothing of the token.
func reason(err error) string {
	for known, says := range map[error]string{
		jwt.ErrTokenExpired: "it expired", jwt.ErrTokenNotValidYet: "it is not valid yet", jwt.ErrTokenUsedBeforeIssued: "it was issued in the future",
		jwt.ErrTokenInvalidAudience: "it is for another server", jwt.ErrTokenInvalidIssuer: "another issuer made it",
		jwt.ErrTokenRequiredClaimMissing: "it lacks a claim", jwt.ErrTokenMalformed: "it is not a JWT",
	} {
		if errors.Is(err, known) {
			return says
		}
	}
	return "its signature is not by a key and an algorithm of the issuer"
}

func denied(format string, args ...any) error {
	return &memory.Error{Code: memory.Denied, Rule: "a token of the issuer", Message: fmt.Sprintf(format, args...)}
}

// keys returns the keys of the issuer. They are read at the first token, again every hour, and at a token of an unknown key once a minute.
func (c *Checker) keys(ctx context.Context) (keyfunc.Keyfunc, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != nil {
		return c.known, nil
	}
	if c.o.Clock().Sub(c.failed) < askAgain {
		return nil, c.why
	}
	known, err := c.open(context.WithoutCancel(ctx))
	if err != nil {
		c.o.Logger.Warn("the keys of the issuer cannot be read", "issuer", c.o.URL, "error", err)
		c.failed, c.why = c.o.Clock(), &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "the keys of the issuer " + c.o.URL + " cannot be read now: try again later"}
		return nil, c.why
	}
	c.known = known
	return known, nil
}

func (c *Checker) open(ctx context.Context) (keyfunc.Keyfunc, error) {
	at := c.o.Rules.JWKS
	if at == "" {
		var err error
		if at, err = c.discover(ctx); err != nil {
			return nil, err
		}
	}
	if err := checkKeys(at); err != nil {
		return nil, err
	}
	store, err := jwkset.NewStorageFromHTTP(at, jwkset.HTTPClientStorageOptions{Client: c.client, Ctx: c.ctx, HTTPTimeout: askWithin, RefreshInterval: keysFor,
		RefreshErrorHandler: func(_ context.Context, err error) {
			c.o.Logger.Warn("the keys of the issuer cannot be read again", "issuer", c.o.URL, "error", err)
		}})
	if err != nil {
		return nil, fmt.Errorf("read the keys at %s: %w", at, err)
	}
	all, err := jwkset.NewHTTPClient(jwkset.HTTPClientOptions{RateLimitWaitMax: askWithin, HTTPURLs: map[string]jwkset.Storage{at: store}, RefreshUnknownKID: rate.NewLimiter(rate.Every(time.Minute), 1)})
	if err != nil {
		return nil, err
	}
	return keyfunc.New(keyfunc.Options{Ctx: c.ctx, Storage: all})
}

// discover returns where the metadata of the issuer say that its keys are (RFC 8414, and OpenID Connect Discovery).
func (c *Checker) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(c.o.URL)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(u.Path, "/")
	var errs []error
	for _, at := range []string{path + "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server" + path} {
		found := *u
		found.Path = at
		keys, err := c.metadata(ctx, found.String())
		if err == nil {
			return keys, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

func (c *Checker) metadata(ctx context.Context, at string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("read the metadata: %w", err)
	}
	defer answer.Body.Close()
	var read struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&read); err != nil || answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("read the metadata at %s: status %d: %w", at, answer.StatusCode, err)
	}
	if read.Issuer != c.o.URL || read.Keys == "" {
		return "", fmt.Errorf("the metadata at %s are of the issuer %.200q with the keys at %.200q, not of %s", at, read.Issuer, read.Keys, c.o.URL)
	}
	return read.Keys, nil
}

// checkKeys returns why keys cannot be read at a URL: whoever changes them on the way makes tokens.
func checkKeys(at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && weburl.IsHere(u.Hostname())) {
		return fmt.Errorf("the keys of the issuer at %.200q are not at an https URL", at)
	}
	return nil
}

// limited is a transport whose answers have a limit.
type limited struct{ next http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	next := l.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, longestAnswer)
	}
	return answer, err
}
