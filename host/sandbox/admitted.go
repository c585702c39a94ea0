package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"github.com/alcove-memory/alcove/abi"
)

// admitted is what the cache has of a module that passed all checks. Its name there is of the module's digest, or of that of
// its body, which is all but its custom sections, and of the version of the checks.
type admitted struct {
	Code        string `json:"code"`               // SHA-256 of the rewritten module, hexadecimal
	Manifest    string `json:"manifest,omitempty"` // SHA-256 of its manifest, hexadecimal; of a body: none
	MemoryPages int64  `json:"memory_pages"`       // that it starts with
}

func (a *admission) admittedName() string {
	return entryName(hex.EncodeToString(a.digest[:]), a.version())
}

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keep remembers that a module passed, so that next time neither its bytes nor the checks are needed, and that its body did, so
// that the same with another manifest is neither checked nor rewritten.
func (a *admission) keep(k admitted, manifest []byte) error {
	c := a.sandbox.cache
	failed := c.putAdmitted(dirBodies, a.body, k)
	k.Manifest = hexDigest(manifest)
	return errors.Join(failed, c.putAdmitted(dirAdmitted, a.admittedName(), k))
}

// putAdmitted is without effect for a body that has no name.
func (c *cache) putAdmitted(kind, name string, k admitted) error {
	if name == "" {
		return nil
	}
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return c.put(kind, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// getAdmitted is an entry of a name; false: there is none that is authentic.
func (c *cache) getAdmitted(kind, name string) (k admitted, code [sha256.Size]byte, ok bool) {
	err := c.get(kind, name, func(r io.Reader, size int64) error {
		data, err := io.ReadAll(r)
		if err != nil || json.Unmarshal(data, &k) != nil {
			return errInvalid
		}
		return nil
	})
	n, bad := hex.Decode(code[:], []byte(k.Code)[:min(len(k.Code), 2*len(code))])
	return k, code, err == nil && bad == nil && n == len(code)
}

// known admits a module that passed before and whose code is in memory or in the cache; nil if it has to be checked.
func (a *admission) known(ctx context.Context, manifest []byte) (*Module, error) {
	k, code, ok := a.sandbox.cache.getAdmitted(dirAdmitted, a.admittedName())
	if !ok || k.Manifest != hexDigest(manifest) || !a.readKnown(manifest, abi.ParseManifest, k) {
		return nil, nil
	}
	c, err := a.sandbox.load(ctx, code)
	if c == nil || err != nil {
		return nil, err
	}
	return a.finish(c)
}

// knownBody admits a module whose body passed before with another manifest, and whose code is in memory or in the cache; nil if
// it has to be checked.
func (a *admission) knownBody(ctx context.Context) (*Module, error) {
	body, manifests, ok := bodyOf(a.binary)
	if !ok || len(manifests) > 1 || a.checkSize() != nil {
		return nil, nil
	}
	a.body = entryName(hex.EncodeToString(body[:]), a.version())
	k, code, ok := a.sandbox.cache.getAdmitted(dirBodies, a.body)
	var manifest []byte
	if len(manifests) == 1 {
		manifest = manifests[0]
	}
	if !ok || k.Manifest != "" || !a.readKnown(manifest, ParseManifest, k) {
		return nil, nil
	}
	c, err := a.sandbox.load(ctx, code)
	if c == nil || err != nil {
		return nil, err
	}
	k.Manifest = hexDigest(manifest)
	if err := a.sandbox.cache.putAdmitted(dirAdmitted, a.admittedName(), k); err != nil {
		a.sandbox.log.Warn("a module has to be checked again next time", "error", err)
	}
	return a.finish(c)
}

// readKnown reads the manifest of a module that passed before. It is false for what would be refused with these options.
func (a *admission) readKnown(manifest []byte, parse func([]byte) (*abi.Manifest, error), k admitted) bool {
	a.manifest, a.limits = nil, a.first()
	if manifest != nil {
		m, err := parse(manifest)
		if err != nil {
			return false
		}
		a.manifest = m
		a.limits = resolve(m.Limits, a.options.Limits)
	}
	return (manifest != nil || a.options.Bare) && k.MemoryPages <= a.limits.MemoryPages
}
