package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Event is how an event of the log is stored. The chain is over digests, so that a payload can be erased and the chain still be
// checked.
type Event struct {
	Event  string          `json:"e"`
	Data   json.RawMessage `json:"d,omitempty"`
	Agent  string          `json:"a,omitempty"`
	Digest string          `json:"g"`
	Hash   string          `json:"h"`
}

// Encode writes the event. Its data keep their bytes.
func (r Event) Encode() ([]byte, error) { return jsontext.Encode(r) }

// DecodeEvent reads the event of an entry.
func DecodeEvent(e store.Entry) (Event, error) {
	var r Event
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return r, fmt.Errorf("decode event %s at version %d: %w", e.Key, e.Version, err)
	}
	return r, nil
}

func describeEvent(d *search.Doc, e store.Entry) error {
	r, err := DecodeEvent(e)
	if err != nil {
		return err
	}
	d.Text, d.Type, d.State, d.Agent = append([]string{r.Event}, jsontext.Strings(r.Data)...), r.Event, search.Active, r.Agent
	return nil
}

// chain hashes an event onto the one before it: SHA-256 over a label, the hash before (empty for the first),
// the sequence number, the instant in µs, the event's name, the agent and the data's digest, each with its
// length in front where it varies.
func chain(before string, sequence uint64, at store.Point, r Event) string {
	h := sha256.New()
	field := func(text string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	number := func(n uint64) {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	field("alcove log 1")
	field(before)
	number(sequence)
	number(uint64(at.Time.UnixMicro()))
	field(r.Event)
	field(r.Agent)
	field(r.Digest)
	return hex.EncodeToString(h.Sum(nil))
}

// Append is the append of an event to the log of a namespace. It gives the event its digest, and its hash once it has a place in the
// log.
func (r Event) Append(l store.Lineage, namespace string) store.Append {
	r.Digest = Digest(r.Data)
	return store.Append{
		Lineage: l, Namespace: namespace, Collection: Events,
		Seal: func(last store.Entry, sequence uint64, at store.Point) ([]byte, error) {
			var before Event
			if last.Version != 0 {
				var err error
				if before, err = DecodeEvent(last); err != nil {
					return nil, err
				}
			}
			sealed := r
			sealed.Hash = chain(before.Hash, sequence, at, r)
			return sealed.Encode()
		},
	}
}

// Digest is the SHA-256 of data, hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Verify checks that the event continues the chain whose last hash is before, and that its data, unless they were purged, are what
// was logged.
func (r Event) Verify(before string, sequence uint64, at store.Point) error {
	if err := r.Unaltered(sequence); err != nil {
		return err
	}
	if chain(before, sequence, at, r) != r.Hash {
		return fmt.Errorf("verify log: event %d does not continue the chain", sequence)
	}
	return nil
}

// Unaltered checks the data of the event against its digest. Purged data pass.
func (r Event) Unaltered(sequence uint64) error {
	if r.Data != nil && Digest(r.Data) != r.Digest {
		return fmt.Errorf("verify log: the data of event %d differs from what was logged", sequence)
	}
	return nil
}
