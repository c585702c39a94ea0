package models

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/weburl"
)

const (
	mostEntries    = 10_000 // of an archive
	mostRedirects  = 5
	downloadTime   = time.Hour
	longestAnswer  = time.Minute // until a server begins to answer
	longestArchive = 2<<30 + 65<<20
)

// archives are the endings of archives that are read.
func isArchive(name string) bool {
	for _, ending := range []string{".tar", ".tar.gz", ".tgz", ".zip"} {
		if strings.HasSuffix(strings.ToLower(name), ending) {
			return true
		}
	}
	return false
}

// fetch copies a model's files into a folder, and says where they are from.
func (l Library) fetch(ctx context.Context, r Request, m Model, dir string) (source string, err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	switch {
	case r.From == "" && m.Repository == "":
		return "", fmt.Errorf("it is not a known model (alcove embedder list): name a folder, an archive or an address with --from")
	case r.From == "" && l.Mirror == "":
		return "", errors.New("no mirror is configured: set ALCOVE_EMBEDDER_MIRROR to the address of one, such as that of the hub where " +
			m.Repository + " is published, or name a folder, an archive or an address of the files with --from")
	case r.From == "":
		base, err := address(l.Mirror, true)
		if err != nil {
			return "", err
		}
		return l.downloadFiles(ctx, base.JoinPath(m.Repository, "resolve", m.Revision), m, dir)
	case strings.HasPrefix(r.From, "https://") || strings.HasPrefix(r.From, "http://"):
		return l.fromAddress(ctx, r, m, dir)
	}
	info, err := os.Stat(r.From)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return r.From, l.copyFolder(ctx, r.From, dir)
	}
	return r.From, l.unpack(ctx, r.From, dir)
}

// address reads an address. Without https the files could be changed on the way: that is for files that a digest proves, and for
// this machine.
func address(text string, proven bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("its address is not one of a server: give https://host/…")
	case u.User != nil:
		return nil, fmt.Errorf("%s has a password: give an address without one", u.Redacted())
	case u.Scheme == "http" && !proven && !weburl.IsHere(u.Hostname()):
		return nil, fmt.Errorf("http://%s: without https files can be changed on the way, and no digest proves them: give --digest, or an address of https", u.Host)
	}
	return u, nil
}

func (l Library) fromAddress(ctx context.Context, r Request, m Model, dir string) (source string, err error) {
	u, err := address(r.From, r.Digest != "" || len(m.Files) > 0)
	if err != nil {
		return "", err
	}
	if !isArchive(u.Path) {
		return l.downloadFiles(ctx, u, m, dir)
	}
	file := filepath.Join(dir, "archive-"+path.Base(u.Path))
	defer os.Remove(file)
	if err := l.download(ctx, u, file, longestArchive); err != nil {
		return "", err
	}
	return shown(u), l.unpack(ctx, file, dir)
}

// shown is an address without its query, which may have a token.
func shown(u *url.URL) string {
	bare := *u
	bare.RawQuery, bare.Fragment = "", ""
	return bare.Redacted()
}

// downloadFiles gets the files that lie under an address.
func (l Library) downloadFiles(ctx context.Context, base *url.URL, m Model, dir string) (source string, err error) {
	for _, name := range []string{configFile, tokenizerFile, weightsFile} { // small ones first
		if err := l.download(ctx, base.JoinPath(name), filepath.Join(dir, name), limit(name)); err != nil {
			return "", err
		}
	}
	if m.Repository != "" {
		return shown(base), nil
	}
	pooling, err := pooled(dir)
	if err == nil {
		err = l.download(ctx, base.JoinPath(embed.PoolingFile), pooling, limit(embed.PoolingFile))
	}
	if errors.Is(err, errAbsent) {
		err = nil
	}
	return shown(base), err
}

// errAbsent says that a server does not have a file.
var errAbsent = errors.New("the server answered 404 Not Found")

// pooled makes the folder of the file that says how the vectors of tokens are pooled, and returns the file's path.
func pooled(dir string) (string, error) {
	path := filepath.Join(dir, filepath.FromSlash(embed.PoolingFile))
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

func (l Library) download(ctx context.Context, u *url.URL, to string, most int64) error {
	failed := func(err error) error {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err // without the address, which may have a token
		}
		return fmt.Errorf("download %s: %w", shown(u), err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return failed(err)
	}
	answer, err := l.client().Do(request)
	if err != nil {
		return failed(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return failed(errAbsent)
	}
	if answer.StatusCode != http.StatusOK {
		return failed(fmt.Errorf("the server answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	}
	if err := l.write(ctx, to, answer.Body, most); err != nil {
		return failed(err)
	}
	return nil
}

func (l Library) client() *http.Client {
	if l.Client != nil {
		return l.Client
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = longestAnswer
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > mostRedirects || r.URL.Scheme != "https" && !weburl.IsHere(r.URL.Hostname()) {
			return errors.New("it redirects too often, or to an address that is not of https")
		}
		return nil
	}}
}

// write makes a file of what is read, durably. More than most bytes are an error.
func (l Library) write(ctx context.Context, to string, from io.Reader, most int64) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there are two files %s", filepath.Base(to))
	}
	if err != nil {
		return err
	}
	n, err := io.Copy(f, &counted{ctx, io.LimitReader(from, most+1), l.Copied})
	if err == nil && n > most {
		err = fmt.Errorf("%s has more than %d bytes, which is the limit", filepath.Base(to), most)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// counted tells how much is read, and ends with its context.
type counted struct {
	ctx  context.Context
	from io.Reader
	told func(int)
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	if c.told != nil {
		c.told(n)
	}
	return n, err
}

// copyFolder copies the files of a folder. Symbolic links are followed: a folder of a download cache consists of them.
func (l Library) copyFolder(ctx context.Context, from, dir string) error {
	for _, name := range []string{configFile, tokenizerFile, weightsFile} {
		f, err := regular.Open(filepath.Join(from, name))
		if err != nil {
			return err
		}
		err = l.write(ctx, filepath.Join(dir, name), f, limit(name))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	content, err := regular.Read(filepath.Join(from, filepath.FromSlash(embed.PoolingFile)), limit(embed.PoolingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	path, failed := pooled(dir)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// unpack copies the files of an archive. They are known by their last names, and may lie in any folder of it.
func (l Library) unpack(ctx context.Context, archive, dir string) error {
	if !isArchive(archive) {
		return fmt.Errorf("%s is neither a folder nor an archive (.tar, .tar.gz, .tgz or .zip)", archive)
	}
	f, err := regular.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasSuffix(strings.ToLower(archive), ".zip") {
		err = l.unzip(ctx, f, dir)
	} else {
		err = l.untar(ctx, f, archive, dir)
	}
	if err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
	}
	for _, name := range []string{configFile, tokenizerFile, weightsFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("unpack %s: it has no %s", filepath.Base(archive), name)
		}
	}
	return nil
}

// entry writes an entry of an archive if it is a file of a model.
func (l Library) entry(ctx context.Context, name string, mode fs.FileMode, dir string, open func() (io.ReadCloser, error)) error {
	file := wanted(name)
	if limit(file) == 0 || mode.IsDir() {
		return nil
	}
	if !mode.IsRegular() {
		return fmt.Errorf("%.100q is not a regular file", name)
	}
	content, err := open()
	if err != nil {
		return err
	}
	defer content.Close()
	if file == embed.PoolingFile {
		to, err := pooled(dir)
		if err != nil {
			return err
		}
		return l.write(ctx, to, content, limit(file))
	}
	return l.write(ctx, filepath.Join(dir, file), content, limit(file))
}

// wanted is the file of a model that an entry of an archive is. Folders beside those files have others of the same names.
func wanted(entry string) string {
	entry = strings.ReplaceAll(entry, `\`, "/")
	file, folder := path.Base(entry), path.Base(path.Dir(entry))
	switch {
	case path.Join(folder, file) == embed.PoolingFile:
		return embed.PoolingFile
	case folder == "onnx" || folder == "openvino" || len(folder) > 1 && folder[0] >= '0' && folder[0] <= '9' && folder[1] == '_':
		return ""
	}
	return file
}

func (l Library) untar(ctx context.Context, f io.Reader, name, dir string) error {
	if !strings.HasSuffix(strings.ToLower(name), ".tar") {
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		f = io.LimitReader(unzipped, longestArchive)
	}
	in := tar.NewReader(&counted{ctx: ctx, from: f})
	for range mostEntries {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		mode := header.FileInfo().Mode()
		if header.Typeflag == tar.TypeLink {
			mode |= fs.ModeIrregular
		}
		if err := l.entry(ctx, header.Name, mode, dir, func() (io.ReadCloser, error) { return io.NopCloser(in), nil }); err != nil {
			return err
		}
	}
	return fmt.Errorf("it has more than %d entries, which is the limit", mostEntries)
}

func (l Library) unzip(ctx context.Context, f *os.File, dir string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	if len(in.File) > mostEntries {
		return fmt.Errorf("it has %d entries, and may have %d", len(in.File), mostEntries)
	}
	for _, entry := range in.File {
		if err := l.entry(ctx, entry.Name, entry.Mode(), dir, entry.Open); err != nil {
			return err
		}
	}
	return nil
}
