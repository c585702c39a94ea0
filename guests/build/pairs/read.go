package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// How two texts stand to each other.
const (
	same        = "="
	contradicts = "!"
	compatible  = "~"
)

// pair is two texts. Labels that say of two texts only that they are not the same, or do not contradict each other, leave the rest open.
type pair struct {
	a, b     string
	relation string // "": other than asked
	asked    string // of labels: what a person was asked, same or contradicts; "": everything
	kind     string
	group    int
	signs    compare.Signs
}

// question is what trees answer.
type question struct {
	name, found string
}

var questions = []question{{"duplicates", same}, {"contradictions", contradicts}}

// examples are the pairs that answer a question.
func (q question) examples(list []pair) (out []example) {
	for _, p := range list {
		if p.asked != "" && p.asked != q.found && p.relation != p.asked {
			continue
		}
		out = append(out, example{p.signs, p.relation == q.found, 1, p.group, p.a, p.b, p.kind})
	}
	return out
}

// reader reads pairs and their signs.
type reader struct {
	comparer *compare.Comparer
	table    *wordvec.Table
	groups   int
}

func newReader() (*reader, error) {
	table, err := wordvec.Open()
	return &reader{comparer: compare.New(), table: table}, err
}

func (r *reader) pair(a, b, relation, asked, kind string) pair {
	means := compare.Vectors{a: r.table.Vector(a), b: r.table.Vector(b)}
	read := r.comparer.NewReader()
	for _, text := range []string{a, b} {
		for _, w := range read.Words(read.Read(text)) {
			means[w] = r.table.Vector(w)
		}
	}
	return pair{a, b, relation, asked, kind, r.groups, r.comparer.SignsOf(means, a, b)}
}

// read reads groups, parted by blank lines. The first line of a group is a text; each other one begins with how it stands to that one, and
// so to all that are the same.
func (r *reader) read(data string) (list []pair, err error) {
	for part := range strings.SplitSeq(data, "\n\n") {
		r.groups++
		var alike []string
		for line := range strings.Lines(part) {
			line = strings.TrimSpace(line)
			relation, text, _ := strings.Cut(line, " ")
			switch {
			case line == "" || relation == "#":
				continue
			case relation == same || relation == contradicts || relation == compatible:
				if len(alike) == 0 {
					return nil, fmt.Errorf("%q stands to no text", line)
				}
			default:
				alike = append(alike, line)
				continue
			}
			for i, other := range alike {
				list = append(list, r.pair(other, text, relation, "", fmt.Sprint("own ", relation, i)))
			}
			if relation == same {
				alike = append(alike, text)
			}
		}
	}
	return list, nil
}

func (r *reader) readDir(dir string) (list []pair, err error) {
	if dir == "" {
		return nil, nil
	}
	for _, q := range questions {
		file := filepath.Join(dir, q.name+"-dev.jsonl")
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			var l struct {
				A, B, Kind        string
				Same, Contradicts bool
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			r.groups++
			p := r.pair(l.A, l.B, "", q.found, l.Kind)
			if l.Same || l.Contradicts {
				p.relation = q.found
			}
			list = append(list, p)
		}
	}
	return list, nil
}
