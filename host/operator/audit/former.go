package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// FormerFile tells, in a restored data directory, of the former log, until a log names it.
// A backup has the log, too, up to its head. Where it was restored, the log goes on behind it; a directory that had a log keeps its own.
const FormerFile = "audit.head"

// FormerLimit bounds that file, in bytes.
const FormerLimit = 8 << 10

// FormerLog is the log beside which a backup was made, and who restored the backup.
type FormerLog struct {
	Head          // zero: there was no log
	Person string `json:"person,omitempty"` // empty: it is not known
	Reason string `json:"reason,omitempty"` // as the person gave it
}

// Text returns the content of FormerFile.
func (f FormerLog) Text() ([]byte, error) { return json.Marshal(f) }

// ParseFormer reads the content of FormerFile.
func ParseFormer(text []byte) (f FormerLog, err error) {
	if err = json.Unmarshal(text, &f); err == nil && f.Seq > 0 {
		_, err = parseHash(f.Hash)
	}
	return f, err
}

// Former reads what a restored data directory tells of the former log; nil: nothing.
func Former(dir string) (*FormerLog, error) {
	path := filepath.Join(dir, FormerFile)
	data, err := regular.Read(path, FormerLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f FormerLog
	if err == nil {
		f, err = ParseFormer(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read the head of the former audit log, in %s: %w; move the file away to begin a log that does not name it", path, err)
	}
	return &f, nil
}

// ForgetFormer removes the file, once a log has it.
func ForgetFormer(dir string) error {
	if err := os.Remove(filepath.Join(dir, FormerFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the head of the former audit log: %w", err)
	}
	return nil
}

// RestoredFrom is the former log of a restored data directory, as far as heads that were kept elsewhere show it.
type RestoredFrom struct {
	Head  Head      `json:"head"`  // beside which the backup was made
	At    time.Time `json:"at"`    // when the restored log began
	Heads int       `json:"heads"` // kept elsewhere, of the former log
	Last  uint64    `json:"last"`  // the last entry of the former log that one of them shows
	// Here means that the entries up to Head are in this log.
	Here bool `json:"here,omitempty"`
}

// former returns the head that the first entry of a restored log names.
func (e Entry) former() (h Head, ok bool) {
	_, named, ok := strings.Cut(e.Detail, restoredBeside)
	if e.Kind != FromBackup || !ok {
		return h, false
	}
	text, _, _ := strings.Cut(named, " ")
	h, err := ParseHead(text)
	return h, err == nil
}

// withoutFormer returns the heads that are not of the log before a restored one, which begins with the entry first. Its former log is known
// by the head that first names: if that was kept elsewhere, so are those kept before it began. Otherwise anybody could begin a log so.
func withoutFormer(heads []Head, first Entry) ([]Head, *RestoredFrom) {
	former, ok := first.former()
	if !ok || !slices.ContainsFunc(heads, former.is) {
		return heads, nil
	}
	from, rest := &RestoredFrom{Head: former, At: first.Time}, []Head(nil)
	for _, h := range heads {
		if !former.is(h) && (h.Time.IsZero() || !h.Time.Before(first.Time)) {
			rest = append(rest, h)
			continue
		}
		from.Heads++
		from.Last = max(from.Last, h.Seq)
	}
	return rest, from
}

// dropLaterHeads takes out the heads of a former log that are later than what was restored of it: the entry e goes on behind that.
func (r *Report) dropLaterHeads(expect map[uint64][]Head, e Entry, prev hash) {
	former, ok := e.former()
	if !ok || former.Seq != e.Seq-1 || former.Hash != prev.String() {
		return
	}
	from := &RestoredFrom{Head: former, At: e.Time, Last: former.Seq, Here: true}
	for seq, heads := range expect {
		rest := slices.DeleteFunc(slices.Clone(heads), func(h Head) bool { return seq > former.Seq && !h.Time.IsZero() && h.Time.Before(e.Time) })
		if lost := len(heads) - len(rest); lost > 0 {
			from.Heads += lost
			from.Last = max(from.Last, seq)
		}
		expect[seq] = rest
	}
	r.Restored = from
}

func (h Head) is(other Head) bool { return h.Seq == other.Seq && h.Hash == other.Hash }

// restoredBeside begins, in the first entry of a restored log, the head of the former one.
const restoredBeside = "beside a log with the head "

// restored is the entry of a log behind, or instead of, the former one.
func (f FormerLog) restored(now Head) Entry {
	e := Entry{Kind: FromBackup, Person: f.Person, Reason: f.Reason, Detail: "restored from a copy that has no log"}
	if f.Seq == 0 {
		return e
	}
	rest := "entries up to there are in that log, not in this one"
	if f.is(now) {
		rest = "the log up to there is restored, too"
	}
	e.Detail = fmt.Sprintf("restored from a backup that was made "+restoredBeside+"%d:%s of %s: %s", f.Seq, f.Hash, f.Time.UTC().Format(time.RFC3339), rest)
	return e
}
