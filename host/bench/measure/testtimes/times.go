package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// event is one line of go test -json, as go doc test2json tells.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// usage is what a test process used.
type usage struct {
	Dir string
	CPU time.Duration
}

// times are what a run of go test took.
type times struct {
	elapsed, cpu time.Duration // of everything, compilers and linkers too
	packages     map[string]*pkg
	tests        []test
}

type pkg struct {
	name         string
	elapsed, cpu time.Duration
	tests        int
}

type test struct {
	pkg, name string
	elapsed   time.Duration // while it ran: without the time that a parallel test stood in line
}

func (t *times) add(e event) {
	if e.Action != "pass" && e.Action != "fail" {
		return
	}
	if t.packages[e.Package] == nil {
		t.packages[e.Package] = &pkg{name: e.Package}
	}
	p, elapsed := t.packages[e.Package], time.Duration(e.Elapsed*float64(time.Second))
	switch {
	case e.Test == "":
		p.elapsed = elapsed
	case !strings.Contains(e.Test, "/"):
		p.tests++
		t.tests = append(t.tests, test{e.Package, e.Test, elapsed})
	}
}

// readUsage adds the CPU times that the test processes left in dir.
func (t *times) readUsage(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		var u usage
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &u)
		}
		if err != nil {
			return fmt.Errorf("read the CPU time of a test process: %w", err)
		}
		if p := t.in(u.Dir); p != nil {
			p.cpu += u.CPU
		}
	}
	return nil
}

// in returns the package whose files are in dir: the one whose path is the longest end of it.
func (t *times) in(dir string) (found *pkg) {
	root, err := os.Getwd()
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return nil
	}
	for _, p := range t.packages {
		if strings.HasSuffix(p.name, "/"+filepath.ToSlash(rel)) && (found == nil || len(p.name) < len(found.name)) {
			found = p
		}
	}
	return found
}

// table writes the slowest packages and tests, a line each.
func (t *times) table(tests int) []byte {
	var out bytes.Buffer
	packages := make([]*pkg, 0, len(t.packages))
	var tested time.Duration
	for _, p := range t.packages {
		packages = append(packages, p)
		tested += p.cpu
	}
	slices.SortFunc(packages, func(a, b *pkg) int {
		return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.elapsed, a.elapsed), cmp.Compare(a.name, b.name))
	})
	slices.SortStableFunc(t.tests, func(a, b test) int { return cmp.Compare(b.elapsed, a.elapsed) })
	fmt.Fprintf(&out, "elapsed %s, CPU %s: tests %s, building them %s\n\n", seconds(t.elapsed), seconds(t.cpu), seconds(tested), seconds(t.cpu-tested))
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CPU\telapsed\ttests\tpackage")
	for _, p := range packages {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", seconds(p.cpu), seconds(p.elapsed), p.tests, p.name)
	}
	w.Flush()
	fmt.Fprintln(&out)
	fmt.Fprintln(w, "elapsed\ttest\tpackage")
	for _, x := range t.tests[:min(tests, len(t.tests))] {
		fmt.Fprintf(w, "%s\t%s\t%s\n", seconds(x.elapsed), x.name, x.pkg)
	}
	w.Flush()
	return out.Bytes()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
