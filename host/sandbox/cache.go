package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/host/durable"
)

// maxPages is how many pages of 64 KiB a memory can have at all.
const maxPages = 1 << 16

// cache keeps modules as they were rewritten, and their native code, in a directory of its owner alone: native code
// is run as it is found.
type cache struct {
	dir    string
	wazero wazero.CompilationCache
}

// Directories of the cache.
const (
	dirModules = "modules" // rewritten modules, named by the digest of the original and the rewriter's version
	dirCode    = "code"    // wazero's cache
	dirWork    = "work"    // one directory for each compiler that runs
)

func openCache(dir string) (*cache, error) {
	if dir == "" {
		return nil, errors.New("open the cache of modules: no directory was given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of modules: %w", err)
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	for _, sub := range []string{dirModules, dirCode, dirWork} {
		if err := private(filepath.Join(dir, sub)); err != nil {
			return nil, err
		}
	}
	sweep(filepath.Join(dir, dirWork))
	expire(filepath.Join(dir, dirModules))
	expire(filepath.Join(dir, dirCode))
	w, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, dirCode))
	if err != nil {
		return nil, fmt.Errorf("open the cache of modules: %w", err)
	}
	return &cache{dir: dir, wazero: w}, nil
}

// sweep removes what compilers left that were interrupted. Those of other processes may still run.
func sweep(work string) {
	entries, err := os.ReadDir(work)
	if err != nil {
		return // there is nothing to clean
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(filepath.Join(work, e.Name()))
		}
	}
}

// keptFor is how long a compiled module is kept: then it is compiled again, should anybody still want it.
const keptFor = 90 * 24 * time.Hour

// expire removes what was compiled long ago, so that the cache does not grow with every version of every module for ever.
func expire(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // what cannot be looked at is no reason to do without a cache
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			os.Remove(path)
		}
		return nil
	})
}

// private makes a directory that only its owner can use, or checks that it is one.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("open the cache of modules: %w", err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("open the cache of modules: %w", err)
	case !info.IsDir():
		return fmt.Errorf("open the cache of modules: %s is no directory: choose another one", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("open the cache of modules: others can enter %s (%v), and could put code there: run chmod 700 on it", dir, info.Mode().Perm())
	case !owned(info):
		return fmt.Errorf("open the cache of modules: %s belongs to another user, who could put code there: choose another directory", dir)
	}
	return nil
}

func (c *cache) close() error { return c.wazero.Close(context.Background()) }

// name is the file of a rewritten module.
func (c *cache) name(digest [sha256.Size]byte, version string) string {
	return filepath.Join(c.dir, dirModules, hex.EncodeToString(digest[:])+"-"+version+".wasm")
}

// rewritten is the module of that digest as it was rewritten; nil when it is not there.
func (c *cache) rewritten(digest [sha256.Size]byte, version string, limit int64) []byte {
	name := c.name(digest, version)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}

// keep stores a rewritten module, whose native code is there already.
func (c *cache) keep(digest [sha256.Size]byte, version string, data []byte) error {
	if err := durable.WriteFile(c.name(digest, version), data, 0o600); err != nil {
		return fmt.Errorf("keep a rewritten module: %w", err)
	}
	return nil
}

// takeOver moves the one compiled module that a compiler wrote into wazero's cache, after checking it.
func (c *cache) takeOver(from string, functions int) error {
	var found []string
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("take over a compiled module: %w", err)
	}
	if len(found) != 1 {
		return fmt.Errorf("take over a compiled module: the compiler left %d files, not 1", len(found))
	}
	info, err := os.Lstat(found[0])
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxEntry {
		return fmt.Errorf("take over a compiled module: it is no file of at most %d bytes (%v)", maxEntry, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return fmt.Errorf("take over a compiled module: %w", err)
	}
	if err := checkEntry(data, functions); err != nil {
		return err
	}
	return c.add(from, found[0], data)
}

// entryName is the form of wazero's names: its version and the platform, and a key of what was compiled.
var entryName = regexp.MustCompile(`^wazero-[A-Za-z0-9._+-]+/[0-9a-f]{64}$`)

// add writes what was checked to the same place in wazero's cache.
func (c *cache) add(from, path string, data []byte) error {
	relative, err := filepath.Rel(from, path)
	if err != nil {
		return fmt.Errorf("take over a compiled module: %w", err)
	}
	if !entryName.MatchString(filepath.ToSlash(relative)) {
		return fmt.Errorf("take over a compiled module: %q is no name that the compiler gives", relative)
	}
	target := filepath.Join(c.dir, dirCode, relative)
	if err := private(filepath.Dir(target)); err != nil {
		return err
	}
	if err := durable.WriteFile(target, data, 0o600); err != nil {
		return fmt.Errorf("take over a compiled module: %w", err)
	}
	return nil
}
