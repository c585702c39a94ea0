package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what an entry reports.
type Kind string

// The kinds of entries.
const (
	Began      Kind = "began"     // a server began, with the lock file in force
	Edited     Kind = "edited"    // the lock file is not what was last accepted, and a locked server refuses it: Digest is its SHA-256
	Repaired   Kind = "repaired"  // bytes at the end of a file that were no whole entry were removed
	Damaged    Kind = "damaged"   // the file before cannot be verified; the log continues after its last good entry
	Dropped    Kind = "dropped"   // the oldest files were deleted to make room
	Loaded     Kind = "loaded"    // a family's module was admitted
	Refused    Kind = "refused"   // a module was not admitted
	Installed  Kind = "installed" // an operator installed a module
	Removed    Kind = "removed"   // an operator removed a family
	Granted    Kind = "granted"   // an operator changed what a family may do
	Operated   Kind = "operated"  // an operator's act begins, or with Of it failed: Work is the act, Person who did it
	Changed    Kind = "changed"   // an operator changed endpoints, roots, trusted keys or API keys, or edited the lock file
	FromBackup Kind = "restored"  // Person restored the data directory from a copy: Detail names the former log's head
	Denied     Kind = "denied"    // a client was refused something; its denials have a Count of those since the entry before
	Undone     Kind = "undone"    // an operator reverted what a family wrote
	Called     Kind = "call"      // a guest handled a request
	Wrote      Kind = "wrote"     // a commit of a guest's request: Of is the entry of the call
	Recovered  Kind = "recovered" // a call that wrote, whose entries a crash lost: from the note of its commit
)

// Entry is a line of the log. It has no argument, value, key of a memory or secret.
type Entry struct {
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Kind   Kind      `json:"kind"`
	Family string    `json:"family,omitempty"`
	Digest string    `json:"digest,omitempty"` // SHA-256 of the module, hexadecimal
	Work   string    `json:"work,omitempty"`   // "tool NAME", "hook NAME" or "job NAME"

	Person    string `json:"person,omitempty"` // of an act or a restore: who the operator is, as far as the server knows
	Reason    string `json:"reason,omitempty"` // likewise: as the operator gave it
	Agent     string `json:"agent,omitempty"`
	Key       string `json:"key,omitempty"` // id of the API key
	Client    string `json:"client,omitempty"`
	Session   string `json:"session,omitempty"`
	Call      string `json:"call,omitempty"` // id of the call or job
	Namespace string `json:"namespace,omitempty"`
	Branch    string `json:"branch,omitempty"`
	DryRun    bool   `json:"dry_run,omitempty"`

	Ops     map[string]int `json:"ops,omitempty"` // operations of the host, by name
	Denied  []Denial       `json:"denied,omitempty"`
	Fuel    int64          `json:"fuel,omitempty"`
	Memory  int64          `json:"memory,omitempty"`  // peak, bytes
	Took    int64          `json:"took_us,omitempty"` // microseconds
	Outcome string         `json:"outcome,omitempty"` // class of the result

	Version uint64 `json:"version,omitempty"` // of the commit
	Of      uint64 `json:"of,omitempty"`      // the entry of the call that wrote
	// Upto is the version up to which every commit of a family has its entry.
	Upto   uint64 `json:"upto,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Removed is the last of the entries that make room, as NUMBER:HASH: what is left of the log continues it.
	Removed string `json:"removed,omitempty"`
	// Lock is the SHA-256 of the lock file in force from this entry on, as registry.Encode has it, and Locked whether the data directory is
	// locked from then on. The first entry of a file repeats them.
	Lock   string `json:"lock,omitempty"`
	Locked bool   `json:"locked,omitempty"`
	Prev   string `json:"prev,omitempty"` // hash of the entry before the first of a file
}

// Denial is a refused operation with the rule that refused it.
type Denial struct {
	Op    string `json:"op"`
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Limits of what guests and clients can make an entry hold.
const (
	longestText   = 200 // bytes of a text
	longestRule   = 300
	longestDetail = 2000
	longestReason = 500
	longestOp     = 48
	mostDenials   = 8 // different ones of a call
	mostOps       = 64
	longestLine   = 64 << 10 // bytes; JSON escapes a byte with at most six
)

// Deny adds a refused operation. Further ones beyond a limit are counted with the last.
func (e *Entry) Deny(op, rule string) {
	op, rule = clip(op, longestOp), clip(rule, longestRule)
	for i := range e.Denied {
		if e.Denied[i].Op == op && e.Denied[i].Rule == rule {
			e.Denied[i].Count++
			return
		}
	}
	if len(e.Denied) == mostDenials {
		e.Denied[mostDenials-1].Count++
		return
	}
	e.Denied = append(e.Denied, Denial{op, rule, 1})
}

// Used counts an operation.
func (e *Entry) Used(op string) {
	op = clip(op, longestOp)
	if e.Ops == nil {
		e.Ops = map[string]int{}
	}
	if _, known := e.Ops[op]; !known && len(e.Ops) >= mostOps {
		op = "(others)"
	}
	e.Ops[op]++
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// bounded returns the entry with its texts cut to their limit.
func (e Entry) bounded() Entry {
	for _, text := range []*string{&e.Family, &e.Digest, &e.Work, &e.Person, &e.Agent, &e.Key, &e.Client, &e.Session, &e.Call, &e.Namespace, &e.Branch, &e.Outcome, &e.Lock} {
		*text = clip(*text, longestText)
	}
	e.Detail, e.Reason = clip(e.Detail, longestDetail), clip(e.Reason, longestReason)
	return e
}

// Account returns what the note of a commit keeps of the entry, beside its author: Restored reads it.
func (e Entry) Account() json.RawMessage {
	e = e.bounded()
	e.Family, e.Agent, e.Client, e.Session, e.Call, e.Branch = "", "", "", "", "", ""
	account := append(e.appendBody(nil), '}')
	if len(account) > mostAccount {
		e = Entry{Digest: clip(e.Digest, longestOp+16), Fuel: e.Fuel, Memory: e.Memory, Took: e.Took, Seq: e.Seq}
		account = append(e.appendBody(nil), '}')
	}
	return account
}

// Restored returns the entry of an account.
func Restored(account json.RawMessage) (e Entry, err error) { return e, json.Unmarshal(account, &e) }

// mostAccount bounds an account, in bytes.
const mostAccount = 3000

// hash is the SHA-256 of an entry and all before it.
type hash [sha256.Size]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h hash, err error) {
	if n, err := hex.Decode(h[:], []byte(text)); len(text) != 2*len(h) || err != nil || n != len(h) {
		return h, errors.New("a hash is 64 hexadecimal digits")
	}
	return h, nil
}

// A line is the entry as a JSON object whose last member is the hash of the previous hash and of the bytes before that member.
var hashMember = []byte(`,"hash":"`)

const hashTail = 9 + 2*sha256.Size + 3 // from hashMember to the end of the line

func chained(prev hash, body []byte) hash {
	sum := sha256.New()
	sum.Write(prev[:])
	sum.Write(body)
	var h hash
	sum.Sum(h[:0])
	return h
}

// appendLine appends an entry as a line, and returns its hash.
func appendLine(to []byte, prev hash, e *Entry) ([]byte, hash) {
	begin := len(to)
	to = e.appendBody(to)
	h := chained(prev, to[begin:])
	to = append(to, hashMember...)
	to = hex.AppendEncode(to, h[:])
	return append(to, '"', '}', '\n'), h
}

// appendBody appends the entry as json.Marshal would, without the last brace. It takes a quarter of the time, which every call of a
// guest costs.
func (e *Entry) appendBody(to []byte) []byte {
	to = strconv.AppendUint(append(to, `{"seq":`...), e.Seq, 10)
	to = e.Time.AppendFormat(append(to, `,"time":"`...), time.RFC3339Nano)
	to = append(to, '"')
	for _, m := range []struct{ name, value string }{
		{"kind", string(e.Kind)}, {"family", e.Family}, {"digest", e.Digest}, {"work", e.Work}, {"person", e.Person}, {"reason", e.Reason}, {"agent", e.Agent}, {"key", e.Key}, {"client", e.Client}, {"session", e.Session},
		{"call", e.Call}, {"namespace", e.Namespace}, {"branch", e.Branch}, {"outcome", e.Outcome}, {"detail", e.Detail}, {"removed", e.Removed}, {"lock", e.Lock}, {"prev", e.Prev},
	} {
		if m.value != "" {
			to = appendText(appendName(to, m.name), m.value)
		}
	}
	for _, m := range []struct {
		name  string
		value int64
	}{{"fuel", e.Fuel}, {"memory", e.Memory}, {"took_us", e.Took}, {"version", int64(e.Version)}, {"of", int64(e.Of)}, {"upto", int64(e.Upto)}} {
		if m.value != 0 {
			to = strconv.AppendInt(appendName(to, m.name), m.value, 10)
		}
	}
	if e.Locked {
		to = append(appendName(to, "locked"), "true"...)
	}
	if e.DryRun {
		to = append(appendName(to, "dry_run"), "true"...)
	}
	if len(e.Ops) > 0 {
		to = appendCounts(appendName(to, "ops"), e.Ops)
	}
	if len(e.Denied) > 0 {
		to = appendJSON(appendName(to, "denied"), e.Denied)
	}
	return to
}

func appendName(to []byte, name string) []byte {
	return append(append(append(to, ',', '"'), name...), '"', ':')
}

// appendText appends a text as JSON.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendJSON(to, text)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// appendCounts appends counts by name as json.Marshal would.
func appendCounts(to []byte, counts map[string]int) []byte {
	var room [8]string
	names := slices.AppendSeq(room[:0], maps.Keys(counts))
	slices.Sort(names)
	separator := byte('{')
	for _, name := range names {
		to = append(appendText(append(to, separator), name), ':')
		to, separator = strconv.AppendInt(to, int64(counts[name]), 10), ','
	}
	return append(to, '}')
}

// appendJSON appends texts, and lists of texts and numbers, whose encoding cannot fail.
func appendJSON(to []byte, v any) []byte {
	text, _ := json.Marshal(v)
	return append(to, text...)
}

// split returns the body of a line and its hash.
func split(line []byte) (body []byte, h hash, err error) {
	at := len(line) - hashTail
	if at < 0 || !bytes.HasPrefix(line[at:], hashMember) || !bytes.HasSuffix(line, []byte("\"}\n")) {
		return nil, h, errors.New("it is not an entry")
	}
	h, err = parseHash(string(line[at+len(hashMember) : len(line)-3]))
	return line[:at], h, err
}

// decode reads the entry of a line's body.
func decode(body []byte) (e Entry, err error) {
	if len(body) == 0 {
		return e, errors.New("it is not an entry")
	}
	return e, json.Unmarshal(append(body[:len(body):len(body)], '}'), &e)
}
