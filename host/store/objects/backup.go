package objects

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/store/backup"
)

// Writer makes backups in a bucket.
type Writer struct {
	Bucket   *Bucket
	Spool    string                // a folder on this machine, of this place in the bucket alone
	Parts    backup.Writer         //
	Uploaded func(done, all int64) // bytes of a part in several pieces; may be nil
}

// Full begins a chain. The chains before it stay.
func (w Writer) Full(ctx context.Context, from backup.Source, now time.Time) (backup.Part, error) {
	return w.run(ctx, func(s *spool) (backup.Part, error) {
		before, name, err := w.Bucket.newest(ctx)
		if err != nil && !errors.Is(err, backup.ErrBroken) {
			return backup.Part{}, err
		}
		made, gone, err := w.resume(ctx, s, before, true)
		if err != nil {
			return made, err
		}
		if gone { // a full part of an earlier moment
			return w.increment(ctx, s, from, now)
		}
		next := chain{name: nameOf(now, name)}
		return w.add(ctx, s, before, next, from, now)
	})
}

// Increment adds a part with the changes since the newest one. With ErrUnchanged it returns that one, and adds none.
func (w Writer) Increment(ctx context.Context, from backup.Source, now time.Time) (backup.Part, error) {
	return w.run(ctx, func(s *spool) (backup.Part, error) {
		before, _, err := w.Bucket.newest(ctx)
		if err != nil {
			return backup.Part{}, err
		}
		if _, _, err := w.resume(ctx, s, before, false); err != nil {
			return backup.Part{}, err
		}
		return w.increment(ctx, s, from, now)
	})
}

func (w Writer) run(ctx context.Context, do func(*spool) (backup.Part, error)) (p backup.Part, err error) {
	if w.Bucket.at.Chain != "" {
		return p, fmt.Errorf("%s/%s is a chain: name the place that it is in", w.Bucket.at, w.Bucket.at.Chain)
	}
	if w.Bucket.plain && w.Parts.Sealer == nil {
		return p, errors.New("the endpoint has no TLS, so that others on the way could read the backup: give one with https, or encrypt it with --recipient")
	}
	s, err := openSpool(w.Spool)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if p, err = do(s); err != nil {
		return p, fmt.Errorf("back up: %w", err)
	}
	return p, nil
}

// nameOf returns the name of a new chain, which is after all others.
func nameOf(now time.Time, newest string) string {
	at := now.UTC().Truncate(time.Second)
	if newest != "" {
		if last, err := time.Parse(chainTime, newest[:len(chainTime)]); err == nil && !at.After(last) {
			at = last.Add(time.Second)
		}
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // it never fails
	return at.Format(chainTime) + "-" + hex.EncodeToString(random)
}

func (w Writer) increment(ctx context.Context, s *spool, from backup.Source, now time.Time) (backup.Part, error) {
	before, _, err := w.Bucket.newest(ctx)
	if err != nil {
		return backup.Part{}, err
	}
	if before.name == "" {
		return backup.Part{}, fmt.Errorf("%w in %s: make a full one first", backup.ErrNone, w.Bucket.at)
	}
	p, err := w.add(ctx, s, before, before, from, now)
	if errors.Is(err, backup.ErrUnchanged) {
		p = before.manifest.Parts[len(before.manifest.Parts)-1]
	}
	return p, err
}

// add writes a part, and uploads it to a chain. before is the newest chain in the bucket.
func (w Writer) add(ctx context.Context, s *spool, before, to chain, from backup.Source, now time.Time) (backup.Part, error) {
	f, err := s.create()
	if err != nil {
		return backup.Part{}, err
	}
	p, err := w.Parts.Next(ctx, f, to.manifest, w.Bucket.at.String(), from, now)
	if err == nil && !before.manifest.SameSpace(p) {
		err = fmt.Errorf("into %s: %w", w.Bucket.at, backup.ErrOccupied)
	}
	if err == nil {
		err = describe(s, &p)
	}
	if err != nil {
		return p, errors.Join(err, s.clear())
	}
	j := journal{To: w.Bucket.at.String(), Before: before.last(), Chain: to.name, Part: p, Piece: pieceOf(p.Stored)}
	if err := s.save(j); err != nil {
		return p, err
	}
	return p, w.send(ctx, s, j, to)
}

// resume completes an interrupted upload, if the bucket is as it was then.
func (w Writer) resume(ctx context.Context, s *spool, before chain, full bool) (p backup.Part, done bool, err error) {
	j, found, err := s.load()
	if err != nil || !found {
		return p, false, err
	}
	was, p := j.Part.StoredSHA256, j.Part
	fits := j.To == w.Bucket.at.String() && j.Before == before.last() && p.Sealed == (w.Parts.Sealer != nil) && (!full || p.Since == 0)
	if !fits || describe(s, &p) != nil || p.StoredSHA256 != was {
		return p, false, errors.Join(w.abort(ctx, j), s.clear())
	}
	to := chain{name: j.Chain}
	if j.Chain == before.name {
		to = before
	}
	return p, true, w.send(ctx, s, j, to)
}

// abort has the server forget an upload; it may have done so.
func (w Writer) abort(ctx context.Context, j journal) error {
	if j.Upload == "" || j.To != w.Bucket.at.String() {
		return nil
	}
	return w.Bucket.abortBelow(ctx, w.Bucket.at.below(j.Chain+"/"+j.Part.File))
}

// send uploads a part, and then lists it in the manifest, with which it is valid.
func (w Writer) send(ctx context.Context, s *spool, j journal, to chain) error {
	u := &upload{to: w.Bucket, spool: s, j: j, tell: w.Uploaded}
	err := u.run(ctx)
	if err == nil {
		err = u.check(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w; the next backup to this place continues the upload", err)
	}
	m := to.manifest.With(j.Part)
	m.Chain = to.name
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if len(data) > backup.ManifestSize {
		return errors.Join(fmt.Errorf("the list of parts of %s/%s would have more than %d bytes: make a full backup", w.Bucket.at, to.name, backup.ManifestSize), s.clear())
	}
	err = w.Bucket.replace(ctx, w.Bucket.at.below(to.name+"/"+backup.ManifestName), data, to.tag)
	if errors.Is(err, errTaken) && w.has(ctx, to.name, j.Part) { // the answer to an earlier attempt was lost
		err = nil
	}
	if err == nil || errors.Is(err, errTaken) {
		err = errors.Join(err, s.clear())
	}
	return err
}

// has reports whether a chain ends with a part.
func (w Writer) has(ctx context.Context, name string, p backup.Part) bool {
	c, err := w.Bucket.read(ctx, name)
	return err == nil && c.last() == name+"/"+p.File
}
