package fact

import alcove "github.com/alcove-memory/alcove/sdk/go"

// The digits of a ULID, and how many there are of its time and of the rest.
const (
	digits     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	timeDigits = 10
	restDigits = 16
)

// Since is what the ids of Call.NewID begin with that were made at a moment: earlier ones sort before it, later ones behind.
func Since(prefix string, at alcove.Time) string {
	id := append([]byte(prefix), make([]byte, timeDigits)...)
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
