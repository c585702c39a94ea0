package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// LinesMark begins the last line of a source, which tells the engine where its lines come from.
const LinesMark = "//# alcove:lines="

// origins is what follows LinesMark. Runs are separated by ; and are a line of the source, a file's index, a line of the file, and how many
// lines follow each other in both.
type origins struct {
	Files []string `json:"files"`
	Runs  string   `json:"runs"`
}

// run is some lines of a source that follow each other in a file.
type run struct{ line, file, from, count int }

// originsOf reads a map of sources, of which the first segment of each line counts. One that repeats the segment before stands for the
// indentation alone, and counts where there is no other.
func originsOf(data []byte) (origins, error) {
	var m struct {
		Sources  []string
		Mappings string
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return origins{}, fmt.Errorf("read the map of the source: %w", err)
	}
	var runs []run
	file, from := 0, 0
	for i, row := range strings.Split(m.Mappings, ";") {
		first := true
		for at, segment := range strings.Split(row, ",") {
			n, err := numbers(segment)
			if err != nil {
				return origins{}, err
			}
			if len(n) < 4 {
				continue
			}
			file, from = file+n[1], from+n[2]
			if repeats := n[1] == 0 && n[2] == 0 && n[3] == 0; at == 0 && repeats && strings.Contains(row, ",") {
				continue
			}
			if first {
				runs = extended(runs, run{i + 1, file, from + 1, 1})
			}
			first = false
		}
	}
	var all []string
	for _, r := range runs {
		all = append(all, fmt.Sprintf("%d,%d,%d,%d", r.line, r.file, r.from, r.count))
	}
	return origins{m.Sources, strings.Join(all, ";")}, nil
}

// extended adds a line to the last run, or begins another.
func extended(runs []run, line run) []run {
	if n := len(runs); n > 0 {
		last := &runs[n-1]
		if line.file == last.file && line.line == last.line+last.count && line.from == last.from+last.count {
			last.count++
			return runs
		}
	}
	return append(runs, line)
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// numbers reads the numbers of a segment: digits of base 64, of which five bits count, the lowest first, and the lowest of all is the sign.
func numbers(segment string) (all []int, err error) {
	value, shift := 0, 0
	for _, digit := range segment {
		n := strings.IndexRune(digits, digit)
		if n < 0 || shift > 30 {
			return nil, errors.New("read the map of the source: it is damaged")
		}
		value |= n & 31 << shift
		shift += 5
		if n&32 != 0 {
			continue
		}
		if all = append(all, value>>1); value&1 != 0 {
			all[len(all)-1] = -(value >> 1)
		}
		value, shift = 0, 0
	}
	return all, nil
}
