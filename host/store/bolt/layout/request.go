package layout

import (
	"encoding/json"
	"math"

	"github.com/alcove-memory/alcove/host/store"
)

// Request is what is kept of a request.
type Request struct {
	Digest    []byte   `json:"digest"`
	Version   uint64   `json:"version"`
	Micros    int64    `json:"micros"`
	Sequences []uint64 `json:"sequences,omitempty"`
}

func RequestKey(r store.Request) []byte {
	return append(append([]byte(r.Caller), 0), r.ID...)
}

func AgeKey(micros int64, request []byte) []byte { return append(U64(uint64(micros)), request...) }

// SplitAgeKey is when a request was used, and its key. What cannot be read is as old as can be.
func SplitAgeKey(key []byte) (micros int64, request []byte) {
	if len(key) < 8 {
		return math.MinInt64, nil
	}
	return int64(FromU64(key[:8])), key[8:]
}

// LastUsed reports whether a remembered request was last used at that instant. One that cannot be read may go.
func LastUsed(data []byte, micros int64) bool {
	var was Request
	return json.Unmarshal(data, &was) != nil || was.Micros == micros
}
