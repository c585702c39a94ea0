package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/alcove-memory/alcove/host/store/backup"
)

const (
	mostChains = 10_000  // below a prefix
	mostKeys   = 100_000 // of a chain
	chainTime  = "20060102T150405Z"
)

// isChain reports whether a name is one that chains have: the time that they begin at, so that names are in the order of time.
func isChain(name string) bool {
	return regexp.MustCompile(`^\d{8}T\d{6}Z-[0-9a-f]{8}$`).MatchString(name)
}

// chain is a chain in a bucket.
type chain struct {
	name     string // empty: there is none
	tag      string // of the manifest
	manifest backup.Manifest
}

// last names the newest part of a chain.
func (c chain) last() string {
	if len(c.manifest.Parts) == 0 {
		return ""
	}
	return c.name + "/" + c.manifest.Parts[len(c.manifest.Parts)-1].File
}

// names lists the chains, the newest first, also those that have no manifest yet.
func (b *Bucket) names(ctx context.Context) (names []string, err error) {
	if b.at.Chain != "" {
		return []string{b.at.Chain}, nil
	}
	err = b.list(ctx, b.at.below(""), false, mostChains, func(key string) {
		if name, below := strings.CutSuffix(key, "/"); below && isChain(name) {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	slices.Reverse(names)
	return slices.Compact(names), err
}

// list passes what follows a prefix in the keys that have it.
func (b *Bucket) list(ctx context.Context, prefix string, below bool, most int, to func(rest string)) error {
	ctx, stop := context.WithCancel(within(ctx, mostRequests, mostAnswer))
	defer stop()
	n := 0
	for o := range b.core.Client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: below}) {
		if o.Err != nil {
			return b.explain("list what is there", o.Err)
		}
		rest, ok := strings.CutPrefix(o.Key, prefix)
		if n++; !ok || n > most {
			return fmt.Errorf("list what is in %s: the server names %.200q, as entry %d of at most %d below %q", b.at, o.Key, n, most, prefix)
		}
		to(rest)
	}
	return ctx.Err()
}

// read returns a chain. The error is fs.ErrNotExist for one without a manifest: its first upload is not complete.
func (b *Bucket) read(ctx context.Context, name string) (chain, error) {
	data, tag, err := b.readAll(ctx, b.at.below(name+"/"+backup.ManifestName), backup.ManifestSize)
	if err != nil {
		return chain{}, err
	}
	m, err := backup.ParseManifest(data, b.at.String()+"/"+name)
	if err != nil {
		return chain{}, err
	}
	if m.Chain != name {
		return chain{}, fmt.Errorf("%s in %s/%s is that of the chain %.100q: it was changed: %w", backup.ManifestName, b.at, name, m.Chain, backup.ErrBroken)
	}
	for _, p := range m.Parts {
		if !backup.IsPart(p.File) || p.Stored < 1 || p.StoredSHA256 == "" {
			return chain{}, fmt.Errorf("%s in %s/%s tells no digest of %.100q: %w", backup.ManifestName, b.at, name, p.File, backup.ErrBroken)
		}
	}
	return chain{name, tag, m}, nil
}

// newest returns the newest chain that has a manifest, and the newest name of all; the chain's name is empty if there is none.
func (b *Bucket) newest(ctx context.Context) (c chain, name string, err error) {
	names, err := b.names(ctx)
	if len(names) > 0 {
		name = names[0]
	}
	for _, n := range names {
		c, err = b.read(ctx, n)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, name, err
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return chain{}, name, err
}

// Chain returns the newest chain, or that which was the newest at a moment, up to then.
func (b *Bucket) Chain(ctx context.Context, asOf time.Time) (backup.Chain, error) {
	names, err := b.names(ctx)
	if err != nil {
		return backup.Chain{}, err
	}
	late := error(nil)
	for _, name := range names {
		c, err := b.read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return backup.Chain{}, fmt.Errorf("%w; earlier chains: alcove backup %s --list", err, b.at)
		}
		found := b.reads(c)
		if asOf.IsZero() {
			return found, nil
		}
		if found, late = found.AsOf(asOf); late == nil {
			return found, nil
		}
	}
	if late != nil {
		return backup.Chain{}, late
	}
	return backup.Chain{}, fmt.Errorf("%w in %s", backup.ErrNone, b.at)
}

// reads returns a chain as it is read.
func (b *Bucket) reads(c chain) backup.Chain {
	return backup.Chain{Manifest: c.manifest, Place: b.at.String() + "/" + c.name, Open: func(ctx context.Context, p backup.Part) (io.ReadCloser, error) {
		return b.open(ctx, b.at.below(c.name+"/"+p.File), p.Stored)
	}}
}

// Summary is what a list of chains tells of one.
type Summary struct {
	Chain  string    `json:"chain"`
	Parts  int       `json:"parts"` // 0: its first upload is not complete
	Bytes  int64     `json:"bytes"` // stored
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Newest uint64    `json:"newest"` // version
	Broken string    `json:"broken,omitempty"`
}

// List lists the chains, the newest first.
func (b *Bucket) List(ctx context.Context) (list []Summary, err error) {
	names, err := b.names(ctx)
	for _, name := range names {
		c, err := b.read(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, backup.ErrBroken) {
			return list, err
		}
		s := Summary{Chain: name, Parts: len(c.manifest.Parts)}
		if errors.Is(err, backup.ErrBroken) {
			s.Broken = err.Error()
		}
		for _, p := range c.manifest.Parts {
			s.Bytes += p.Stored
			s.Until, s.Newest = p.UntilTime, p.Until
		}
		if s.Parts > 0 {
			s.From = c.manifest.Parts[0].UntilTime
		}
		list = append(list, s)
	}
	return list, err
}

// Prune removes all chains but the newest, at least one, and what interrupted uploads left before those. It names what it removed.
func (b *Bucket) Prune(ctx context.Context, keep int) (removed []string, err error) {
	if keep < 1 || b.at.Chain != "" {
		return nil, fmt.Errorf("keep %d chains of %s: at least one, below a prefix", keep, b.at)
	}
	names, err := b.names(ctx)
	if err != nil {
		return nil, err
	}
	whole := 0
	for _, name := range names {
		_, err := b.read(ctx, name)
		switch {
		case err == nil && whole < keep:
			whole++
		case whole == 0: // the newest upload, perhaps of this moment, or something to look at
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, backup.ErrBroken):
			return removed, err
		default:
			if err := b.remove(ctx, name); err != nil {
				return removed, err
			}
			removed = append(removed, name)
		}
	}
	return removed, nil
}

// remove removes a chain, its manifest first: what is left of an interrupted removal is no backup.
func (b *Bucket) remove(ctx context.Context, name string) error {
	files := []string{backup.ManifestName}
	err := b.list(ctx, b.at.below(name+"/"), true, mostKeys, func(file string) {
		if backup.IsPart(file) {
			files = append(files, file)
		}
	})
	if err != nil {
		return err
	}
	for _, file := range files {
		key := b.at.below(name + "/" + file)
		if err := b.core.RemoveObject(within(ctx, attempts, mostAnswer), b.at.Bucket, key, minio.RemoveObjectOptions{}); err != nil {
			return b.explain("remove "+key, err)
		}
	}
	return b.abortBelow(ctx, b.at.below(name+"/"))
}

// abortBelow gives up the uploads below a prefix, whose bytes a server would keep.
func (b *Bucket) abortBelow(ctx context.Context, prefix string) error {
	ctx, stop := context.WithCancel(within(ctx, mostRequests, mostAnswer))
	defer stop()
	for u := range b.core.ListIncompleteUploads(ctx, b.at.Bucket, prefix, true) {
		if u.Err != nil {
			return b.explain("list uploads", u.Err)
		}
		if !strings.HasPrefix(u.Key, prefix) {
			return fmt.Errorf("list uploads to %s: the server names %.200q, which is not below %q", b.at, u.Key, prefix)
		}
		if err := b.core.AbortMultipartUpload(ctx, b.at.Bucket, u.Key, u.UploadID); err != nil {
			return b.explain("give up an upload of "+u.Key, err)
		}
	}
	return ctx.Err()
}
