package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/store/objects"
)

func (a *app) backupCommand() *cobra.Command {
	incremental := false
	var seal sealFlags
	var bucket bucketBackup
	c := &cobra.Command{
		Use:   "backup FOLDER|FILE|s3://BUCKET/PREFIX",
		Short: "Back up everything to a folder, a file or a bucket while the server runs; --incremental adds changes",
		Long: `Back up everything while the server runs: the store, grants, family modules and embedder settings, but no tokens or
keys. A name with an extension, such as space.alcove, is a single file; any other is a folder, which can also take
increments. A full backup replaces the previous one of the same store. An increment without changes adds nothing.

With recipients or a passphrase, the parts are encrypted in the format of age. The list of parts in a folder stays readable: it has versions,
times, sizes and digests, but no content.

In an S3 bucket, each full backup begins a new chain; --keep removes the oldest chains. Parts stay in the cache of the user until they are
uploaded: after an interrupt, the next backup to the same place resumes. --every adds increments at an interval until interrupted.`,
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			sealer, err := seal.sealer()
			if err != nil {
				return err
			}
			bucket.place, bucket.incremental, bucket.parts = args[0], incremental, backup.Writer{Sealer: sealer}
			if err := bucket.check(); err != nil {
				return err
			}
			if objects.IsLocation(args[0]) {
				return bucket.run(c.Context(), a)
			}
			write, err := backupKind(args[0], incremental, bucket.parts)
			if err != nil {
				return err
			}
			part, err := a.backUp(c.Context(), args[0], write)
			return a.printBackup(part, err)
		},
	}
	seal.add(c)
	c.Flags().BoolVar(&incremental, "incremental", false, "back up only changes since the newest part in the folder or bucket")
	bucket.add(a, c)
	return c
}

// printBackup reports a backup, or returns its error.
func (a *app) printBackup(part backup.Part, err error) error {
	unchanged := errors.Is(err, backup.ErrUnchanged)
	if err != nil && !unchanged {
		return err
	}
	if a.asJSON {
		return a.printJSON(madeBackup{part, unchanged})
	}
	if unchanged {
		return a.printf("nothing changed since %s, which reaches version %d\n", part.File, part.Until)
	}
	if err := a.printf("%s: versions %d to %d, %s, %d bytes\n", part.File, part.Since+1, part.Until, counted(part.Pieces, "piece"), part.Bytes); err != nil {
		return err
	}
	return a.noteAbsent(part.Files)
}

// madeBackup is what the command prints as JSON.
type madeBackup struct {
	backup.Part
	Unchanged bool `json:"unchanged,omitempty"` // the part was there before, and has everything
}

// noteAbsent names the modules that are missing from a backup.
func (a *app) noteAbsent(list []backup.File) error {
	for _, f := range list {
		if f.Absent == "" {
			continue
		}
		if err := a.notef("left out the module with the SHA-256 %s, which alcove.lock names: %s\n", f.SHA256, f.Absent); err != nil {
			return err
		}
	}
	return nil
}

// backupFunc writes a backup to a path: Full, Increment or ToFile of a backup.Writer.
type backupFunc func(ctx context.Context, path string, from backup.Source, now time.Time) (backup.Part, error)

func backupKind(path string, incremental bool, w backup.Writer) (backupFunc, error) {
	switch single := backup.IsFile(path); {
	case single && incremental:
		return nil, &usageError{errors.New("a single file has no increments: back up into a folder")}
	case single:
		return w.ToFile, nil
	case incremental:
		return w.Increment, nil
	}
	return w.Full, nil
}

// backUp writes a backup. The server is also told of one that had everything: with backup.ErrUnchanged.
func (a *app) backUp(ctx context.Context, path string, write backupFunc) (backup.Part, error) {
	if err := a.isOutside(path); err != nil {
		return backup.Part{}, err
	}
	if !isFolder(path) {
		if _, err := destination(path); err != nil {
			return backup.Part{}, err
		}
	}
	return a.backUpBy(ctx, func(ctx context.Context, from backup.Source, now time.Time) (backup.Part, error) {
		return write(ctx, path, from, now)
	})
}

// backUpBy is backUp for a place that write knows.
func (a *app) backUpBy(ctx context.Context, write func(context.Context, backup.Source, time.Time) (backup.Part, error)) (backup.Part, error) {
	bar := a.progress("backing up", -1)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return receive(ctx, a, operator.Backup, operator.BackupRequest{Since: since}, io.MultiWriter(w, bar))
	}
	now := time.Now()
	part, err := write(ctx, from, now)
	if closing := bar.Close(); closing != nil {
		return part, errors.Join(err, closing)
	}
	if err != nil && !errors.Is(err, backup.ErrUnchanged) {
		return part, err
	}
	if err := command(ctx, a, operator.NoteBackup, operator.BackedUp{Version: part.Until, Made: now.UTC()}); err != nil {
		return part, a.notef("the backup is complete, but the server could not record it: %v\n", err)
	}
	return part, err
}

// isOutside refuses a path in the data directory: a purge does not look into backups.
func (a *app) isOutside(path string) error {
	if a.elsewhere.admin != "" {
		return nil // that directory is on another machine
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	dir, errDir := filepath.Abs(dir)
	path, errPath := filepath.Abs(path)
	if err := errors.Join(errDir, errPath); err != nil {
		return err
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return &usageError{fmt.Errorf("%s is in the data directory: back up elsewhere, preferably to another disk", path)}
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	keep, asOf := false, ""
	var open openFlags
	var reach bucketFlags
	c := &cobra.Command{
		Use:   "restore FOLDER|FILE|s3://BUCKET/PREFIX",
		Short: "Restore a backup into a data directory that has no store, and verify it",
		Long: `Restore a backup into the data directory (--data), which must have no store, and verify it. The backup includes grants, family modules
and embedders. If alcove.lock or embedders.json of the directory differs from that of the backup, the command fails;
--keep-settings keeps those of the directory.

From a folder or a bucket, --as-of restores the last state before that time, including data that a later purge erased.`,
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.ownDir()
			if err != nil {
				return err
			}
			at, err := momentOf(asOf)
			if err != nil {
				return err
			}
			from, err := a.backupAt(c.Context(), args[0], reach, at) // before a data directory is made for it
			if err != nil {
				return err
			}
			directory, err := a.directory(dir)
			if err != nil {
				return err
			}
			opener, err := open.opener()
			if err != nil {
				return err
			}
			bar := a.progress("restoring", -1)
			r, err := directory.RestoreFrom(c.Context(), from, datadir.RestoreOptions{KeepSettings: keep, Opener: opener, Progress: func(done, all int64) {
				bar.ChangeMax64(all)
				_ = bar.Set64(done)
			}})
			if err = errors.Join(err, bar.Close()); err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return a.printRestored(dir, r)
		},
	}
	open.add(c)
	a.bucketFlags(c, &reach)
	c.Flags().StringVar(&asOf, "as-of", "", `the state at this time: a time, a date, "1h ago", yesterday`)
	c.Flags().BoolVar(&keep, "keep-settings", false, "keep the alcove.lock and embedders.json of the directory if they differ from those of the backup")
	return c
}

// backupAt finds a backup, as of a moment or, if that is zero, in its newest state.
func (a *app) backupAt(ctx context.Context, place string, reach bucketFlags, asOf time.Time) (datadir.Backup, error) {
	if objects.IsLocation(place) || !asOf.IsZero() {
		return a.chain(ctx, place, reach, asOf)
	}
	return backup.At(place), checkBackup(place)
}

// checkBackup makes sure that a backup is a folder or a file.
func checkBackup(path string) error {
	if isFolder(path) {
		return nil
	}
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("there is no backup %s", path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}
