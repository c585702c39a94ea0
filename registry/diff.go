package registry

import (
	"slices"
	"strings"
)

// mostCompared bounds the table of a comparison: lines of one lock file times lines of the other.
const mostCompared = 4 << 20

// Diff returns the lines by which the file of a lock differs from that of another: removed ones with - and added ones with +,
// each behind the lines that name the part of the file that it is in. Equal locks have none.
func Diff(before, after Lock) ([]string, error) {
	a, err := Encode(before)
	if err != nil {
		return nil, err
	}
	b, err := Encode(after)
	if err != nil {
		return nil, err
	}
	return diffLines(lines(a), lines(b)), nil
}

func lines(file []byte) []string { return strings.Split(strings.TrimSuffix(string(file), "\n"), "\n") }

func diffLines(a, b []string) []string {
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if start == len(a) && start == len(b) {
		return nil
	}
	common := longest(a[start:len(a)-end], b[start:len(b)-end])
	var out []string
	var parts parents
	i, j := start, start
	for _, line := range a[:start] {
		parts.pass(line)
	}
	for _, c := range append(common, pair{len(a) - end - start, len(b) - end - start}) {
		for ; i < start+c.a; i++ {
			out = append(parts.flush(out, a[i]), "-"+a[i])
		}
		for ; j < start+c.b; j++ {
			out = append(parts.flush(out, b[j]), "+"+b[j])
			parts.pass(b[j])
		}
		if c.a < len(a)-end-start {
			parts.pass(a[i])
		}
		i, j = i+1, j+1
	}
	return out
}

// pair is a line that both have.
type pair struct{ a, b int }

// longest returns a longest common subsequence; none if the table would be too large.
func longest(a, b []string) []pair {
	if len(a)*len(b) > mostCompared {
		return nil
	}
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	var common []pair
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common = append(common, pair{i, j})
			i, j = i+1, j+1
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return common
}

// parents are the lines that open the parts of the file around a line, and which of them were written.
type parents struct {
	open    []string
	written int
}

// pass goes past a line.
func (p *parents) pass(line string) {
	depth := indent(line)
	p.cut(depth)
	if strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[") {
		p.open = append(p.open, line)
	}
}

func (p *parents) cut(depth int) {
	at := slices.IndexFunc(p.open, func(open string) bool { return indent(open) >= depth })
	if at >= 0 {
		p.open = p.open[:at]
		p.written = min(p.written, at)
	}
}

// flush appends the parents of a line that were not written.
func (p *parents) flush(out []string, line string) []string {
	p.cut(indent(line))
	for _, open := range p.open[p.written:] {
		if indent(open) > 0 && (len(out) == 0 || out[len(out)-1] != "+"+open) {
			out = append(out, " "+open)
		}
	}
	p.written = len(p.open)
	return out
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
