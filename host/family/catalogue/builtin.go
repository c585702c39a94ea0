package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/catalogue"
)

// lapsed returns the names of the trusted keys that do not hold at present, for comparison.
func (f *Catalogue) lapsed() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.lock.Keys)) {
		if f.lock.Keys[name].Refused(f.o.Clock()) != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// VerifyBuilt returns the keys of a release that signed the built-in families, or why these must not run.
func (o Options) VerifyBuilt() (releases []string, err error) {
	digest := modules.Catalogue(o.Built)
	if releases, err = catalogue.Verify(o.Release, digest); err != nil {
		return nil, err
	}
	switch {
	case !o.Locked || len(o.Built) == 0:
	case o.Lock.Catalogue != "" && o.Lock.Catalogue != digest:
		return nil, errors.New(registry.File + " names the first-party families with the digest " + o.Lock.Catalogue + ", and this program carries those with " + digest)
	case o.Lock.Release != "" && !slices.Contains(releases, o.Lock.Release):
		return nil, fmt.Errorf("%s asks for first-party families that the release key %s signed, and those of this program are %s: use a released program; or, if the key was replaced, name the new one with "+
			"alcove family trust --release in a server that is not locked", registry.File, o.Lock.Release, signedBy(releases))
	}
	return releases, nil
}

// signedBy says by which keys of a release first-party families are signed.
func signedBy(releases []string) string {
	if len(releases) == 0 {
		return "not signed: it was built without the key of a release"
	}
	return "signed by " + strings.Join(releases, ", ")
}

// noteBuilt logs by what the built-in families of a locked server are known.
func (o Options) noteBuilt(releases []string) {
	if !o.Locked || len(o.Built) == 0 {
		return
	}
	known := "the program: alcove family trust --catalogue this names them in " + registry.File
	if o.Lock.Catalogue+o.Lock.Release != "" {
		known = registry.File
	}
	o.Logger.Info("the first-party families are locked by their digests", "catalogue", modules.Catalogue(o.Built), "release", signedBy(releases), "known by", known)
}

// noteCarried logs which families of this release ask for more than they were granted.
func (f *Catalogue) noteCarried() {
	f.changing.Lock()
	defer f.changing.Unlock()
	for name, g := range f.lock.Families {
		x := f.known[name]
		if x == nil || x.Digest == "" {
			continue
		}
		n := grants.AdditionsTo(g, x.Version)
		if asks := n.List(x.Manifest); len(asks) > 0 {
			f.o.Logger.Warn("a family of this release requests more than when it was granted; it keeps its grant", "family", name,
				"version", x.Manifest.Version, "asks", asks, "grant", n.Command(x.Version, grants.In(f.lock, x.Version)))
		}
	}
}
