package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"sync"
)

// Bounds of the files that a part carries.
const (
	mostFiles = 4096
	fileSize  = 32 << 20 // bytes of one
)

// File is a file of the data directory beside the store, such as the operator's grants and the modules that they name.
type File struct {
	Name    string `json:"name"` // in the data directory, with slashes
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes,omitempty"`
	Earlier bool   `json:"earlier,omitempty"` // the content is in an earlier part
	Absent  string `json:"absent,omitempty"`  // why the content is not in the backup; empty: it is
}

// OpenFile is a file that is being backed up. One that is absent has no content.
type OpenFile struct {
	File
	Content interface {
		io.ReaderAt
		io.Closer
	}
}

// Settings opens the files beside the store, as one consistent set. It is called after the newest version was chosen, so
// no memory is restored without a grant that it was stored under.
type Settings func() ([]OpenFile, error)

// Files receives the files of a backup.
type Files interface {
	// File receives a content and its digest.
	File(digest string, content []byte) error
	// Files receives the list of files, which replaces earlier lists.
	Files([]File) error
}

var (
	fileName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._/-]{0,199}$`) })
	digestForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

func (f File) check() error {
	switch {
	case !fileName().MatchString(f.Name) || path.Clean(f.Name) != f.Name || bytes.Contains([]byte(f.Name), []byte("..")):
		return fmt.Errorf("%.200q is not a name of a file in a data directory", f.Name)
	case !digestForm().MatchString(f.SHA256):
		return fmt.Errorf("file %s: sha256 %.100q is not 64 hexadecimal digits", f.Name, f.SHA256)
	case f.Absent != "" && (f.Bytes != 0 || f.Earlier || len(f.Absent) > 1000):
		return fmt.Errorf("file %s is absent, and has %d bytes", f.Name, f.Bytes)
	case f.Absent == "" && (f.Bytes < 1 || f.Bytes > fileSize):
		return fmt.Errorf("file %s has %d bytes: at most %d", f.Name, f.Bytes, fileSize)
	}
	return nil
}

// carried reports whether the content is in the part.
func (f File) carried() bool { return !f.Earlier && f.Absent == "" }

func checkFiles(list []File) error {
	if len(list) > mostFiles {
		return fmt.Errorf("it has %d files: at most %d", len(list), mostFiles)
	}
	names := map[string]bool{}
	for _, f := range list {
		if err := f.check(); err != nil {
			return err
		}
		if names[f.Name] {
			return fmt.Errorf("file %s is named twice", f.Name)
		}
		names[f.Name] = true
	}
	return nil
}

// files writes the files beside the store, with content unless an earlier part has it.
func (p *partWriter) files(settings Settings, have []string) (err error) {
	if settings == nil {
		return nil
	}
	list, err := settings()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles(list)) }()
	for _, f := range list {
		f.Earlier = f.Absent == "" && slices.Contains(have, f.SHA256)
		if err := p.json(kindFile, f.File); err != nil {
			return err
		}
		if !f.carried() {
			continue
		}
		if err := p.content(f.Content, f.Bytes); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
	}
	return nil
}

func closeFiles(list []OpenFile) (err error) {
	for _, f := range list {
		if f.Content != nil {
			err = errors.Join(err, f.Content.Close())
		}
	}
	return err
}

// fileParser tracks the files of a part.
type fileParser struct {
	list    []File
	names   map[string]bool
	content []byte // of the last one, so far
	missing int64  // bytes of it still expected
}

func (p *fileParser) next(content []byte) error {
	var f File
	if err := json.Unmarshal(content, &f); err != nil {
		return fmt.Errorf("a file: %w", err)
	}
	if err := f.check(); err != nil {
		return err
	}
	if len(p.list) == mostFiles || p.names[f.Name] {
		return fmt.Errorf("file %s is named twice, or one of more than %d", f.Name, mostFiles)
	}
	if p.names == nil {
		p.names = map[string]bool{}
	}
	p.names[f.Name] = true
	p.list = append(p.list, f)
	if f.carried() {
		p.missing = f.Bytes
	}
	return nil
}

// add appends content of the last file. Complete and matching its digest, it is passed to whole, which may be nil.
func (p *fileParser) add(content []byte, whole func(string, []byte) error) error {
	p.content = append(p.content, content...)
	if p.missing > 0 {
		return nil
	}
	f, data := p.list[len(p.list)-1], p.content
	p.content = nil
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return fmt.Errorf("file %s has the sha256 %x, and should have %s: it was changed", f.Name, sum, f.SHA256)
	}
	if whole == nil {
		return nil
	}
	return whole(f.SHA256, data)
}
