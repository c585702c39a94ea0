package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/regular"
)

// Source is how a client keeps its transcripts.
type Source struct {
	Client Client
	// named are patterns of transcripts below the client's folder, or one of its folders; loose are patterns that other files fit, too.
	named, loose []string
	// knows reports whether a file is a transcript, by its name and beginning.
	knows func(name string, start []byte) bool
	// beside reports whether another file has what a file has.
	beside func(path string) bool
	// parts are the files of a transcript beside its own; nil: there are none.
	parts func(path string) []string
	// lines is a decoder of transcripts that grow by lines; nil: each is decoded as a whole.
	lines func() decoder
	// tables returns what reads a transcript that is a database; nil, or it returns nil: none is, or this one is not.
	tables func(path string) tables
	// whole reads a transcript.
	whole func(path string) (document, error)
}

// tables gives the turns of a database that were written or changed since a cursor, in chunks, each with the cursor after it.
type tables func(ctx context.Context, r *Reader, path string, from Cursor, each func([]Turn, Cursor) error) error

// document is a transcript that is decoded as a whole.
type document struct {
	sum string // of its content
	// decode yields its turns in order. It calls wrong for each part that cannot be read, and goes on if that returns nil.
	decode func(wrong func(path, place string, err error) error, yield func(Turn) error) error
}

// Sources are all clients' sources.
func Sources() []Source {
	return []Source{claudeSource(), codexSource(), geminiSource(), openCodeSource()}
}

// SourceOf is a client's source.
func SourceOf(client Client) (Source, bool) {
	all := Sources()
	at := slices.IndexFunc(all, func(s Source) bool { return s.Client == client })
	if at < 0 {
		return Source{}, false
	}
	return all[at], true
}

const (
	detected   = 64 << 10 // bytes by which a transcript is told
	mostProbes = 20       // files of a folder that are looked at
)

// Detect finds the client whose transcript or folder is at a path; ok is false if it is of none. A folder with notes (*.md) in it is one
// of transcripts only if its folders have the client's names.
func Detect(path string) (_ Source, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, false, err
	}
	for _, s := range Sources() {
		if info.IsDir() {
			ok, err = s.knowsFolder(path)
		} else {
			ok, err = s.knowsFile(path)
		}
		if ok || err != nil {
			return s, ok, err
		}
	}
	return Source{}, false, nil
}

func (s Source) knowsFile(path string) (bool, error) {
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	start := make([]byte, detected)
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return s.knows(filepath.Base(path), start[:n]), errors.Join(err, f.Close())
}

var errFound = errors.New("found")

func (s Source) knowsFolder(dir string) (bool, error) {
	patterns := s.named
	if notes, err := filepath.Glob(filepath.Join(escaped(dir), "*.md")); err == nil && len(notes) == 0 {
		patterns = slices.Concat(s.named, s.loose)
	}
	probes := 0
	err := walk(dir, patterns, func(path string) error {
		if probes++; probes > mostProbes {
			return fs.SkipAll
		}
		if known, err := s.knowsFile(path); err == nil && known { // an unreadable one is reported when it is read
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// escaped is a path as a pattern that only it fits.
func escaped(path string) string {
	if filepath.Separator != '/' {
		return path
	}
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Fits reports whether a path that somebody else names has the form of a transcript's in one of the client's folders.
func (s Source) Fits(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return s.fits(folder, path) || s.fits(real(folder), path) })
}

// Within makes sure that a path that somebody else names is one of a transcript in one of the client's folders, and returns it without
// symbolic links. Nothing outside of the folders is looked at.
func (s Source) Within(folders []string, path string) (string, error) {
	if !s.Fits(folders, path) {
		return "", fmt.Errorf("%q is not a transcript of %s in %s", path, s.Client, strings.Join(folders, " or "))
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(folders, func(folder string) bool { return s.fits(real(folder), to) }) {
		return "", fmt.Errorf("%q leads out of the folder, to %s", path, to)
	}
	info, err := os.Stat(to)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%q is %w", path, regular.ErrNot)
	case info.Size() > longestTranscript:
		return "", &importer.InputError{Path: path, Err: tooLong("bytes in a transcript", longestTranscript)}
	}
	return to, nil
}

// real is a folder without symbolic links.
func real(folder string) string {
	to, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return folder
	}
	return to
}

// fits reports whether a path has the form of a transcript's below a folder.
func (s Source) fits(folder, path string) bool {
	below, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsAbs(path) || !filepath.IsLocal(below) {
		return false
	}
	_, fits := fit(filepath.ToSlash(below), slices.Concat(s.named, s.loose))
	return fits && (s.beside == nil || !s.beside(path))
}

// Files lists the transcripts at a path, in the order of their names.
func (s Source) Files(ctx context.Context, root string) ([]string, error) {
	return s.filesIn(ctx, root, mostFiles)
}

func (s Source) filesIn(ctx context.Context, root string, most int) ([]string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{root}, nil
	}
	var files []string
	err = walk(root, slices.Concat(s.named, s.loose), func(path string) error {
		if s.beside != nil && s.beside(path) {
			return nil
		}
		if files = append(files, path); len(files) > most {
			limit := &importer.LimitError{Limit: "transcripts in a folder", Most: most, Do: "name one of its folders"}
			return &importer.InputError{Path: root, Err: limit}
		}
		return ctx.Err()
	})
	return files, err
}

// walk finds the regular files below a folder that fit a pattern. It enters only folders that may lead to one, and follows no links.
// Folders that are gone or closed to the user meanwhile have none.
func walk(root string, patterns []string, found func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path != root && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
				return nil
			}
			return fmt.Errorf("list transcripts: %w", err)
		}
		below, err := filepath.Rel(root, path)
		if err != nil || below == "." {
			return err
		}
		leads, fits := fit(filepath.ToSlash(below), patterns)
		switch {
		case d.IsDir() && !leads:
			return fs.SkipDir
		case d.Type().IsRegular() && fits:
			return found(path)
		}
		return nil
	})
}

// fit reports whether a path fits a pattern, and whether a pattern goes on below it.
func fit(below string, patterns []string) (leads, fits bool) {
	depth := strings.Count(below, "/")
	for _, pattern := range patterns {
		parts := strings.Split(pattern, "/")
		if len(parts) <= depth {
			continue
		}
		if ok, err := path.Match(strings.Join(parts[:depth+1], "/"), below); err == nil && ok {
			leads = leads || len(parts) > depth+1
			fits = fits || len(parts) == depth+1
		}
	}
	return leads, fits
}

// has reports whether a beginning has members of these names.
func has(start []byte, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !bytes.Contains(start, []byte(`"`+name+`"`)) })
}

// begins reports whether a text begins with a character, after space.
func begins(start []byte, with byte) bool {
	start = bytes.TrimLeft(start, "\ufeff \t\r\n")
	return len(start) > 0 && start[0] == with
}
