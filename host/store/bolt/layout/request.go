package layout

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/alcove-memory/alcove/host/store"
)

// Request is the outcome of a request, stored so that its repetition is answered the same way.
type Request struct {
	Digest    []byte   `json:"digest"`
	Version   uint64   `json:"version"`
	Micros    int64    `json:"micros"`
	Sequences []uint64 `json:"sequences,omitempty"`
}

// RequestKey is the key of a request.
func RequestKey(r store.Request) []byte {
	return append(append([]byte(r.Caller), 0), r.ID...)
}

// movedRequest begins the key of a request that was made before the space was moved here. No caller's name begins with it.
const movedRequest = 0xff

// MovedRequestKey is the key of a request of which only the identity is known.
func MovedRequestKey(identity [32]byte) []byte { return append([]byte{movedRequest}, identity[:]...) }

// RequestIdentity returns the identity of the request with a key.
func RequestIdentity(key []byte) (identity [32]byte) {
	if len(key) == 1+len(identity) && key[0] == movedRequest {
		return [32]byte(key[1:])
	}
	caller, id, _ := bytes.Cut(key, []byte{0})
	return store.IdentityOf(string(caller), string(id))
}

// AgeKey is the key of a request in the index by age: when it was used, in µs, and its own key.
func AgeKey(micros int64, request []byte) []byte { return append(U64(uint64(micros)), request...) }

// SplitAgeKey is the inverse of AgeKey. A key that is truncated is as old as can be.
func SplitAgeKey(key []byte) (micros int64, request []byte) {
	if len(key) < 8 {
		return math.MinInt64, nil
	}
	return int64(FromU64(key[:8])), key[8:]
}

// LastUsed reports whether an encoded Request was last used at an instant, in µs. One that cannot be decoded counts as such.
func LastUsed(data []byte, micros int64) bool {
	var was Request
	return json.Unmarshal(data, &was) != nil || was.Micros == micros
}
