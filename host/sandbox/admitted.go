package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/alcove-memory/alcove/abi"
)

// admitted is what the cache has of a module that passed all checks. Its name is of the module's digest and the version of
// the checks.
type admitted struct {
	Code        string `json:"code"`         // SHA-256 of the rewritten module, hexadecimal
	Manifest    string `json:"manifest"`     // SHA-256 of its manifest, hexadecimal
	MemoryPages int64  `json:"memory_pages"` // that it starts with
}

func (a *admission) admittedName() string {
	return entryName(hex.EncodeToString(a.digest[:]), a.version())
}

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keep remembers that a module passed, so that next time neither its bytes nor the checks are needed.
func (a *admission) keep(c *code, manifest []byte) error {
	k := admitted{Code: hex.EncodeToString(c.digest[:]), Manifest: hexDigest(manifest)}
	for _, m := range a.module.Memories {
		k.MemoryPages += int64(m.Min)
	}
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return a.sandbox.cache.put(dirAdmitted, a.admittedName(), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// known admits a module that passed before and whose code is in memory or in the cache; nil if it has to be checked.
func (a *admission) known(ctx context.Context, manifest []byte) (*Module, error) {
	var k admitted
	err := a.sandbox.cache.get(dirAdmitted, a.admittedName(), func(r io.Reader, size int64) error {
		data, err := io.ReadAll(r)
		if err != nil || json.Unmarshal(data, &k) != nil {
			return errInvalid
		}
		return nil
	})
	var digest [sha256.Size]byte
	if err != nil || k.Manifest != hexDigest(manifest) || !a.readKnown(manifest, k) {
		return nil, nil
	}
	if n, err := hex.Decode(digest[:], []byte(k.Code)); err != nil || n != len(digest) {
		return nil, nil
	}
	c, err := a.sandbox.load(ctx, digest)
	if c == nil || err != nil {
		return nil, err
	}
	return a.finish(c)
}

// readKnown reads the manifest of a module that passed before. It is false for what would be refused with these options.
func (a *admission) readKnown(manifest []byte, k admitted) bool {
	a.limits = a.first()
	if manifest != nil {
		m, err := abi.ParseManifest(manifest)
		if err != nil {
			return false
		}
		a.manifest = m
		a.limits = resolve(m.Limits, a.options.Limits)
	}
	return (manifest != nil || a.options.Bare) && k.MemoryPages <= a.limits.MemoryPages
}
