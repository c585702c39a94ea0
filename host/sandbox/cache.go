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

// cache keeps modules as they were rewritten, and their native code, for all processes of a user. Each entry ends with a MAC
// of its name and its content, whose key is kept elsewhere: an entry without a valid one is removed, never run.
type cache struct {
	dir  string // empty: nothing is kept
	key  []byte
	most int64 // bytes
}

// Directories of the cache.
const (
	dirAdmitted = "admitted" // what the checks of a module found, by the module's digest and the version of the checks
	dirBodies   = "bodies"   // likewise, by the digest of all but the module's custom sections
	dirCode     = "code"     // rewritten modules with their native code, by the digest of the rewritten module and the engine
	dirWork     = "work"     // one directory for each process that uses the cache
)

const (
	defaultCacheBytes = 512 << 20
	// keptFor is how long an entry is kept that nobody uses.
	keptFor = 90 * 24 * time.Hour
	// touchedEvery is how often the use of an entry is noted, as its time of modification.
	touchedEvery = time.Hour
	// abandonedAfter is when a file of a process that did not finish it is removed.
	abandonedAfter = time.Hour
)

// openCache opens the cache in a directory, which only its owner may be able to use.
func openCache(dir, keyFile string, most int64) (*cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"", dirAdmitted, dirBodies, dirCode, dirWork} {
		if err := private(filepath.Join(dir, sub)); err != nil {
			return nil, err
		}
	}
	if err := unexposed(dir); err != nil {
		return nil, err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return nil, err
	}
	c := &cache{dir: dir, key: key, most: cmp.Or(most, defaultCacheBytes)}
	c.evict()
	return c, nil
}

func (c *cache) path(kind, name string) string { return filepath.Join(c.dir, kind, name) }

func (c *cache) mac(kind, name string) hash.Hash {
	m := hmac.New(sha256.New, c.key)
	fmt.Fprintf(m, "alcove %s 1\n%s\n", kind, name) // neither has a line break
	return m
}

// put writes an entry. It is not synced: after a power failure its MAC shows that it is not whole.
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
			_ = f.Close() // without effect once it is closed
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

// errNoEntry means that the cache has no valid entry of a name.
var errNoEntry = errors.New("the cache has no such entry")

// get reads an entry. What read was given is valid only if get returns nil; otherwise the error is errNoEntry, or of the disk.
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

// errInvalid means that an entry is not what was put under its name with this key.
var errInvalid = errors.New("it is not what was stored under its name")

// openEntry opens an entry, which only its owner may be able to write, and which is no link.
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
		_ = os.Chtimes(f.Name(), now, now) // otherwise it is evicted sooner
	}
	return nil
}

// cacheFile is a file of the cache, for its eviction.
type cacheFile struct {
	path string
	size int64
	used time.Time
}

// evict removes what nobody used for long, then what was used longest ago until the rest is within the bound. Other processes
// may do the same, and may read what is removed: they have it open, or compile it again.
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

// abandoned removes what was not finished, once its writer is surely gone, and says whether a file is of that kind.
func abandoned(f cacheFile) bool {
	if !strings.HasSuffix(f.path, partial) {
		return false
	}
	if time.Since(f.used) > abandonedAfter {
		os.Remove(f.path)
	}
	return true
}

// files lists the entries, and what was not finished.
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

// Use is how full a cache is.
type Use struct {
	Modules     int   // whose native code is kept
	Bytes, Most int64 // of all entries, and what they may have
}

// CacheUse looks at a cache without changing it. A cache that is not there yet is empty; one that a sandbox would not use is an
// error.
func CacheUse(config Cache) (Use, error) {
	c := &cache{dir: config.Dir, most: cmp.Or(config.Bytes, defaultCacheBytes)}
	u := Use{Most: c.most}
	if _, err := os.Lstat(c.dir); errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err := errors.Join(checkPrivate(c.dir), unexposed(c.dir)); err != nil {
		return u, err
	}
	for _, f := range c.files() {
		u.Bytes += f.size
		if filepath.Dir(f.path) == c.path(dirCode, "") {
			u.Modules++
		}
	}
	return u, nil
}

// sweep removes the files of processes that were killed.
func (c *cache) sweep() {
	entries, _ := os.ReadDir(filepath.Join(c.dir, dirWork))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			os.RemoveAll(c.path(dirWork, e.Name())) // a process that lives makes its directory again
		}
	}
}

// entryName is the name of an entry that depends on all these.
func entryName(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
