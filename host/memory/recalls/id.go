package recalls

import (
	"crypto/rand"
	"encoding/binary"
	"math/big"
	"strings"
	"time"
)

const (
	prefix    = "rec:"
	digits    = 26 // of a ULID: 128 bits in base 32
	longestID = 64 // bytes; newID's are shorter
)

// crockford replaces the digits of base 32 by those of ULIDs, which sort alike.
var crockford = strings.NewReplacer("a", "A", "b", "B", "c", "C", "d", "D", "e", "E", "f", "F", "g", "G", "h", "H",
	"i", "J", "j", "K", "k", "M", "l", "N", "m", "P", "n", "Q", "o", "R", "p", "S", "q", "T", "r", "V", "s", "W", "t", "X", "u", "Y", "v", "Z")

// newID returns a random id: a prefix and a ULID, which sorts by time.
func newID(now time.Time) string {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(0, now.UnixMilli())))
	var b [16]byte
	copy(b[:6], ms[2:])
	rand.Read(b[6:])
	text := crockford.Replace(new(big.Int).SetBytes(b[:]).Text(32))
	return prefix + strings.Repeat("0", digits-len(text)) + text
}
