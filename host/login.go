package host

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/front/issuer"
	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/front/oauth"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// openOAuth opens the authorization server, if there is to be one.
func (s *service) openOAuth(context.Context) (err error) {
	l, a := s.to, s.host.admission
	s.issuer = l.Issuer
	switch {
	case !l.OAuth.Serve:
		return nil
	case l.Public == "":
		return errors.New("an authorization server needs the URL by which clients reach it: give --public-url")
	case s.site.listener == nil:
		return errors.New("an authorization server needs HTTP: give --listen an address")
	case l.Issuer != "":
		return errors.New("clients are let in by one authorization server: give --oauth or --issuer")
	case a.ReadOnly:
		return errors.New("a read-only server makes no keys, which tokens are: serve it without --oauth")
	}
	secret, err := listen.Token(owner.OAuthPath(s.host.options.Dir))
	if err != nil {
		return err
	}
	o := oauth.Options{Issuer: l.Public, Register: l.OAuth.Register, Secret: []byte(secret), Keys: s.host.acts(), Enter: s.enter, Holder: a.Holder,
		Fetch: l.OAuth.Fetch, Refused: s.host.account.RefusedRequest, Clock: s.host.options.Clock}
	if o.Fetch == nil {
		o.Fetch = outbound.Client{}.Strangers()
	}
	if s.console != nil {
		o.Session = s.console.Session
	}
	server, err := oauth.New(o)
	if err != nil {
		return err
	}
	s.issuer, s.scopes, a.Public = l.Public, oauth.Scopes(), l.Public
	s.at(server)
	return nil
}

// consentDevice is what the key of an invitation is called that was accepted on the page of consent.
const consentDevice = "browser"

// enter returns the id of the key that a person logs in with on the page of consent: theirs, or that of an invitation, which is accepted with
// that.
func (s *service) enter(secret string) (string, error) {
	if keys.Is(secret) {
		return s.host.admission.Enter(secret)
	}
	key, _, err := s.host.acts().Join(secret, consentDevice)
	return key.ID, err
}

// openIssuer has the tokens of the issuer let in, if they are to become keys.
func (s *service) openIssuer(context.Context) error {
	if s.to.IssuerRules == nil {
		return nil
	}
	rules, o := *s.to.IssuerRules, s.host.options
	if rules.Audience == "" && s.to.Public != "" {
		rules.Audience = s.to.Public + "/mcp"
	}
	switch {
	case s.to.Issuer == "":
		return errors.New("there are rules for an issuer that is not named: give --issuer its URL")
	case rules.Audience == "":
		return errors.New("nobody said for whom the tokens of the issuer are: give audience in the rules of the issuer, or --public-url")
	case s.host.admission.ReadOnly:
		return errors.New("a read-only server keeps no keys, which tokens of the issuer become: serve it without rules for the issuer")
	}
	checker, err := issuer.New(issuer.Options{URL: s.to.Issuer, Rules: rules, Clock: o.Clock, Logger: o.Logger})
	if err != nil {
		return err
	}
	s.closers.Later("the keys of the issuer", func() error {
		checker.Close()
		return nil
	})
	acts := s.host.acts()
	s.host.admission.Issued = func(ctx context.Context, token string) (keys.Key, error) {
		of, grant, expires, err := checker.Check(ctx, token)
		if err != nil {
			return keys.Key{}, err
		}
		key, err := acts.Subject(of, grant)
		key.Expires = expires
		return key, err
	}
	return nil
}
