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

// admissionRecord is the cache entry of a module that passed all checks. It is keyed by the version of the checks and the digest of
// the module, or of its body: the module without custom sections.
type admissionRecord struct {
	Code        string `json:"code"`               // SHA-256 of the rewritten module, hexadecimal
	Manifest    string `json:"manifest,omitempty"` // SHA-256 of its manifest, hexadecimal; empty for a body
	MemoryPages int64  `json:"memory_pages"`       // initial
	Source      bool   `json:"source,omitempty"`   // it has a source; false for a body
}

func (a *admission) admittedName() string {
	return entryName(hex.EncodeToString(a.digest[:]), a.version())
}

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keep caches that a module passed, so that next time it is neither read nor checked, and that its body passed, so that it is
// neither checked nor rewritten with another manifest.
func (a *admission) keep(k admissionRecord, manifest []byte) error {
	c := a.sandbox.cache
	failed := c.putAdmitted(dirBodies, a.body, k)
	k.Manifest, k.Source = hexDigest(manifest), a.source != nil
	return errors.Join(failed, c.putAdmitted(dirAdmitted, a.admittedName(), k))
}

// putAdmitted writes an entry. It does nothing if name is empty.
func (c *cache) putAdmitted(kind, name string, k admissionRecord) error {
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

// getAdmitted reads an entry. It returns false if there is none, or it is not authentic.
func (c *cache) getAdmitted(kind, name string) (k admissionRecord, code [sha256.Size]byte, ok bool) {
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

// known admits a module that passed before and whose code is in memory or in the cache. It returns nil for any other.
func (a *admission) known(ctx context.Context, manifest []byte) (*Module, error) {
	k, code, ok := a.sandbox.cache.getAdmitted(dirAdmitted, a.admittedName())
	if !ok || k.Manifest != hexDigest(manifest) || !a.readKnown(manifest, abi.ParseManifest, k) {
		return nil, nil
	}
	c, err := a.sandbox.load(ctx, code)
	if c == nil || err != nil {
		return nil, err
	}
	if k.Source {
		if err := a.readSource(); err != nil {
			a.sandbox.release(c)
			return nil, err
		}
	}
	return a.finish(c)
}

// readSource reads the source of a module that passed before.
func (a *admission) readSource() error {
	if a.binary == nil {
		if err := a.readBinary(); err != nil {
			return err
		}
	}
	_, _, sources, _ := bodyOf(a.binary)
	a.source = sources[0] // it passed
	return nil
}

// knownBody admits a module whose body passed before with another manifest, and whose code is in memory or in the cache. It
// returns nil for any other.
func (a *admission) knownBody(ctx context.Context) (*Module, error) {
	body, manifests, sources, ok := bodyOf(a.binary)
	if !ok || len(manifests) > 1 || a.checkSize() != nil || a.setSource(sources) != nil {
		return nil, nil
	}
	var manifest []byte
	if len(manifests) == 1 {
		manifest = manifests[0]
	}
	return a.ofBody(ctx, hex.EncodeToString(body[:]), manifest)
}

// ofBody is knownBody for a body's digest.
func (a *admission) ofBody(ctx context.Context, body string, manifest []byte) (*Module, error) {
	a.body = entryName(body, a.version())
	k, code, ok := a.sandbox.cache.getAdmitted(dirBodies, a.body)
	if !ok || k.Manifest != "" || !a.readKnown(manifest, ParseManifest, k) {
		return nil, nil
	}
	c, err := a.sandbox.load(ctx, code)
	if c == nil || err != nil {
		return nil, err
	}
	k.Manifest, k.Source = hexDigest(manifest), a.source != nil
	if err := a.sandbox.cache.putAdmitted(dirAdmitted, a.admittedName(), k); err != nil {
		a.sandbox.log.Warn("a module has to be checked again next time", "error", err)
	}
	return a.finish(c)
}

// readKnown reads the manifest of a module that passed before. It returns false if these options would refuse the module.
func (a *admission) readKnown(manifest []byte, parse func([]byte) (*abi.Manifest, error), k admissionRecord) bool {
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
