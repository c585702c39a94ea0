package sandbox

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// cache stores rewritten modules and their native code for all processes of a user. Each entry ends with a MAC of its name
// and content, whose key is stored elsewhere. An entry with an invalid MAC is removed, never run.
type cache struct {
	dir  string     // empty: caching is off
	held privateDir // dir
	key  []byte
	most int64 // bytes
}

// Directories of the cache.
const (
	dirAdmitted = "admitted" // results of checks, by module digest and version of the checks
	dirBodies   = "bodies"   // likewise, by the digest of the module without custom sections
	dirCode     = "code"     // rewritten modules and native code, by digest of the rewritten module and engine
	dirWork     = "work"     // one directory per process
)

const (
	defaultCacheBytes = 512 << 20
	// keptFor is how long an unused entry is kept.
	keptFor = 90 * 24 * time.Hour
	// touchedEvery is how often use updates an entry's modification time.
	touchedEvery = time.Hour
	// abandonedAfter is the age at which unfinished files are removed.
	abandonedAfter = time.Hour
)

// openCache opens the cache in a directory, which must be private to its owner.
func openCache(dir, keyFile string, most int64) (*cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	h, err := holdCache(dir)
	if err != nil {
		return nil, err
	}
	c := &cache{dir: h.path, held: h, most: cmp.Or(most, defaultCacheBytes)}
	if err := c.open(keyFile); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return c, nil
}

// holdCache holds the directory of a cache. Who can rename it can also put another directory of this user in its place, whose files must
// not be evicted.
func holdCache(dir string) (privateDir, error) {
	h, err := hold(dir)
	if err != nil || h.pin == nil {
		return h, err
	}
	entries, err := os.ReadDir(h.path)
	for _, e := range entries {
		if !slices.Contains(cacheDirs(), e.Name()) {
			err = fmt.Errorf("%s has %s, which is of no cache: choose an empty directory", dir, e.Name())
		}
	}
	if err != nil {
		return privateDir{}, errors.Join(err, h.close())
	}
	return h, nil
}

// cacheDirs lists the names in a cache.
func cacheDirs() []string { return []string{dirAdmitted, dirBodies, dirCode, dirWork} }

func (c *cache) open(keyFile string) (err error) {
	for _, name := range cacheDirs() {
		if err := private(c.path(name, "")); err != nil {
			return err
		}
	}
	if c.key, err = readKey(keyFile); err != nil {
		return err
	}
	c.evict()
	return nil
}

func (c *cache) path(kind, name string) string { return filepath.Join(c.dir, kind, name) }

func (c *cache) mac(kind, name string) hash.Hash {
	m := hmac.New(sha256.New, c.key)
	fmt.Fprintf(m, "alcove %s 1\n%s\n", kind, name) // neither has a line break
	return m
}

// put writes an entry. It does not sync: the MAC exposes an entry that a power failure truncated.
func (c *cache) put(kind, name string, write func(io.Writer) error) (err error) {
	if c.dir == "" {
		return nil
	}
	f, err := os.CreateTemp(filepath.Join(c.dir, kind), ".*"+partial)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // no effect once closed
			_ = os.Remove(f.Name())
		}
	}()
	mac := c.mac(kind, name)
	if err := write(io.MultiWriter(f, mac)); err != nil {
		return err
	}
	if _, err := f.Write(mac.Sum(nil)); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), c.path(kind, name)); err != nil {
		return err
	}
	c.evict()
	return nil
}

const partial = ".partial"

// errNoEntry means that the cache has no valid entry of that name.
var errNoEntry = errors.New("the cache has no such entry")

// get reads an entry. The data passed to read is valid only if get returns nil. Other errors are errNoEntry or I/O errors.
func (c *cache) get(kind, name string, read func(r io.Reader, size int64) error) error {
	if c.dir == "" {
		return errNoEntry
	}
	path := c.path(kind, name)
	f, err := openEntry(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoEntry
	}
	if err == nil {
		err = c.readEntry(f, kind, name, read)
		f.Close()
	}
	if errors.Is(err, errInvalid) {
		os.Remove(path)
		return fmt.Errorf("%w: %w", errNoEntry, err)
	}
	return err
}

// errInvalid means that an entry is not authentic under its name and this key.
var errInvalid = errors.New("it differs from what was stored under its name")

// openEntry opens an entry, which must be a regular file that only its owner can write.
func openEntry(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err != nil || !ours(info) {
		return nil, cmp.Or(err, errInvalid)
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !ours(info) {
		f.Close()
		return nil, cmp.Or(err, errInvalid)
	}
	return f, nil
}

func (c *cache) readEntry(f *os.File, kind, name string, read func(r io.Reader, size int64) error) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - sha256.Size
	if size < 0 || size > 2*maxEntry {
		return errInvalid
	}
	mac := c.mac(kind, name)
	content := io.TeeReader(io.LimitReader(f, size), mac)
	if err := read(content, size); err != nil {
		return err
	}
	if n, err := io.Copy(io.Discard, content); err != nil || n > 0 {
		return cmp.Or(err, errInvalid)
	}
	var sum [sha256.Size]byte
	if _, err := io.ReadFull(f, sum[:]); err != nil || !hmac.Equal(sum[:], mac.Sum(nil)) {
		return errInvalid
	}
	if time.Since(info.ModTime()) > touchedEvery {
		now := time.Now()
		_ = os.Chtimes(f.Name(), now, now) // on failure it is evicted sooner
	}
	return nil
}

// cacheFile is a cache file, for eviction.
type cacheFile struct {
	path string
	size int64
	used time.Time
}

// evict removes expired entries, then the least recently used until the rest fits the bound. Other processes may evict
// concurrently, or read a removed entry: they have it open, or compile it again.
func (c *cache) evict() {
	c.sweep()
	var total int64
	files := c.files()
	slices.SortFunc(files, func(a, b cacheFile) int { return a.used.Compare(b.used) })
	files = slices.DeleteFunc(files, abandoned)
	for _, f := range files {
		total += f.size
	}
	for _, f := range files {
		if total <= c.most && time.Since(f.used) <= keptFor {
			return
		}
		if os.Remove(f.path) == nil {
			total -= f.size
		}
	}
}

// abandoned reports whether a file is unfinished, and removes it once its writer must be gone.
func abandoned(f cacheFile) bool {
	if !strings.HasSuffix(f.path, partial) {
		return false
	}
	if time.Since(f.used) > abandonedAfter {
		os.Remove(f.path)
	}
	return true
}

// files lists entries and unfinished files.
func (c *cache) files() (list []cacheFile) {
	for _, kind := range []string{dirAdmitted, dirBodies, dirCode} {
		entries, _ := os.ReadDir(filepath.Join(c.dir, kind)) // what cannot be listed cannot be removed
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue
			}
			list = append(list, cacheFile{c.path(kind, e.Name()), info.Size(), info.ModTime()})
		}
	}
	return list
}

// Use describes how full a cache is.
type Use struct {
	Modules     int   // with native code
	Bytes, Most int64 // of all entries, and their limit
}

// CacheUse inspects a cache without changing it. A missing cache counts as empty. A cache that a sandbox would not use is an
// error.
func CacheUse(config Cache) (Use, error) {
	u := Use{Most: cmp.Or(config.Bytes, defaultCacheBytes)}
	h, err := holdCache(config.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	defer h.close()
	c := &cache{dir: h.path}
	for _, f := range c.files() {
		u.Bytes += f.size
		if filepath.Dir(f.path) == c.path(dirCode, "") {
			u.Modules++
		}
	}
	return u, nil
}

// sweep removes the work directories of killed processes.
func (c *cache) sweep() {
	entries, _ := os.ReadDir(filepath.Join(c.dir, dirWork))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			os.RemoveAll(c.path(dirWork, e.Name())) // a live process recreates its directory
		}
	}
}

// entryName returns the name of an entry that depends on all parts.
func entryName(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
