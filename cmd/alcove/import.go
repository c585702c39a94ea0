package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// importBatch is the number of memories in one request.
const (
	importBatch = 500
	importBytes = 8 << 20
)

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	var open openFlags
	c := &cobra.Command{
		Use:   "import FILE|FOLDER",
		Short: "Import an export of Alcove or another memory tool, or the transcripts of a client",
		Long: fmt.Sprintf(`Import a bundle of alcove export into a data directory that has no store: all branches, history, logs and counters,
or nothing. Other formats become memories on one branch; importing them again changes nothing.

Formats: %s. The format is told from the input, a file, a folder or a zip, unless --format says it.

Transcripts: %s. The turns of a client's sessions, in its folder (such as ~/.claude/projects) or a file of it, are stored in
the namespace of their project. What was read before is not read again, unless --again says so. --follow goes on with what is new until
it is interrupted.`, importer.FormatNames(), transcriptNames()),
		Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			opener, err := open.opener()
			if err != nil {
				return err
			}
			bundle, sealed, err := isBundle(args[0], opener)
			if err != nil {
				return err
			}
			if bundle && o.format == "" && !o.follow && !o.again {
				return a.importBundle(c.Context(), args[0], opener, o)
			}
			if sealed {
				return &usageError{fmt.Errorf("%s is encrypted, and not a bundle: decrypt it first with age --decrypt", args[0])}
			}
			source, ok, err := o.transcripts(args[0])
			if err != nil {
				return err
			}
			if ok {
				return a.importTranscripts(c.Context(), source, args[0], o)
			}
			return a.importMemories(c.Context(), args[0], o)
		},
	}
	open.add(c)
	flags := c.Flags()
	flags.StringVar(&o.format, "format", "", "the format of the input")
	flags.StringVar(&o.branch, "branch", a.env("ALCOVE_BRANCH"), "the branch to store on (or ALCOVE_BRANCH)")
	flags.StringVar(&o.namespace, "namespace", a.env("ALCOVE_NAMESPACE"), "the namespace to store in, instead of the input's (or ALCOVE_NAMESPACE)")
	flags.BoolVar(&o.skip, "skip-invalid", false, "skip and report invalid lines, elements and notes; without the flag, one of them fails the import")
	flags.BoolVar(&o.dry, "dry-run", false, "list the memories without writing them")
	flags.BoolVar(&o.follow, "follow", false, "import new turns of transcripts until interrupted")
	flags.BoolVar(&o.again, "again", false, "read transcripts from the beginning")
	return c
}

type importOptions struct {
	format, branch, namespace string
	dry                       bool
	skip                      bool
	follow, again             bool // of transcripts
	quiet                     bool // dry: says nothing
}

// isBundle reports whether a file begins as a bundle does, and whether it is encrypted.
func isBundle(path string, by *sealing.Opener) (is, sealed bool, err error) {
	if isFolder(path) {
		return false, false, nil
	}
	f, r, err := openSealed(path, by)
	if err != nil {
		return false, false, err
	}
	defer f.Close()
	start, _ := bufio.NewReader(r).Peek(len(bundleStart))
	first := make([]byte, 64)
	if _, err := f.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, false, fmt.Errorf("read %s: %w", path, err)
	}
	return string(start) == bundleStart, sealing.IsSealed(first), nil
}

const bundleStart = `{"alcove":"bundle"`

func (a *app) importBundle(ctx context.Context, path string, by *sealing.Opener, o importOptions) error {
	if o.branch != "" || o.namespace != "" || o.dry || o.skip {
		return &usageError{errors.New("a bundle is imported as it is: --branch, --namespace, --skip-invalid and --dry-run are for memories (alcove export --memories)")}
	}
	dir, err := a.ownDir()
	if err != nil {
		return err
	}
	f, r, err := openSealed(path, by)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	directory, err := a.directory(dir)
	if err != nil {
		return err
	}
	bar := a.progress("importing", info.Size())
	v, err := directory.Import(ctx, r, func(n int64) { _ = bar.Set64(n) })
	if err = errors.Join(err, bar.Close()); err != nil {
		return fmt.Errorf("import %s: %w", path, err)
	}
	return a.printImportedBundle(dir, v)
}

func (a *app) importMemories(ctx context.Context, path string, o importOptions) error {
	in := importer.Input{Path: path, Format: importer.Format(o.format)}
	if in.Format == "" {
		detected, err := importer.Detect(path)
		if err != nil {
			return err
		}
		in.Format = detected
	}
	var wrong wrongParts
	in.Skip = wrong.add
	if !o.dry { // all of it is read and checked first, so that nothing is stored of an input that is wrong somewhere
		checked := o
		checked.dry, checked.quiet = true, true
		if _, err := a.readMemories(ctx, in, checked); err != nil {
			return err
		}
		if wrong.count > 0 && !o.skip {
			return wrong.err()
		}
		in.Skip = func(*importer.InputError) error { return nil } // they are known
	}
	done, err := a.readMemories(ctx, in, o)
	if err != nil {
		return err
	}
	if wrong.count > 0 && !o.skip {
		return wrong.err()
	}
	return a.printImported(in.Format, done, wrong, o)
}

func (a *app) printImported(format importer.Format, done operator.Imported, wrong wrongParts, o importOptions) error {
	if a.asJSON {
		return a.printJSON(map[string]any{"format": format, "stored": done.Stored, "unchanged": done.Unchanged, "dry_run": o.dry, "skipped": wrong.count, "reasons": wrong.reasons()})
	}
	for _, reason := range wrong.reasons() {
		if err := a.notef("skipped %s\n", reason); err != nil {
			return err
		}
	}
	if more := wrong.count - len(wrong.first); more > 0 {
		if err := a.notef("skipped %d more\n", more); err != nil {
			return err
		}
	}
	would, skipped := "", ""
	if o.dry {
		would = "would be "
	}
	if wrong.count > 0 {
		skipped = fmt.Sprintf(", %d skipped", wrong.count)
	}
	return a.printf("%s: %s %sstored, %d unchanged%s\n", format, counted(done.Stored, "memory"), would, done.Unchanged, skipped)
}

// wrongParts are lines, elements or notes of an input that cannot be used.
type wrongParts struct {
	count int
	first []*importer.InputError
}

const wrongPartsShown = 20

func (w *wrongParts) add(err *importer.InputError) error {
	if w.count++; w.count <= wrongPartsShown {
		w.first = append(w.first, err)
	}
	return nil
}

// reasons describe the first ones.
func (w *wrongParts) reasons() []string {
	list := []string{}
	for _, err := range w.first {
		list = append(list, err.Error())
	}
	return list
}

func (w *wrongParts) err() error {
	reasons := strings.Join(w.reasons(), "\n")
	if more := w.count - len(w.first); more > 0 {
		reasons += fmt.Sprintf("\nand %d more", more)
	}
	return fmt.Errorf("nothing was imported, because parts of the input are invalid: correct them, or skip them with --skip-invalid\n%s", reasons)
}

// readMemories reads the whole input, and stores it or, in a dry run, has the server check it.
func (a *app) readMemories(ctx context.Context, in importer.Input, o importOptions) (operator.Imported, error) {
	return a.storeMemories(ctx, o, func(add func(operator.Memory) error) error { return in.Read(ctx, add) })
}

// storeMemories stores what read adds, in batches.
func (a *app) storeMemories(ctx context.Context, o importOptions, read func(add func(operator.Memory) error) error) (operator.Imported, error) {
	i := &batcher{app: a, options: o, bar: a.progress("importing", -1)}
	err := read(func(m operator.Memory) error { return i.add(ctx, m) })
	if err == nil {
		err = i.flush(ctx)
	}
	return i.done, i.resumable(errors.Join(err, i.bar.Close()))
}

// resumable is an error of an import that may have stored a part.
func (i *batcher) resumable(err error) error {
	if err != nil && i.done.Stored > 0 && !i.options.dry {
		return fmt.Errorf("%w (%s were stored before the failure: run the import again, stored memories stay unchanged)", err, counted(i.done.Stored, "memory"))
	}
	return err
}

// batcher gathers memories into batches.
type batcher struct {
	*app
	options importOptions
	bar     interface {
		Add64(int64) error
		Close() error
	}
	batch []operator.Memory
	size  int
	done  operator.Imported
}

func (i *batcher) add(ctx context.Context, m operator.Memory) error {
	if i.options.namespace != "" {
		m.Namespace = i.options.namespace
	}
	if i.options.dry && !i.options.quiet && !i.asJSON {
		if err := i.printf("%s %s %s\n", m.Namespace, m.Key, i.dim(oneLine("", m.Value))); err != nil {
			return err
		}
	}
	i.batch = append(i.batch, m)
	i.size += len(m.Value) + len(m.Key) + 200
	if len(i.batch) < importBatch && i.size < importBytes {
		return nil
	}
	return i.flush(ctx)
}

func (i *batcher) flush(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	request := operator.ImportRequest{Branch: i.options.branch, Memories: i.batch, DryRun: i.options.dry}
	done, err := call(ctx, i.app, operator.Import, request)
	if err != nil {
		return err
	}
	i.done.Stored += done.Stored
	i.done.Unchanged += done.Unchanged
	_ = i.bar.Add64(int64(i.size))
	i.batch, i.size = i.batch[:0], 0
	return nil
}
