package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// oldCacheFile matches files of the former cache, which stored native code without a MAC.
const oldCacheFile = `^(modules/[0-9a-f]{64}-[A-Za-z0-9._-]+\.wasm|code/wazero-[A-Za-z0-9._+-]+/[0-9a-f]{64}|work/compile-[0-9]+/(module\.wasm|code/wazero-[A-Za-z0-9._+-]+/[0-9a-f]{64}))$`

// RemoveOldCache removes the cache of earlier releases from a directory, and the directory if it is then empty. It does
// nothing if there is none.
func RemoveOldCache(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // links cannot lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	known := regexp.MustCompile(oldCacheFile)
	var folders []string
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, path)
		case entry.Type().IsRegular() && known.MatchString(path):
			return root.Remove(path)
		}
		return nil
	})
	for i := len(folders) - 1; i > 0; i-- { // innermost first
		_ = root.Remove(filepath.FromSlash(folders[i])) // fails if it is not empty
	}
	_ = os.Remove(dir)
	return err
}
