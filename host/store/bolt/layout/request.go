package layout

import (
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

// AgeKey is the key of a request in the index by age: when it was used, in µs, and its own key.
func AgeKey(micros int64, request []byte) []byte { return append(U64(uint64(micros)), request...) }

// SplitAgeKey is the inverse of AgeKey. A key that is cut short is as old as can be.
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
