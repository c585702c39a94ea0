package importer

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/regular"
)

// export is what a service lets its users download: a zip, the folder that was in it, or a file of it.
type export struct {
	parts []part
	whole bool // a zip or a folder
	close func() error
}

// part is a file of an export. Nothing of a zip is written to disk, and no more of a file is unpacked than the zip says it has.
type part struct {
	name string // without folders
	path string // for errors
	open func() (io.ReadCloser, error)
}

func openExport(path string) (*export, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(path)
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	start := make([]byte, 4)
	if _, err := f.ReadAt(start, 0); err == nil && isZip(start) {
		x, err := openZip(path, f, info.Size())
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return x, nil
	}
	open := func() (io.ReadCloser, error) { return regular.Open(path) }
	return &export{parts: []part{{filepath.Base(path), path, open}}, close: func() error { return nil }}, f.Close()
}

func isZip(start []byte) bool {
	return bytes.HasPrefix(start, []byte("PK\x03\x04")) || bytes.HasPrefix(start, []byte("PK\x05\x06"))
}

func isPart(name string) bool {
	return strings.EqualFold(path.Ext(name), ".json") && !strings.HasPrefix(name, ".")
}

// openFolder lists the files directly in a folder; links are not followed.
func openFolder(dir string) (*export, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	x := &export{whole: true, close: func() error { return nil }}
	for _, e := range entries {
		if file := filepath.Join(dir, e.Name()); e.Type().IsRegular() && isPart(e.Name()) {
			x.parts = append(x.parts, part{e.Name(), file, func() (io.ReadCloser, error) { return regular.Open(file) }})
		}
	}
	return x, x.check()
}

func openZip(name string, f *os.File, size int64) (*export, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("it begins as a zip does, but: %w: download it again", err)
	}
	if len(z.File) > maxParts {
		return nil, &LimitError{"files in a zip", maxParts, "unpack it, and import the folder"}
	}
	x := &export{whole: true, close: f.Close}
	for _, file := range z.File {
		if err := checkMember(file); err != nil {
			return nil, err
		}
		if base := path.Base(file.Name); isPart(base) && !strings.HasPrefix(file.Name, "__MACOSX/") {
			x.parts = append(x.parts, part{base, name + ", " + file.Name, file.Open})
		}
	}
	slices.SortStableFunc(x.parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return x, x.check()
}

func (x *export) check() error {
	if len(x.parts) > maxParts {
		return &LimitError{"JSON files in a folder", maxParts, "move those of the export to one of their own"}
	}
	return nil
}

// checkMember refuses files that no export has.
func checkMember(f *zip.File) error {
	switch {
	case strings.Contains(f.Name, `\`) || !filepath.IsLocal(strings.TrimSuffix(f.Name, "/")):
		return fmt.Errorf("its file %.200q would be unpacked outside of it, as in no export: download it again", f.Name)
	case f.UncompressedSize64 > maxPart:
		return fmt.Errorf("its file %.200q: %w", f.Name, errPart)
	case f.Flags&1 != 0:
		return fmt.Errorf("its file %.200q is encrypted: unpack it, and import the folder", f.Name)
	}
	return nil
}

var errPart = &LimitError{"bytes in an unpacked file", maxPart, "unpack it, and import the files one by one"}

// start returns the beginning of the part.
func (p part) start() (start []byte, err error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	start = make([]byte, detected)
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return start[:n], err
}

// downloads are the formats of several files.
func downloads() []Format { return []Format{ChatGPT, Claude, OpenMemory} }

// format returns the format of the first part that has one; empty: none has.
func (x *export) format() (Format, error) {
	for _, p := range x.parts {
		start, err := p.start()
		if err != nil {
			return "", at(p.path, "", err)
		}
		if format := detectJSON(start); format != "" && (!x.whole || slices.Contains(downloads(), format)) {
			return format, nil
		}
	}
	return "", nil
}

// eachPart passes on the parts of the input's format, each as an input with its beginning. A file alone is passed on whatever it has.
func (in Input) eachPart(do func(in Input, start []byte) error) (err error) {
	x, err := openExport(in.Path)
	if err != nil {
		return at(in.Path, "", err)
	}
	defer func() { err = errors.Join(err, x.close()) }()
	for _, p := range x.parts {
		start, err := p.start()
		if err != nil {
			return at(p.path, "", err)
		}
		if x.whole && detectJSON(start) != in.Format {
			continue
		}
		of := in
		of.Path, of.open = p.path, p.open
		if err := do(of, start); err != nil {
			return err
		}
	}
	return nil
}
