package registry

import (
	"cmp"
	"crypto"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Bounds of trusted keys and of what a grant says about its module.
const (
	mostKeys    = 64
	sourceLimit = 1024 // bytes
	reasonLimit = 512  // bytes
)

// Key is a signer whom an operator trusts.
type Key struct {
	Public  string     `json:"public"`            // as package signature formats it: of Ed25519, or of ECDSA for what cosign signs
	Expires *time.Time `json:"expires,omitempty"` // from then on its signatures are refused; nil: never
	Revoked string     `json:"revoked,omitempty"` // why its signatures are refused; empty: they are not
}

// Writing is how a family may change memories.
type Writing string

// The ways of writing.
const (
	Direct  Writing = "direct"  // its changes hold at once
	Propose Writing = "propose" // they wait on a branch until somebody merges them
	Mixed   Writing = "mixed"   // direct in one part of its work, proposals in the other
)

func (l Lock) checkKeys() error {
	if len(l.Keys) > mostKeys {
		return fmt.Errorf("it has more than %d keys", mostKeys)
	}
	if l.Signatures < 0 || l.Signatures > mostKeys {
		return fmt.Errorf("signatures is %d: give from 0 to %d", l.Signatures, mostKeys)
	}
	if l.Catalogue != "" && !digestForm().MatchString(l.Catalogue) {
		return fmt.Errorf("catalogue %q is not 64 hexadecimal digits", l.Catalogue)
	}
	if _, err := signature.ParsePublic([]byte(l.Release)); err != nil && l.Release != "" {
		return fmt.Errorf("release: %w", err)
	}
	owners := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l.Keys)) {
		k := l.Keys[name]
		if !endpointName().MatchString(name) {
			return fmt.Errorf("%q cannot be the name of a key: use letters, digits and . _ / -", name)
		}
		if len(k.Revoked) > reasonLimit {
			return fmt.Errorf("key %s: the reason of its revocation has more than %d bytes", name, reasonLimit)
		}
		key, err := signature.ParseKey([]byte(k.Public))
		if err != nil {
			return fmt.Errorf("key %s: %w", name, err)
		}
		public := signature.FormatKey(key)
		if other, taken := owners[public]; taken { // two names would count as two signers
			return fmt.Errorf("keys %s and %s are the same key: keep one of them", other, name)
		}
		owners[public] = name
	}
	return nil
}

// public returns a key that was checked.
func (k Key) public() crypto.PublicKey {
	public, _ := signature.ParseKey([]byte(k.Public)) // nil verifies nothing
	return public
}

// Refused returns why signatures by a key do not hold at a moment; empty if they do.
func (k Key) Refused(now time.Time) string {
	switch {
	case k.Revoked != "":
		return "was revoked: " + k.Revoked
	case k.Expires != nil && !now.Before(*k.Expires):
		return "expired at " + k.Expires.UTC().Format(time.RFC3339)
	}
	return ""
}

// Signers returns the names of the trusted keys that signed a module, sorted, whether they hold or not.
func (l Lock) Signers(s signature.Signed) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.Keys)) {
		if s.By(l.Keys[name].public()) {
			names = append(names, name)
		}
	}
	return names
}

// CheckSignatures returns why the signatures of a module do not suffice for a grant; nil if they do. The signers that the grant
// names must all hold. A locked server needs a number of trusted ones besides, once there are any keys.
func (l Lock) CheckSignatures(g Grant, s signature.Signed, now time.Time, mode Mode) error {
	for _, name := range g.Signers {
		k, trusted := l.Keys[name]
		if !trusted {
			return fmt.Errorf("the key %s, by which it was signed when it was installed, is no longer trusted: review it again, and install it with a signature by a trusted key", name)
		}
		if why := k.Refused(now); why != "" {
			return fmt.Errorf("the key %s, by which it was signed, %s: have it signed by another key, and install it again", name, why)
		}
		if !s.By(k.public()) {
			return fmt.Errorf("it is not signed by the key %s, as it was when it was installed: install it again", name)
		}
	}
	if mode != Locked || len(l.Keys) == 0 {
		return nil
	}
	return l.enough(s, now)
}

// Mode is how a server treats modules.
type Mode int

// The modes.
const (
	Open   Mode = iota // modules may come and go
	Locked             // only those run that the lock file names, signed as it says
)

// enough returns why the trusted keys that signed a module are too few.
func (l Lock) enough(s signature.Signed, now time.Time) error {
	need, hold, refused := cmp.Or(l.Signatures, 1), 0, ""
	for _, name := range l.Signers(s) {
		why := l.Keys[name].Refused(now)
		if why == "" {
			hold++
		} else {
			refused = fmt.Sprintf("; the key %s %s", name, why)
		}
	}
	switch {
	case hold >= need:
		return nil
	case s.None():
		return fmt.Errorf("it is not signed, and %s asks for signatures by %d of its keys: have it signed with alcove family sign, and install it again", File, need)
	}
	return fmt.Errorf("it is signed by %d trusted keys of the %d that %s asks for%s: see alcove family verify FILE, and alcove family trust", hold, need, File, refused)
}

// writing returns how capabilities let a family change memories.
func writing(list []Capability) Writing {
	var direct, proposes, partly bool
	for _, c := range list {
		switch c.Name {
		case abi.CanMemoryWrite:
			direct, partly = true, c.During != ""
		case abi.CanMemoryPropose:
			proposes = true
		}
	}
	switch {
	case direct && partly && proposes:
		return Mixed
	case direct:
		return Direct
	case proposes:
		return Propose
	}
	return ""
}

// written returns grants in the form in which they are written.
func written(families map[string]Grant) map[string]Grant {
	out := maps.Clone(families)
	for name, g := range out {
		g.Writes = writing(g.Capabilities)
		out[name] = g
	}
	return out
}
