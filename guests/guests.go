// Package guests carries the first-party families, each as a module with its manifest in it.
//
// A binary that is built with the tag guests has them; they are built before by make guests. Any other has none.
package guests

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// Family is a first-party family.
type Family struct {
	Name   string
	Digest string // SHA-256 of the bytes, in hexadecimal digits
	Bytes  []byte // not to be changed
}

// Embedded says whether this binary was built with families in it.
func Embedded() bool { return embedded }

// All are the families of this binary, in the order of their names; none in a binary that was built without them.
func All() []Family {
	all, err := families(files)
	if err != nil {
		panic(err) // what go:embed took can be read
	}
	return all
}

func families(files embed.FS) ([]Family, error) {
	entries, err := files.ReadDir(".")
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	if entries, err = files.ReadDir("dist"); err != nil {
		return nil, err
	}
	var all []Family
	for _, e := range entries {
		data, err := files.ReadFile(path.Join("dist", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the family %s: %w", e.Name(), err)
		}
		sum := sha256.Sum256(data)
		all = append(all, Family{Name: strings.TrimSuffix(e.Name(), ".wasm"), Digest: hex.EncodeToString(sum[:]), Bytes: data})
	}
	return all, nil
}
