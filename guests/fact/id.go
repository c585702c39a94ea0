package fact

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// The digits of a ULID, and how many there are of its time and of the rest.
const (
	digits     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	timeDigits = 10
	restDigits = 16
)

// NewID is the id of the nth new record of a request: a prefix such as rec, and a ULID, which sorts by time. A repeated request gets the same
// ids.
func NewID(c *alcove.Call, prefix string, n int) string {
	id := append([]byte(Since(prefix, c.Time())), make([]byte, restDigits)...)
	seed := c.RequestID + "\x00" + c.Caller + "\x00" + c.Now + "\x00" + strconv.Itoa(n)
	for half := range 2 {
		h := hash(seed + strconv.Itoa(half))
		for i := range restDigits / 2 {
			id[len(id)-1-half*restDigits/2-i] = digits[h&31]
			h >>= 5
		}
	}
	return string(id)
}

// Since is what the ids of a prefix begin with that were made at a moment: earlier ones sort before it, later ones behind.
func Since(prefix string, at alcove.Time) string {
	id := append([]byte(prefix+":"), make([]byte, timeDigits)...)
	ms := uint64(max(at, 0)) / 1000
	for i := range timeDigits {
		id[len(id)-1-i] = digits[ms&31]
		ms >>= 5
	}
	return string(id)
}

// TimeOf is the moment at which an id was made, to the millisecond; false for what is no id.
func TimeOf(id string) (at alcove.Time, ok bool) {
	for i := range len(id) {
		if id[i] == ':' {
			id = id[i+1:]
			break
		}
	}
	if len(id) != timeDigits+restDigits {
		return 0, false
	}
	ms := uint64(0)
	for i := range timeDigits {
		d := digit(id[i])
		if d < 0 {
			return 0, false
		}
		ms = ms<<5 | uint64(d)
	}
	return alcove.Time(ms * 1000), true
}

func digit(c byte) int {
	for i := range len(digits) {
		if digits[i] == c {
			return i
		}
	}
	return -1
}

// hash is FNV-1a of a text, of 64 bits, whose bits are then mixed.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}
