package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/host/operator/segments"
)

// checker verifies consecutive lines.
type checker struct {
	prev  hash
	seq   uint64
	begun bool
}

// check verifies a line. The first line is taken to follow the entry that its file names. On an error the next line is still checked.
func (c *checker) check(line []byte) (body []byte, h hash, err error) {
	if body, h, err = split(line); err != nil {
		return nil, h, err
	}
	seq, ok := seqOf(body)
	if !ok {
		return nil, h, errors.New("it is not an entry")
	}
	if !c.begun {
		c.begun, c.seq = true, seq-1
		e, err := decode(body)
		if err == nil && e.Prev != "" {
			c.prev, err = parseHash(e.Prev)
		}
		if err != nil {
			return nil, h, err
		}
	}
	prev, last := c.prev, c.seq
	c.prev, c.seq = h, seq
	switch {
	case chained(prev, body) != h:
		return body, h, errors.New("its hash is of another text, or of another entry before it")
	case seq != last+1:
		return body, h, fmt.Errorf("its number is %d", seq)
	}
	return body, h, nil
}

// seqOf reads the number of an entry without decoding it.
func seqOf(body []byte) (uint64, bool) {
	digits, ok := bytes.CutPrefix(body, []byte(`{"seq":`))
	end := bytes.IndexByte(digits, ',')
	if !ok || end < 0 {
		return 0, false
	}
	seq, err := strconv.ParseUint(string(digits[:end]), 10, 64)
	return seq, err == nil
}

// Report is what a verification found.
type Report struct {
	Files   int    `json:"files"`
	Entries uint64 `json:"entries"`
	First   uint64 `json:"first"` // number of the oldest entry
	Head    Head   `json:"head"`
	Torn    int    `json:"torn,omitempty"` // bytes at the end that are no whole entry
	// Checked is how many heads kept elsewhere the log agrees with, and Older how many are of entries that it no longer has.
	Checked  int           `json:"checked"`
	Older    int           `json:"older,omitempty"`
	Removed  *Head         `json:"removed,omitempty"`  // the last of the entries that made room, as the log itself keeps it
	Restored *RestoredFrom `json:"restored,omitempty"` // nil: the log began with the store, or its former one is not known
	Problems []string      `json:"problems,omitempty"`
}

// mostProblems bounds a report.
const mostProblems = 20

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < mostProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

func bySeq(heads []Head) map[uint64][]Head {
	list := map[uint64][]Head{}
	for _, h := range heads {
		list[h.Seq] = append(list[h.Seq], h)
	}
	return list
}

// Verify checks the chain of the log in a folder, and that it has the heads that were kept elsewhere. A log that began anew when the data
// directory was restored is not the one that they are of: anybody who can write to the folder can begin a log so.
func Verify(dir string, heads []Head) (Report, error) {
	r, err := VerifyRestored(dir, heads)
	switch from := r.Restored; {
	case from == nil || from.Here && from.Heads == 0:
	case from.Here:
		r.problem("the log was restored at %s up to entry %d, and entries up to %d were kept elsewhere before: they are in the former log alone; if the directory was restored from a backup then, add --restored",
			from.At.UTC().Format("2006-01-02 15:04:05"), from.Head.Seq, from.Last)
	default:
		r.problem("the log began anew at %s, and names entry %d, which was kept elsewhere, as the last before: entries up to there are in the former log alone; if the directory was restored from a backup then, add --restored",
			from.At.UTC().Format("2006-01-02 15:04:05"), from.Head.Seq)
	}
	return r, err
}

// VerifyRestored is Verify for a data directory of which it is known that it was restored from a backup. Its log may have begun then, if
// one of the heads is that of the former log which it names.
func VerifyRestored(dir string, heads []Head) (Report, error) {
	v := verification{heads: heads, expect: bySeq(heads)}
	err := eachFile(dir, v.file)
	v.rest()
	v.removed.report(&v.r)
	return v.r, err
}

// verification is a report while it is made.
type verification struct {
	r       Report
	heads   []Head
	expect  map[uint64][]Head // those that are not known to be of a former log
	prev    hash              // of the last entry
	removed removals
}

// file verifies a file.
func (v *verification) file(name string, in *bufio.Reader) error {
	v.r.Files++
	c := checker{}
	for first := true; ; {
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				v.r.Torn = len(line)
			}
			return nil
		case err != nil:
			return err
		}
		body, h, err := c.check(line)
		if err != nil {
			v.r.problem("%s: entry %d was changed, or one before it was: %v", filepath.Base(name), v.r.Head.Seq+1, err)
		}
		e, err := decode(body)
		if err != nil {
			continue // check reported it
		}
		if first {
			first = false
			v.r.joined(name, e, v.prev)
		}
		v.entry(e, h)
	}
}

// entry compares an entry with the heads that were kept elsewhere.
func (v *verification) entry(e Entry, h hash) {
	r := &v.r
	if r.Entries == 0 && e.Seq == 1 {
		v.heads, r.Restored = withoutFormer(v.heads, e)
		v.expect = bySeq(v.heads)
	}
	v.removed.note(e, r.Entries == 0)
	r.dropLaterHeads(v.expect, e, v.prev)
	for _, kept := range v.expect[e.Seq] {
		if kept.Hash == h.String() {
			r.Checked++
		} else {
			r.problem("entry %d is another one than was kept elsewhere at %s: the log was changed or replaced", e.Seq, kept.Time.UTC().Format("2006-01-02 15:04:05"))
		}
	}
	if r.Entries++; r.First == 0 {
		r.First = e.Seq
	}
	v.prev, r.Head = h, Head{Seq: e.Seq, Hash: h.String(), Time: e.Time}
}

// rest compares the heads of entries that the log does not have.
func (v *verification) rest() {
	r := &v.r
	for kept := range each(v.expect) {
		hash, known := v.removed.hashes[kept.Seq]
		switch {
		case kept.Seq > r.Head.Seq:
			r.problem("entry %d was kept elsewhere at %s, and the log ends at entry %d: it was truncated, or an older copy took its place", kept.Seq, kept.Time.UTC().Format("2006-01-02 15:04:05"), r.Head.Seq)
		case kept.Seq >= r.First: // entry compared it
		case known && hash == kept.Hash:
			r.Checked++
		case known:
			r.problem("entry %d, which was deleted, differs from the one that was kept elsewhere at %s: the log was replaced", kept.Seq, kept.Time.UTC().Format("2006-01-02 15:04:05"))
		default:
			r.Older++
		}
	}
}

// each visits heads in their order.
func each(expect map[uint64][]Head) func(func(Head) bool) {
	return func(yield func(Head) bool) {
		for _, seq := range slices.Sorted(maps.Keys(expect)) {
			for _, h := range expect[seq] {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// removals are the heads of what made room, as later entries keep them.
type removals struct {
	hashes map[uint64]string
	first  Entry // of the log
}

func (m *removals) note(e Entry, first bool) {
	if first {
		m.first = e
	}
	if h, err := ParseHead(e.Removed); err == nil {
		if m.hashes == nil {
			m.hashes = map[uint64]string{}
		}
		m.hashes[h.Seq] = h.Hash
	}
}

// report checks that the log continues what made room.
func (m *removals) report(r *Report) {
	if m.first.Seq <= 1 {
		return
	}
	hash, known := m.hashes[m.first.Seq-1]
	switch {
	case !known:
		r.problem("the log begins with entry %d, and no entry records the deletion of those before: files were removed", m.first.Seq)
	case hash != m.first.Prev:
		r.problem("the log begins with entry %d, and does not continue the deleted entries", m.first.Seq)
	default:
		r.Removed = &Head{Seq: m.first.Seq - 1, Hash: hash}
	}
}

// joined checks that a file continues the one before.
func (r *Report) joined(name string, first Entry, prev hash) {
	base := filepath.Base(name)
	if (segments.Segment{Path: name}).Name() != fmt.Sprintf(nameForm, first.Seq) {
		r.problem("%s begins with entry %d: it was renamed", base, first.Seq)
	}
	switch {
	case r.Files == 1:
	case first.Prev != prev.String():
		r.problem("%s does not continue the file before it: a file was removed or changed", base)
	case first.Kind == Damaged:
		r.problem("%s says: %s", base, first.Detail)
	case first.Seq != r.Head.Seq+1:
		r.problem("%s begins with entry %d, and the file before it ends at %d: entries were removed", base, first.Seq, r.Head.Seq)
	}
}

// Read visits the entries of the log in a folder, oldest first, until visit returns false. It verifies nothing; lines that are no
// entries are skipped.
func Read(dir string, visit func(line []byte, e Entry) bool) error {
	done := errors.New("done")
	err := eachFile(dir, func(_ string, in *bufio.Reader) error {
		for {
			line, err := readLine(in)
			if errors.Is(err, io.EOF) {
				return nil // a torn line is none
			}
			if err != nil {
				return err
			}
			body, _, err := split(line)
			if err != nil {
				continue
			}
			if e, err := decode(body); err == nil && !visit(line, e) {
				return done
			}
		}
	})
	if errors.Is(err, done) {
		return nil
	}
	return err
}

// eachFile opens the files of a log, oldest first.
func eachFile(dir string, do func(name string, in *bufio.Reader) error) error {
	none := true
	err := folder(dir).Each(func(path string, r io.Reader) error {
		none = false
		return do(path, bufio.NewReaderSize(r, longestLine))
	})
	if err == nil && none {
		err = fmt.Errorf("there is none in %s: %w", dir, os.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	return nil
}

// readLine reads a line, or at the end what is left of one. A longer one is cut: it is no entry.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	cut := bytes.Clone(line[:100])
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	return append(cut, '\n'), err
}
