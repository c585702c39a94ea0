package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
)

//go:embed all:testdata
var testdata embed.FS

// part is a part of the labels.
type part string

const (
	dev   part = "dev"   // to tune on
	test  part = "test"  // to judge with, once
	blind part = "blind" // to judge with: written later, by others who knew neither the families nor the other parts; of tags, before the tuning
)

// set judges a family, or another part of the server, by labels.
type set struct {
	name string
	// judge asks a new server about the labels of one part.
	judge func(ctx context.Context, s *server, l labels) ([]row, error)
}

// sets are all sets. A file that adds one adds its line here.
func sets() []set {
	return []set{
		{"types", judgeTypes},
		{"tags", judgeTags},
		{"intents", judgeIntents},
		{"transitions", judgeTransitions},
		{"duplicates", judgeDuplicates},
		{"contradictions", judgeContradictions},
	}
}

// row is a line of the table.
type row struct {
	measure  string
	got      share
	baseline share // the zero value: there is none
}

// share is how many of some are right.
type share struct{ right, of int }

// add counts one more.
func (s *share) add(right bool) {
	s.of++
	if right {
		s.right++
	}
}

func (s share) String() string {
	if s.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %% (%d/%d)", 100*float64(s.right)/float64(s.of), s.right, s.of)
}

// rows judges one part on a server of its own.
func (s set) rows(ctx context.Context, p part, data string) ([]row, error) {
	l := labels{part: p}
	if l.from = os.DirFS(data); data == "" {
		l.from, _ = fs.Sub(testdata, "testdata") // the name is valid
	}
	var rows []row
	err := serve(ctx, func(ctx context.Context, on *server) (err error) {
		rows, err = s.judge(ctx, on, l)
		return err
	})
	return rows, err
}

// labels are the labelled files of one part.
type labels struct {
	from fs.FS
	part part
}

// longestLine bounds a line of labels, in bytes.
const longestLine = 1 << 20

// read reads NAME-PART.jsonl, one value a line.
func read[T any](l labels, name string) ([]T, error) {
	path := fmt.Sprintf("%s-%s.jsonl", name, l.part)
	data, err := fs.ReadFile(l.from, path)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	return parse[T](path, data)
}

// parse reads the lines of a labelled file.
func parse[T any](path string, data []byte) ([]T, error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, longestLine)
	var list []T
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("read labels: %s, line %d: %w", path, n, err)
		}
		list = append(list, v)
	}
	return list, lines.Err()
}
