package grants

import (
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry"
)

// Untrusted returns why a version of a family must not run as its lock file stands; empty if it may. Built-in families came with the
// program. Where it is locked, only what the lock file names byte for byte may run.
func Untrusted(lock registry.Lock, x *Version, locked bool, now time.Time) string {
	if x.Source == BuiltIn || x.Digest == "" {
		return ""
	}
	g, listed := lock.Families[x.Name]
	if g.Digest != x.Digest { // a guard, which has a digest of its own, or a version that nobody decided about
		g.Signers, g.Capabilities = nil, nil
	}
	mode := registry.Open
	if locked {
		if mode = registry.Locked; unlisted(x, g, listed) != "" {
			return unlisted(x, g, listed)
		}
	}
	if err := lock.CheckSignatures(g, x.Signed, now, mode); err != nil {
		return err.Error()
	}
	return ""
}

// unlisted returns why the lock file does not name a version byte for byte.
func unlisted(x *Version, g registry.Grant, listed bool) string {
	guard := g.Guard != nil && g.Guard.Digest == x.Digest && x.Source == Approved
	switch {
	case !listed:
		return "its digest is not in " + registry.File + ", and only those that are may run here: review and install it in a server that is not locked"
	case g.Digest != x.Digest && !guard:
		return fmt.Sprintf("its digest is not in %s, which names version %s (sha256 %s), not this one, %s (sha256 %s)%s", registry.File, g.Version, g.Digest, x.Manifest.Version, x.Digest, older(x.Manifest.Version, g.Version))
	case g.Manifest != "" && g.Manifest != modules.Digest(x.Section) && !guard:
		return fmt.Sprintf("%s names a manifest with the SHA-256 %s for it, and it has %s: install it again", registry.File, g.Manifest, modules.Digest(x.Section))
	}
	for _, c := range g.Capabilities {
		if indexOf(Asks(nil, x.Manifest).Capabilities, c.Name) < 0 {
			return fmt.Sprintf("%s grants it %s, which its manifest does not ask for: revoke that in a server that is not locked", registry.File, c.Name)
		}
	}
	return ""
}

// older says that a version is an older one than another.
func older(version, than string) string {
	if registry.CompareVersions(version, than) < 0 {
		return ": it is a downgrade"
	}
	return ""
}
