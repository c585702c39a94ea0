package migrate

import (
	"fmt"
	"strings"
)

// around is how many unchanged lines a difference shows on each side.
const around = 2

// Diff shows how a text was rewritten, line by line. Rewriting keeps the order of the text, so that lines are compared greedily: a run of
// lines that differ ends where a line is the same again on both sides.
func Diff(name, before, after string) string {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		x, y := resync(a[i:], b[j:])
		from, to := max(0, i-around), min(len(a), i+x+around)
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, max(0, j-around)+1, to-from-x+y)
		lines(&out, " ", a[from:i])
		lines(&out, "-", a[i:i+x])
		lines(&out, "+", b[j:j+y])
		lines(&out, " ", a[i+x:to])
		i, j = i+x, j+y
	}
	return out.String()
}

// furthest is how many lines a difference may have before it is one to the end.
const furthest = 1000

// resync is where two texts are the same again.
func resync(a, b []string) (x, y int) {
	for sum := 1; sum < min(len(a)+len(b), 2*furthest); sum++ {
		for x := max(0, sum-len(b)); x <= min(sum, len(a)); x++ {
			y := sum - x
			if x < len(a) && y < len(b) && a[x] == b[y] && (strings.TrimSpace(a[x]) != "" || x+1 < len(a) && y+1 < len(b) && a[x+1] == b[y+1]) {
				return x, y
			}
		}
	}
	return len(a), len(b)
}

func lines(out *strings.Builder, mark string, list []string) {
	for _, line := range list {
		if line != "" {
			out.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
}
