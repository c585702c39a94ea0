package main

import (
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry/catalogue"
	"github.com/alcove-memory/alcove/registry/signature"
)

// catalogueDigest is that of the families that this program carries.
func catalogueDigest() string { return modules.Catalogue(builtIn()) }

// carriedCatalogue is the families that this program carries, and by which keys of a release they are signed.
type carriedCatalogue struct {
	Catalogue string   `json:"catalogue"` // empty: it carries none
	Releases  []string `json:"releases"`  // public keys
	Fault     string   `json:"fault,omitempty"`
}

func (c carriedCatalogue) String() string {
	switch {
	case c.Catalogue == "":
		return "none: built without them"
	case c.Fault != "":
		return c.Catalogue + " altered: not what the key of a release signed"
	case len(c.Releases) == 0:
		return c.Catalogue + " locked by digest: built without the key of a release"
	}
	return c.Catalogue + " signed by the release key " + strings.Join(c.Releases, " and by ")
}

// carried describes the families that this program carries. It fails if they are not what the key of a release signed.
func (a *app) carried() (c carriedCatalogue, err error) {
	c.Releases = []string{}
	if guests.Embedded() {
		c.Catalogue = catalogueDigest()
	}
	keys, err := catalogue.Verify(a.release, c.Catalogue)
	if err != nil {
		c.Fault = err.Error()
		return c, err
	}
	c.Releases = append(c.Releases, keys...)
	return c, nil
}

// releaseKey is the public key that an operator names as that of releases; empty for any.
func (a *app) releaseKey(given string) (string, error) {
	switch given {
	case "any":
		return "", nil
	case "this":
		c, err := a.carried()
		if err == nil && len(c.Releases) == 0 {
			err = errors.New("this program was built without the key of a release: name its families by their digest, with --catalogue this")
		}
		if err != nil {
			return "", err
		}
		return c.Releases[len(c.Releases)-1], nil
	}
	public, err := publicKey(given)
	if err != nil {
		return "", err
	}
	return signature.FormatPublic(public), nil
}
