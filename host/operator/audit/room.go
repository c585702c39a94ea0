package audit

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/alcove-memory/alcove/host/operator/segments"
)

const (
	longestFile = 7 * 24 * time.Hour // that a file takes entries, if files are deleted for their age
	partsOfAge  = 8                  // files that a shorter age is made of
	lookEvery   = time.Hour          // for files that are too old
)

// surplus is files that make room, once the entry that says so is durable: then nothing is missing that the log does not name.
type surplus struct {
	files []segments.Segment
	entry uint64 // 0: there are none
}

// ages reports whether a file of that time takes no further entries, so that it can be deleted soon after they are too old.
func (l *Log) ages(begun time.Time) bool {
	return l.o.Keep > 0 && l.o.Clock().Sub(begun) > min(longestFile, l.o.Keep/partsOfAge)
}

// makeRoomByAge looks for files that became too old though nothing was written. The caller holds writing.
func (l *Log) makeRoomByAge() error {
	now := l.o.Clock()
	if l.o.Keep == 0 || now.Sub(l.looked).Abs() < lookEvery {
		return nil
	}
	l.looked = now
	return l.makeRoom()
}

// makeRoom has the oldest files beyond the limits deleted, and says so in the log. The caller holds writing.
func (l *Log) makeRoom() error {
	if l.surplus.entry != 0 {
		return nil
	}
	gone, left, why, err := l.beyondLimits()
	if err != nil || len(gone) == 0 {
		return err
	}
	e := Entry{Kind: Dropped, Detail: fmt.Sprintf("the entries before %d: the log keeps %s", left.Seq, why)}
	if left.Prev != "" {
		e.Removed = fmt.Sprintf("%d:%s", left.Seq-1, left.Prev)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.surplus = surplus{gone, l.add(e)}
	return nil
}

// beyondLimits returns the oldest files that are beyond a limit, the first entry that is left, and the limit.
func (l *Log) beyondLimits() (gone []segments.Segment, left Entry, why string, err error) {
	list, err := l.lines.List()
	sum := int64(0)
	for _, s := range list {
		sum += s.Size
	}
	for i := 0; err == nil && i+1 < len(list); i++ {
		next := firstEntry(list[i+1])
		old := l.o.Keep > 0 && !next.Time.IsZero() && l.o.Clock().Sub(next.Time) > l.o.Keep
		large := sum > l.o.Kept-l.o.Bytes
		if !old && !large {
			break
		}
		if why = fmt.Sprintf("%d bytes", l.o.Kept); !large {
			why = "them for " + l.o.Keep.String()
		}
		sum -= list[i].Size
		gone, left = list[:i+1], next
	}
	return gone, left, why, err
}

// firstEntry reads the first entry of a file. Of a damaged one only the number is known.
func firstEntry(s segments.Segment) (e Entry) {
	e.Seq, _ = strconv.ParseUint(s.Name(), 10, 64)
	f, err := os.Open(s.Path)
	if err != nil {
		return e
	}
	defer f.Close()
	line, err := readLine(bufio.NewReaderSize(f, longestLine))
	if err != nil {
		return e
	}
	if body, _, err := split(line); err == nil {
		if first, err := decode(body); err == nil {
			return first
		}
	}
	return e
}

// deleteSurplus deletes the files that make room, if the entry that says so is durable. The caller holds writing.
func (l *Log) deleteSurplus() error {
	if l.surplus.entry == 0 || l.head.Seq < l.surplus.entry {
		return nil
	}
	files := l.surplus.files
	l.surplus = surplus{}
	if err := l.lines.Delete(files); err != nil {
		return fmt.Errorf("delete the oldest files of the audit log: %w", err)
	}
	return nil
}
