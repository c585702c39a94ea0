package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
)

// policy is what the browser lets the application do: nothing that is not its own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; report-uri " + api + "csp"

// protected sets the headers that protect the console in a browser.
func protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

const (
	index  = "index.html"
	assets = "assets/" // files whose names have a hash of their content
)

// files are the built application, which is small enough for memory. They are read when a browser first asks for one.
type files struct {
	read func() (map[string]file, error)
}

func newFiles(from fs.FS) *files {
	return &files{sync.OnceValues(func() (map[string]file, error) { return readFiles(from) })}
}

type file struct {
	data   []byte
	packed []byte // by gzip; nil: it would not be smaller
	kind   string // content type
	tag    string // ETag, without quotes
}

func readFiles(from fs.FS) (map[string]file, error) {
	list := map[string]file{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && name == viewFiles { // which browsers do not open
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		digest := sha256.Sum256(data)
		list[name] = file{data, packed(data), kindOf(name), hex.EncodeToString(digest[:16])}
		return err
	})
	return list, err
}

// packed returns data as gzip packs it, if that is worth it.
func packed(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil || w.Close() != nil || out.Len() > len(data)*9/10 {
		return nil
	}
	return out.Bytes()
}

// kindOf returns the content type of a file. Those of a web application are not left to the machine's table.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".webmanifest":
		return "application/manifest+json"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// ServeHTTP serves a file, or the application for a path that is one of its own.
func (f *files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		listen.Refuse(w, refusal(http.StatusMethodNotAllowed, memory.InvalidArgument, "", "the console's files are read with GET"))
		return
	}
	name := strings.TrimPrefix(r.URL.Path, Path)
	list, err := f.read()
	if err != nil {
		listen.Refuse(w, refusal(http.StatusInternalServerError, memory.Internal, "", "the console's files could not be read"))
		return
	}
	found, ok := list[name]
	if !ok && !strings.HasPrefix(name, assets) || name == "" { // a place in the application may be called like a file
		name = index
		found, ok = list[index]
	}
	if !ok {
		listen.Refuse(w, refusal(http.StatusNotFound, memory.NotFound, "", "the console has no file "+clipped(name)))
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, assets) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data := found.data
	if found.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data, found.tag = found.packed, found.tag+"-gzip"
	}
	h.Set("ETag", `"`+found.tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
