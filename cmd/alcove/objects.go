package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/memory/moment"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/objects"
)

const (
	longestCredentials = 1 << 20 // bytes of a file
	mostIncrements     = 1000    // of a chain that backups at an interval make
	leastChain         = 64 << 20
	shortestInterval   = 10 * time.Second
)

// bucketFlags say how an object server is reached. No credential is in a flag: processes of others can see those.
type bucketFlags struct {
	objects.Options
	credentials string
}

func (a *app) bucketFlags(c *cobra.Command, f *bucketFlags) {
	flags := c.Flags()
	flags.StringVar(&f.Endpoint, "endpoint", cmp.Or(a.env("AWS_ENDPOINT_URL_S3"), a.env("AWS_ENDPOINT_URL")), "the object server of a bucket, such as https://objects.example (or AWS_ENDPOINT_URL_S3; default: AWS)")
	flags.StringVar(&f.Region, "region", cmp.Or(a.env("AWS_REGION"), a.env("AWS_DEFAULT_REGION")), "the region of a bucket (or AWS_REGION; default us-east-1)")
	flags.BoolVar(&f.PathStyle, "path-style", false, "put the bucket after the host name in URLs, not into it; many servers other than AWS need this")
	flags.StringVar(&f.credentials, "credentials-file", a.env("AWS_SHARED_CREDENTIALS_FILE"), "a file with the credentials for a bucket, in the format of the AWS CLI (or AWS_SHARED_CREDENTIALS_FILE, or the credentials themselves in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; AWS_PROFILE names the profile)")
}

// bucket opens a place in a bucket. Credentials in a file come first, as it was named.
func (a *app) bucket(place string, f bucketFlags) (*objects.Bucket, error) {
	at, err := objects.ParseLocation(place)
	if err != nil {
		return nil, &usageError{err}
	}
	f.Credentials = objects.Credentials{ID: a.env("AWS_ACCESS_KEY_ID"), Secret: a.env("AWS_SECRET_ACCESS_KEY"), Session: a.env("AWS_SESSION_TOKEN")}
	if f.credentials != "" {
		text, err := regular.Read(f.credentials, longestCredentials)
		if err != nil {
			return nil, fmt.Errorf("read the credentials (--credentials-file): %w", err)
		}
		if f.Credentials, err = objects.ParseCredentials(text, cmp.Or(a.env("AWS_PROFILE"), "default")); err != nil {
			return nil, fmt.Errorf("read the credentials (--credentials-file): %w", err)
		}
	}
	b, err := objects.Open(at, f.Options)
	if err != nil {
		return nil, &usageError{err}
	}
	return b, nil
}

// bucketBackup makes backups in a bucket.
type bucketBackup struct {
	place       string
	reach       bucketFlags
	incremental bool
	keep        int
	list        bool
	every       time.Duration
	parts       backup.Writer
}

func (b *bucketBackup) add(a *app, c *cobra.Command) {
	a.bucketFlags(c, &b.reach)
	flags := c.Flags()
	flags.StringVar(&b.reach.Encryption, "sse", "", "have the object server encrypt: aes256, kms, or kms:KEY")
	flags.IntVar(&b.keep, "keep", 0, "the number of chains to keep in a bucket; older ones are removed after a full backup (0: keep all)")
	flags.BoolVar(&b.list, "list", false, "list the chains in a bucket, and back up nothing")
	flags.DurationVar(&b.every, "every", 0, "add an increment to a bucket at this interval, such as 1m, until interrupted: losing the machine loses the writes of the last interval and of its upload")
	c.MarkFlagsMutuallyExclusive("list", "every")
	c.MarkFlagsMutuallyExclusive("list", "incremental")
}

// check refuses flags that files have no use for.
func (b *bucketBackup) check() error {
	switch {
	case objects.IsLocation(b.place) && b.every != 0 && b.every < shortestInterval:
		return &usageError{fmt.Errorf("--every %s: at least %s", b.every, shortestInterval)}
	case objects.IsLocation(b.place) && b.keep < 0:
		return &usageError{errors.New("--keep: at least 1 chain, or 0 for all")}
	case !objects.IsLocation(b.place) && (b.every != 0 || b.keep != 0 || b.list || b.reach.Encryption != ""):
		return &usageError{errors.New("--every, --keep, --list and --sse are for buckets, s3://BUCKET/PREFIX")}
	}
	return nil
}

// run makes a backup, or backups until it is interrupted.
func (b *bucketBackup) run(ctx context.Context, a *app) error {
	switch {
	case b.list:
		return b.printList(ctx, a)
	case b.every == 0:
		return b.once(ctx, a, b.incremental)
	}
	if err := a.notef("an increment every %s until interrupted: losing this machine loses the writes of the last %[1]s and of the upload\n", b.every); err != nil {
		return err
	}
	for next := time.NewTicker(b.every); ; {
		if err := b.backUp(ctx, a); err != nil && ctx.Err() == nil {
			if err := a.notef("%v; trying again in %s\n", err, b.every); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
	}
}

// backUp makes an increment, or a full backup where there is none, or where the chain is long.
func (b *bucketBackup) backUp(ctx context.Context, a *app) error {
	bucket, err := a.bucket(b.place, b.reach)
	if err != nil {
		return err
	}
	c, err := bucket.Chain(ctx, time.Time{})
	if err != nil && !errors.Is(err, backup.ErrNone) {
		return err
	}
	err = b.once(ctx, a, err == nil && !isLong(c.Manifest.Parts))
	if errors.Is(err, backup.ErrOther) { // a copy of the store went on
		return b.once(ctx, a, false)
	}
	return err
}

// isLong reports whether a new chain is worth its bytes.
func isLong(parts []backup.Part) bool {
	var increments int64
	for _, p := range parts[min(1, len(parts)):] {
		increments += p.Stored
	}
	return len(parts) > mostIncrements || increments > leastChain && increments > parts[0].Stored
}

// once makes a backup.
func (b *bucketBackup) once(ctx context.Context, a *app, incremental bool) error {
	bucket, err := a.bucket(b.place, b.reach)
	if err != nil {
		return err
	}
	dir, err := a.spool(b.place + " at " + b.reach.Endpoint)
	if err != nil {
		return err
	}
	w := objects.Writer{Bucket: bucket, Spool: dir, Parts: b.parts}
	write := w.Full
	if incremental {
		write = w.Increment
	}
	part, err := a.backUpBy(ctx, func(ctx context.Context, from backup.Source, now time.Time) (backup.Part, error) {
		return write(ctx, from, now)
	})
	if b.every > 0 && errors.Is(err, backup.ErrUnchanged) {
		return nil
	}
	if err := a.printBackup(part, err); err != nil {
		return err
	}
	if incremental || b.keep == 0 {
		return nil
	}
	removed, err := bucket.Prune(ctx, b.keep)
	for _, name := range removed {
		err = errors.Join(err, a.notef("removed the chain %s\n", name))
	}
	return err
}

// spool is the folder for a backup on its way to a place.
func (a *app) spool(place string) (string, error) {
	data := ""
	if a.elsewhere.admin == "" {
		var err error
		if data, err = a.dir(); err != nil {
			return "", err
		}
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for an unfinished backup: %w", err)
	}
	sum := sha256.Sum256([]byte(data + "\n" + a.elsewhere.admin + "\n" + place))
	return filepath.Join(caches, "alcove", "uploads", hex.EncodeToString(sum[:8])), nil
}

func (b *bucketBackup) printList(ctx context.Context, a *app) error {
	bucket, err := a.bucket(b.place, b.reach)
	if err != nil {
		return err
	}
	list, err := bucket.List(ctx)
	if err != nil {
		return err
	}
	return printEach(a, list, func(s objects.Summary) error { return a.printf("%s  %s\n", s.Chain, chainLine(s)) })
}

func chainLine(s objects.Summary) string {
	switch {
	case s.Broken != "":
		return s.Broken
	case s.Parts == 0:
		return "its first upload is not complete"
	}
	return fmt.Sprintf("%s, %d bytes, to version %d; can be restored as of %s to %s", counted(s.Parts, "part"), s.Bytes, s.Newest, s.From.Format(time.RFC3339), s.Until.Format(time.RFC3339))
}

// momentOf is a moment that a flag names; zero: none.
func momentOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, ok := moment.Parse(text, time.Now())
	if !ok {
		return at, &usageError{fmt.Errorf("--as-of %.100q is not a time: write 2026-01-31, a time such as 2026-01-31T12:00:00Z, \"1h ago\" or yesterday", text)}
	}
	return at, nil
}

// chain opens a backup in a folder or a bucket as of a moment, which is zero for its newest state.
func (a *app) chain(ctx context.Context, place string, f bucketFlags, asOf time.Time) (backup.Chain, error) {
	if objects.IsLocation(place) {
		b, err := a.bucket(place, f)
		if err != nil {
			return backup.Chain{}, err
		}
		return b.Chain(ctx, asOf)
	}
	if backup.IsFile(place) {
		return backup.Chain{}, &usageError{errors.New("a single file has one state: --as-of is for folders and buckets")}
	}
	c, err := backup.Folder(place)
	if err != nil {
		return c, err
	}
	return c.AsOf(asOf)
}
