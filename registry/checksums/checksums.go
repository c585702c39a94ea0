// Package checksums signs the list of a release's SHA-256 sums with its keys, and compares files with a signed list.
package checksums

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/registry/signature"
)

// The names of the list and of its signatures, and the most bytes that each may have.
const (
	List       = "SHA256SUMS"
	Signatures = "SHA256SUMS.sig"
	limit      = 64 << 10
)

// domain keeps a signature of a list from being one of anything else.
const domain = "alcove checksums 1\n"

// Sign returns the signatures of a list by all keys.
func Sign(list []byte, keys ...ed25519.PrivateKey) (string, error) {
	made, err := signature.SignText(domain, string(list), keys...)
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", List, err)
	}
	return made, nil
}

// Report is what a folder of downloads has.
type Report struct {
	Keys  []string // that signed the list
	Files []string // that are what the list says
}

// Verify compares the files in a folder with the list there, which must be signed by a key, in the form of signature.FormatPublic. Files that
// the list names may be absent, and those that it does not name are not looked at; but one at least must be there.
func Verify(folder fs.FS, key string) (r Report, err error) {
	list, err := read(folder, List)
	if err != nil {
		return r, err
	}
	signatures, err := read(folder, Signatures)
	if err != nil {
		return r, err
	}
	if r.Keys, err = signature.VerifyText(domain, string(list), strings.TrimSpace(string(signatures))); err != nil {
		return r, fmt.Errorf("%s: %w: download it again", List, err)
	}
	if !slices.Contains(r.Keys, key) {
		return r, fmt.Errorf("%s is not signed by the key %s: compare it with the published one", List, key)
	}
	sums, err := parse(list)
	if err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		is, err := compare(folder, name, sums[name])
		if err != nil {
			return r, err
		}
		if is {
			r.Files = append(r.Files, name)
		}
	}
	if len(r.Files) == 0 {
		return r, fmt.Errorf("none of the %d files of %s is there: download one beside it", len(sums), List)
	}
	return r, nil
}

// parse reads a list: on each line a sum in hexadecimal, two spaces, and the name of a file below the folder.
func parse(list []byte) (map[string]string, error) {
	sums := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != sha256.Size || !fs.ValidPath(name) || name == "." || path.Clean(name) != name {
			return nil, fmt.Errorf("%s has the line %.100q: want a SHA-256 sum and a file's name", List, line)
		}
		if sums[name] != "" {
			return nil, fmt.Errorf("%s names %.100q twice", List, name)
		}
		sums[name] = strings.ToLower(sum)
	}
	return sums, nil
}

func read(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the release's list of files: %w: also download its %s", err, name)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes: it is not a list of a release", name, limit)
	}
	return data, nil
}

// compare reports whether a file is there, and fails if it is another than its sum says.
func compare(folder fs.FS, name, sum string) (bool, error) {
	info, err := fs.Stat(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := folder.Open(name)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	made := sha256.New()
	if _, err := io.Copy(made, f); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	if got := hex.EncodeToString(made.Sum(nil)); got != sum {
		return false, fmt.Errorf("%s has the sum %s, and the release says %s: download it again", name, got, sum)
	}
	return true, nil
}
