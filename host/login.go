package host

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/front/admission"
	"github.com/alcove-memory/alcove/host/front/issuer"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/oauth"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space"
)

// logins is the part of login without an API key that the memories of a site share.
type logins struct {
	common *oauth.Common   // of the authorization servers of the memories; nil: there are none
	secret []byte          // each memory derives its own from it
	issuer *issuer.Checker // of tokens of an external authorization server; nil: they are API keys
}

// openLogins prepares logins without an API key, if any are configured. It calls secret if there are authorization servers.
func (s *site) openLogins(o Options, secret func() ([]byte, error), closers *space.Closers) (err error) {
	switch {
	case s.IssuerRules != nil && s.Issuer == "":
		return errors.New("there are rules for an issuer that is not named: give --issuer its URL")
	case s.IssuerRules != nil && s.IssuerRules.Audience == "" && s.Public == "":
		return errors.New("the audience of the issuer's tokens is unknown: give audience in the rules of the issuer, or --public-url")
	case s.IssuerRules != nil && o.ReadOnly:
		return errors.New("a read-only server keeps no keys, which tokens of the issuer become: serve it without rules for the issuer")
	case s.IssuerRules != nil:
		if s.logins.issuer, err = issuer.New(issuer.Options{URL: s.Issuer, Rules: *s.IssuerRules, Clock: o.Clock, Logger: o.Logger}); err != nil {
			return err
		}
		closers.Later("the keys of the issuer", func() error {
			s.logins.issuer.Close()
			return nil
		})
		return nil
	case !s.OAuth.Serve:
		return nil
	case s.Public == "":
		return errors.New("an authorization server needs the URL by which clients reach it: give --public-url")
	case s.listener == nil:
		return errors.New("an authorization server needs HTTP: give --listen an address")
	case s.Issuer != "":
		return errors.New("clients are let in by one authorization server: give --oauth or --issuer")
	case o.ReadOnly:
		return errors.New("a read-only server makes no keys, which tokens are: serve it without --oauth")
	}
	fetch := s.OAuth.Fetch
	if fetch == nil {
		fetch = outbound.Client{}.Public()
	}
	if s.logins.secret, err = secret(); err == nil {
		s.logins.common, err = oauth.NewCommon(fetch, o.Clock)
	}
	return err
}

// issuerAt returns the authorization server of the memory at a path; empty: there is none.
func (s *site) issuerAt(path string) string {
	if s.logins.common != nil {
		return s.Public + path
	}
	return s.Issuer
}

// scopes returns the scopes of tokens; nil: they are unknown.
func (s *site) scopes() []string {
	if s.logins.common != nil {
		return oauth.Scopes()
	}
	return nil
}

// oauthAt returns the site's part of the options of the authorization server of the memory at a path.
func (s *site) oauthAt(path string, clock func() time.Time) oauth.Options {
	mac := hmac.New(sha256.New, s.logins.secret)
	mac.Write([]byte("the memory at " + path))
	return oauth.Options{Common: s.logins.common, Issuer: s.Public + path, Register: s.OAuth.Register, Secret: mac.Sum(nil), Clock: clock}
}

// checkIssued returns the rights of an issuer's token in the memory at a path, and their expiry. The audience of a token is one space, so
// no token is valid for two.
func (s *site) checkIssued(ctx context.Context, token, path string) (of keys.Subject, g keys.Grant, expires time.Time, err error) {
	audience := s.IssuerRules.Audience
	if audience == "" || path != "" {
		audience = s.Public + path + "/mcp"
	}
	return s.logins.issuer.Check(ctx, token, audience, strings.TrimPrefix(path, listen.SpacesPath))
}

// openOAuth opens the authorization server of the memory, if one is configured.
func (s *service) openOAuth(context.Context) error {
	a, path := s.host.admission, s.record.Path
	if s.site.logins.common == nil || a.ReadOnly {
		return nil
	}
	o := s.site.oauthAt(path, s.host.options.Clock)
	kept, keep, err := s.host.following(owner.OAuthCodesPath(s.host.options.Dir))
	if err == nil {
		o.Codes, err = oauth.OpenCodes(o.Clock, kept, keep)
	}
	if err != nil {
		return err
	}
	o.Keys, o.Enter, o.Holder, o.Refused = s.host.acts(), s.enter, a.Holder, s.host.account.RefusedRequest
	if s.console != nil {
		o.Session = s.console.Session
	}
	a.Public = o.Issuer
	s.at(oauth.New(o))
	return nil
}

// consentDevice is the device name of a key that comes from an invitation accepted on the consent page.
const consentDevice = "browser"

// enter returns the id of the key that a person logs in with on the consent page: their own, or that of an invitation, which it accepts.
func (s *service) enter(secret string) (string, error) {
	if keys.Is(secret) {
		return s.host.admission.Enter(secret)
	}
	key, _, err := s.host.acts().Join(secret, consentDevice)
	return key.ID, err
}

// openIssuer admits tokens of the issuer, if they are configured to become keys.
func (s *service) openIssuer(context.Context) error {
	a, path := s.host.admission, s.record.Path
	if s.site.logins.issuer == nil || a.ReadOnly {
		return nil
	}
	acts := s.host.acts()
	a.Issued = func(ctx context.Context, token string) (keys.Key, error) {
		of, grant, expires, err := s.site.checkIssued(ctx, token, path)
		if err != nil {
			return keys.Key{}, err
		}
		key, err := acts.Subject(of, grant)
		key.Expires = expires
		return key, err
	}
	return nil
}

// admitLogins adds logins without an API key to the admission of a space, which need not be open.
func (s *site) admitLogins(a *admission.Admission, path string) {
	if s.logins.common != nil {
		a.Public = s.Public
	}
	if s.logins.issuer != nil {
		a.Issued = func(ctx context.Context, token string) (keys.Key, error) {
			_, grant, expires, err := s.checkIssued(ctx, token, path)
			grant.Expires = expires
			return keys.Key{Grant: grant}, err
		}
	}
}

// closedKeys gives the authorization server of a closed space access to its keys.
type closedKeys struct{ *keys.Keys }

// RevokeToken implements oauth.Keys.
func (closedKeys) RevokeToken(string, string) error { return nil }

// RevokeAuthorization implements oauth.Keys.
func (closedKeys) RevokeAuthorization(string) error { return nil }

// asks answers a request to the authorization server of a closed space: strangers open no space, and do not learn whether it exists. It
// returns false if the request has a credential that the space issued: then the space must be opened.
func (s *Spaces) asks(w http.ResponseWriter, r *http.Request, name, path string) (answered bool) {
	if !listen.HoldBody(w, r, oauth.LongestBody) {
		return true
	}
	a, err := s.admission(name)
	if err != nil {
		refuseHTTP(w, err)
		return true
	}
	o := s.at.oauthAt(listen.SpacesPath+name, s.each.Clock)
	o.Keys, o.Holder, o.Refused = closedKeys{a.Keys}, a.Holder, s.refused
	o.Enter = func(secret string) (string, error) {
		if keys.Is(secret) {
			return a.Enter(secret)
		}
		_, err := a.Keys.Invited(secret)
		return "", err
	}
	server, below := oauth.New(o), r.Clone(r.Context())
	below.URL.Path, below.URL.RawPath = path, ""
	shows := server.Shows(below, func(token, client string) bool {
		_, ok := a.Keys.OfToken(token, client)
		return ok
	})
	cluster.Rewind(r)
	if !shows {
		server.ServeHTTP(w, below)
	}
	return !shows
}

// secretIn returns a function that loads or makes the secret of authorization servers in a data directory.
func secretIn(dir string) func() ([]byte, error) {
	return func() ([]byte, error) {
		secret, err := listen.Token(owner.OAuthPath(dir))
		return []byte(secret), err
	}
}
