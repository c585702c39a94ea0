package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/standby"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/objects"
)

const (
	shortestLook = time.Second
	longestLook  = time.Hour
)

// followFlags say which bucket a server follows.
type followFlags struct {
	place string
	every time.Duration
	reach bucketFlags
	open  openFlags
}

func (f *followFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.place, "follow", a.env("ALCOVE_FOLLOW"), "serve a read-only copy of the memory in this backup, s3://BUCKET/PREFIX, and apply each new increment (or ALCOVE_FOLLOW)")
	flags.DurationVar(&f.every, "follow-every", standby.DefaultEvery, "how often to look for new increments in the bucket")
	a.bucketFlags(c, &f.reach)
	f.open.add(c)
}

// options are nil if the server follows nothing.
func (f *followFlags) options(a *app) (*standby.Options, error) {
	if f.place == "" {
		return nil, nil
	}
	at, err := objects.ParseLocation(f.place)
	if err == nil && at.Chain != "" {
		err = fmt.Errorf("--follow %s/%s names a single chain, which will end: name the prefix that contains it", at, at.Chain)
	}
	if err == nil && (f.every < shortestLook || f.every > longestLook) {
		err = fmt.Errorf("--follow-every %s: give %s to %s", f.every, shortestLook, longestLook)
	}
	if err != nil {
		return nil, &usageError{err}
	}
	if _, err := a.bucket(f.place, f.reach); err != nil {
		return nil, err
	}
	opener, err := f.open.opener()
	if err != nil {
		return nil, err
	}
	newest := func(ctx context.Context) (backup.Chain, error) {
		b, err := a.bucket(f.place, f.reach) // credentials may be others by now
		if err != nil {
			return backup.Chain{}, err
		}
		return b.Chain(ctx, time.Time{})
	}
	return &standby.Options{Place: at.String(), Newest: newest, Opener: opener, Every: f.every}, nil
}

// check refuses what a server that follows does not do.
func (f *followFlags) check(s serveFlags) error {
	switch {
	case f.place == "":
		return nil
	case s.familiesDir != "":
		return &usageError{errors.New("--families-dir: a server that follows a bucket runs no families")}
	case s.cluster.keyFile != "":
		return &usageError{errors.New("--cluster-key-file: servers that share a database do not follow a bucket")}
	}
	return nil
}

func (a *app) followCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "follow", Short: "Serve a read-only copy of a memory from its backups in a bucket",
		Long: `A server with --follow s3://BUCKET/PREFIX restores the backup in a bucket into its data directory, applies each new increment, answers reads,
and refuses writes. alcove status, alcove doctor and /readyz report its progress.`,
	}
	c.AddCommand(a.followPromoteCommand())
	return c
}

func (a *app) followPromoteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "promote", Short: "Make a directory that follows a bucket writable", Args: noArguments,
		Long: `Make the data directory, which follows a bucket, a memory of its own: the next server may write it, and takes no increments any more. Stop its
server first, and make sure that nobody writes to the memory that is backed up there: from now on the two are different ones. What was written
there and is not in the bucket is missing here.`,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.ownDir()
			if err != nil {
				return err
			}
			place, err := standby.Promote(dir)
			switch {
			case err != nil:
				return err
			case a.asJSON:
				return a.printJSON(map[string]string{"followed": place})
			}
			return a.printf("%s no longer follows %s: the next server can write to it\n", cmp.Or(dir, "."), place)
		},
	}
}
