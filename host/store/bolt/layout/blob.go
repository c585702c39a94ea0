package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/store"
)

// DecodeBlob reads a blob's record. Its digest is the name of a file, so it must not lead elsewhere.
func DecodeBlob(data []byte) (store.Blob, error) {
	var blob store.Blob
	if err := json.Unmarshal(data, &blob); err != nil {
		return blob, fmt.Errorf("decode the record of a blob: %w", err)
	}
	return blob, CheckDigest(blob.Digest)
}

func CheckDigest(digest string) error {
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("a blob has the digest %.100q, which is none", digest)
	}
	return nil
}

func CheckBlobName(name string) error {
	if name == "" || len(name) > 1<<10 {
		return fmt.Errorf("a name of 1 to 1024 bytes is needed, not of %d", len(name))
	}
	return nil
}

// Blob opens the record of a blob.
func (p Table) Blob(name, data []byte) (store.Blob, error) {
	value, err := p.Open(name, data)
	if err != nil {
		return store.Blob{}, err
	}
	return DecodeBlob(value)
}
