// Package files reads and writes files below the directories that an operator named as roots.
//
// A guest's path stays below its root: os.Root resolves it, and symbolic links, devices, pipes and files with several names are refused
// besides, as the operator named a directory and not what it can be made to lead to. Names that begin with a dot are refused, because
// tools keep programs and settings in them, such as the hooks of Git. Files are replaced atomically and durably, one by one.
package files

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// Limits of files and roots.
const (
	fileLimit    = 32 << 20 // bytes of a file
	requestLimit = 32 << 20 // bytes of all files of a request
	mostFiles    = 100_000  // below a root; files that are left out are counted too
	rootLimit    = 1 << 30  // bytes of all files below a root to which files are written
	pageLimit    = 1_000
)

// Files are the files below roots.
type Files struct {
	// Private are directories that no root may contain, or be in: those of the server.
	Private []string

	mu sync.Mutex // held while files are written
}

// failure is a failure of the file system. Its text has no path outside of a root.
type failure struct {
	reason string
	cause  error
}

func (f *failure) Error() string { return f.reason }

// Cause is the failure for the operator's log.
func (f *failure) Cause() error { return f.cause }

// NoEffect reports whether nothing was written. A failure after the first file may follow a write.
func (f *failure) NoEffect() bool { return false }

func failed(doing string, err error) error {
	var path *fs.PathError
	reason := errors.Unwrap(err)
	if errors.As(err, &path) {
		reason = path.Err
	}
	if reason == nil {
		reason = errors.New("the file system failed")
	}
	return &failure{reason: fmt.Sprintf("%s: %v", doing, reason), cause: err}
}

func refuse(code abi.Code, format string, arguments ...any) error {
	return &abi.Error{Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// List returns a page of the files below a root.
func (f *Files) List(r registry.Root, q abi.FileListRequest) (out abi.FileListResponse, err error) {
	out.Files = []abi.FileEntry{}
	if q.Folder != "" {
		if err := checkPath(q.Folder); err != nil {
			return out, err
		}
	}
	root, err := f.open(r)
	if err != nil {
		return out, err
	}
	defer root.Close()
	if err := root.checkFolders(q.Folder + "/"); err != nil {
		return out, err
	}
	all, refused, err := root.walk(q.Folder)
	if err != nil {
		return out, err
	}
	out.Refused = refused
	limit := q.Limit
	if limit == 0 {
		limit = pageLimit
	}
	for _, e := range all {
		if e.Path <= q.After {
			continue
		}
		if len(out.Files) == limit {
			out.Next = out.Files[limit-1].Path
			break
		}
		out.Files = append(out.Files, e)
	}
	return out, nil
}

// Read reads files; nil stands for those that do not exist.
func (f *Files) Read(r registry.Root, q abi.FileReadRequest) (out abi.FileReadResponse, err error) {
	for _, p := range q.Paths {
		if err := checkPath(p); err != nil {
			return out, err
		}
	}
	root, err := f.open(r)
	if err != nil {
		return out, err
	}
	defer root.Close()
	left := int64(requestLimit)
	for _, p := range q.Paths {
		data, there, err := root.read(p, left)
		if err != nil {
			return out, err
		}
		if !there {
			out.Files = append(out.Files, nil)
			continue
		}
		left -= int64(len(data))
		file := &abi.File{Path: p, Digest: digest(data)}
		if file.Content, err = encoded(p, data, q.Base64); err != nil {
			return out, err
		}
		out.Files = append(out.Files, file)
	}
	return out, nil
}

func encoded(p string, data []byte, inBase64 bool) (string, error) {
	if inBase64 {
		return base64.StdEncoding.EncodeToString(data), nil
	}
	if !utf8.Valid(data) {
		return "", refuse(abi.CodeInvalidArgument, "%q is not UTF-8: read it with base64", p)
	}
	return string(data), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Write writes files and returns how many were written. leaving is called once before the first one, after all checks; its error
// prevents all of them.
func (f *Files) Write(ctx context.Context, r registry.Root, q abi.FileWriteRequest, leaving func(context.Context) error) (out abi.FileWriteResponse, err error) {
	if r.ReadOnly {
		return out, refuse(abi.CodeDenied, "the root can only be read: an operator can name it without --read-only")
	}
	contents, err := decoded(q)
	if err != nil {
		return out, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := f.open(r)
	if err != nil {
		return out, err
	}
	defer root.Close()
	changed, err := root.changed(q.Files, contents)
	if err != nil || len(changed) == 0 {
		return out, err
	}
	if err := leaving(ctx); err != nil {
		return out, err
	}
	for _, i := range changed {
		if err := root.write(q.Files[i].Path, contents[i]); err != nil {
			return out, err
		}
		out.Written++
	}
	return out, nil
}

// decoded returns the contents of files to write, and checks their paths and sizes.
func decoded(q abi.FileWriteRequest) (contents [][]byte, err error) {
	left, seen := requestLimit, map[string]bool{}
	for _, item := range q.Files {
		if err := checkPath(item.Path); err != nil {
			return nil, err
		}
		if seen[item.Path] {
			return nil, refuse(abi.CodeInvalidArgument, "%q is given twice", item.Path)
		}
		seen[item.Path] = true
		data := []byte(item.Content)
		if q.Base64 {
			if data, err = base64.StdEncoding.DecodeString(item.Content); err != nil {
				return nil, refuse(abi.CodeInvalidArgument, "the content of %q is not base64: %v", item.Path, err)
			}
		}
		if left -= len(data); left < 0 {
			return nil, refuse(abi.CodeExhausted, "the files have more than %d bytes: write fewer at once", requestLimit)
		}
		contents = append(contents, data)
	}
	return contents, nil
}

// root is an open root.
type root struct {
	*os.Root
	max int64 // bytes of all files
}

// open opens a root: a directory that is none of the server's.
func (f *Files) open(r registry.Root) (*root, error) {
	if err := f.Check(r); err != nil {
		return nil, &failure{reason: "the root cannot be used: the server's log says why", cause: err}
	}
	opened, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, &failure{reason: "the root cannot be opened: the server's log says why", cause: err}
	}
	most := r.MaxBytes
	if most == 0 {
		most = rootLimit
	}
	return &root{opened, most}, nil
}

// Check returns why a directory cannot be a root.
func (f *Files) Check(r registry.Root) error {
	info, err := os.Lstat(r.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", r.Dir)
	}
	for _, private := range f.Private {
		if within(r.Dir, private) || within(private, r.Dir) {
			return fmt.Errorf("%s contains, or is in, %s, which is the server's own: name another directory", r.Dir, private)
		}
	}
	return nil
}

// within reports whether a directory is another one, or below it.
func within(dir, of string) bool {
	outer, err := os.Stat(of)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, outer) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// checkFolders refuses a path of which a folder is a symbolic link or no directory. Missing folders are fine.
func (r *root) checkFolders(p string) error {
	for i := range len(p) {
		if p[i] != '/' || i == 0 {
			continue
		}
		info, err := r.Lstat(p[:i])
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return failed("look at "+p[:i], err)
		}
		if !info.IsDir() {
			return refuse(abi.CodeInvalidArgument, "%q is %s, and no directory", p[:i], kind(info.Mode()))
		}
	}
	return nil
}

// stat returns the state of a regular file with one name; nil if there is none.
func (r *root) stat(p string) (fs.FileInfo, error) {
	if err := r.checkFolders(p); err != nil {
		return nil, err
	}
	info, err := r.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("look at "+p, err)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(abi.CodeInvalidArgument, "%q is %s, and no regular file", p, kind(info.Mode()))
	}
	if namesOf(info) > 1 {
		return nil, refuse(abi.CodeInvalidArgument, "%q has several names (hard links): only files with one name are used", p)
	}
	return info, nil
}

// read reads a file of at most so many bytes.
func (r *root) read(p string, most int64) (data []byte, there bool, err error) {
	info, err := r.stat(p)
	if err != nil || info == nil {
		return nil, false, err
	}
	file, err := r.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe meanwhile
	if err != nil {
		return nil, false, failed("open "+p, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	now, err := file.Stat()
	if err != nil {
		return nil, false, failed("look at "+p, err)
	}
	if !os.SameFile(info, now) || !now.Mode().IsRegular() || namesOfOpen(file, now) > 1 {
		return nil, false, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: fmt.Sprintf("%q was replaced while it was opened, or has several names", p)}
	}
	most = min(most, fileLimit)
	if data, err = io.ReadAll(io.LimitReader(file, most+1)); err != nil {
		return nil, false, failed("read "+p, err)
	}
	if int64(len(data)) > most {
		return nil, false, refuse(abi.CodeExhausted, "%q has more than %d bytes, the rest of the limit of %d: read fewer files at once", p, most, requestLimit)
	}
	return data, true, nil
}

// changed returns the indexes of files that do not have their content already. It checks what each file must have been, and the size of
// the root.
func (r *root) changed(items []abi.FileItem, contents [][]byte) (list []int, err error) {
	more := int64(0)
	for i, item := range items {
		data, there, err := r.read(item.Path, fileLimit)
		if err != nil {
			return nil, err
		}
		if is := digestIf(data, there); item.IfDigest != nil && *item.IfDigest != is {
			e := &abi.Error{Code: abi.CodeConflict, Message: fmt.Sprintf("%q changed since it was read: read it again", item.Path), Details: map[string]any{"path": item.Path}}
			return nil, e
		}
		if !there || string(data) != string(contents[i]) {
			list, more = append(list, i), more+int64(len(contents[i])-len(data))
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, r.checkSize(len(list), more)
}

// digestIf is the digest of a file; empty: there is none.
func digestIf(data []byte, there bool) string {
	if !there {
		return ""
	}
	return digest(data)
}

// checkSize refuses what would fill a root.
func (r *root) checkSize(files int, more int64) error {
	all, refused, err := r.walk("")
	if err != nil {
		return err
	}
	for _, e := range all {
		more += int64(e.Bytes)
	}
	if more > r.max {
		return refuse(abi.CodeExhausted, "the root would have %d bytes: at most %d are allowed", more, r.max)
	}
	if len(all)+refused+files > mostFiles {
		return refuse(abi.CodeExhausted, "the root would have more than %d files", mostFiles)
	}
	return nil
}

// walk returns all usable files below a folder, in the order of their paths, and how many others there are.
func (r *root) walk(folder string) (list []abi.FileEntry, refused int, err error) {
	if folder == "" {
		folder = "."
	}
	looked := 0
	err = fs.WalkDir(r.FS(), folder, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // nothing is there, or not any more
			return nil
		case err != nil:
			return failed("list "+p, err)
		}
		if looked++; looked > mostFiles {
			return refuse(abi.CodeExhausted, "there are more than %d files and folders", mostFiles)
		}
		if p == "." {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			return skip(d)
		}
		e, ok := entry(p, d)
		switch {
		case checkPath(p) != nil:
			refused++
			return skip(d)
		case d.IsDir():
		case ok:
			list = append(list, e)
		default:
			refused++
		}
		return nil
	})
	slices.SortFunc(list, func(a, b abi.FileEntry) int { return strings.Compare(a.Path, b.Path) })
	return list, refused, err
}

// skip leaves out a file, or a directory with all that it holds.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// entry describes a usable file.
func entry(p string, d fs.DirEntry) (e abi.FileEntry, ok bool) {
	if !d.Type().IsRegular() {
		return e, false
	}
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() || namesOf(info) > 1 {
		return e, false
	}
	return abi.FileEntry{Path: p, Bytes: int(info.Size()), Modified: info.ModTime().UTC().Format(time.RFC3339)}, true
}

// write replaces a file, or makes it with its folders. The temporary file of a path has always the same name, so that one that a crash
// left is reused.
func (r *root) write(p string, data []byte) (err error) {
	folder := path.Dir(p)
	if err := r.MkdirAll(folder, 0o700); err != nil {
		return failed("make the folder of "+p, err)
	}
	partial := path.Join(folder, ".alcove-"+digest([]byte(p))[:16]+".partial")
	if err := r.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("write "+p, err)
	}
	f, err := r.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed("write "+p, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = r.Rename(partial, p)
	}
	if err != nil {
		_ = r.Remove(partial) // the error before says more
		return failed("write "+p, err)
	}
	return r.syncFolders(folder)
}

// syncFolders makes the names in a folder and those above it durable, where the system can.
func (r *root) syncFolders(folder string) error {
	for ; ; folder = path.Dir(folder) {
		if err := r.syncFolder(folder); err != nil {
			return failed("sync "+folder, err)
		}
		if folder == "." {
			return nil
		}
	}
}

func (r *root) syncFolder(folder string) error {
	if !syncsFolders {
		return nil
	}
	d, err := r.Open(folder)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsRegular():
		return "a file"
	}
	return "something else"
}
