package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/store"
)

// DecodeBlob decodes the record of a blob. Its digest becomes the name of a file, so one that is none is an error.
func DecodeBlob(data []byte) (store.Blob, error) {
	var blob store.Blob
	if err := json.Unmarshal(data, &blob); err != nil {
		return blob, fmt.Errorf("decode the record of a blob: %w", err)
	}
	return blob, CheckDigest(blob.Digest)
}

// CheckDigest reports an error unless a digest is a SHA-256 in hexadecimal: it becomes the name of a file.
func CheckDigest(digest string) error {
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("the digest %.100q of a blob is not a SHA-256", digest)
	}
	return nil
}

// CheckBlobName reports an error unless a name has 1 to 1024 bytes.
func CheckBlobName(name string) error {
	if name == "" || len(name) > 1<<10 {
		return fmt.Errorf("the name of a blob has %d bytes: 1 to 1024 are allowed", len(name))
	}
	return nil
}

// Blob verifies and decodes the record of a blob.
func (t Table) Blob(name, data []byte) (store.Blob, error) {
	value, err := t.Open(name, data)
	if err != nil {
		return store.Blob{}, err
	}
	return DecodeBlob(value)
}
