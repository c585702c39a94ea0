package powerloss

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// plain makes a recording readable: what stands between quotes or angle brackets is put into hexadecimal.
func plain(t testing.TB, text string) *Trace {
	t.Helper()
	hexadecimal := regexp.MustCompile(`"[^"]*"|<[^>. ][^>]*>`)
	text = hexadecimal.ReplaceAllStringFunc(text, func(s string) string {
		if s == "<unfinished ...>" {
			return s
		}
		return s[:1] + hexed(s[1:len(s)-1]) + s[len(s)-1:]
	})
	trace, err := parse("/d", []byte(strings.TrimLeft(text, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// outcomes are all that power failures at the end of a recording were seen to leave: names and contents.
func outcomes(t *testing.T, trace *Trace, lie func(string) bool) map[string]bool {
	t.Helper()
	trace.marks = append(trace.marks, mark{&call{name: "exit", args: []string{"end"}}, true}) // fail before this
	seen := map[string]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	err := trace.Failures(r, 600, lie, func(f *Failure) error {
		if f.Calls < len(trace.marks)-1 {
			return nil
		}
		for range 5 {
			seen[leftBy(t, f)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 {
		t.Fatal("the power never failed at the end")
	}
	return seen
}

func leftBy(t *testing.T, f *Failure) string {
	t.Helper()
	dir := t.TempDir()
	if err := f.Leave(dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		left = append(left, fmt.Sprintf("%s=%q", strings.TrimPrefix(path, dir+"/"), content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(left)
	return strings.Join(left, " ")
}

const made = `
1 openat(AT_FDCWD</w>, "/d/a", O_RDWR|O_CREAT, 0600) = 5</d/a>
1 write(5</d/a>, "ab", 2) = 2
1 fsync(5</d/a>) = 0
1 openat(AT_FDCWD</w>, "/d", O_RDONLY) = 6</d>
1 fsync(6</d>) = 0
`

func TestWhatWasSyncedStaysAndTheRestMayGo(t *testing.T) {
	for name, c := range map[string]struct {
		trace string
		lie   func(string) bool
		want  []string
	}{
		"synced":                      {made, nil, []string{`a="ab"`}},
		"a name that was not synced":  {made, func(name string) bool { return name == "" }, []string{"", `a="ab"`}},
		"content that was not synced": {made, func(name string) bool { return name == "a" }, []string{`a=""`, `a="a"`, `a="\x00b"`, `a="ab"`}},
		"an overwrite":                {made + `1 pwrite64(5</d/a>, "x", 1, 1) = 1`, nil, []string{`a="ab"`, `a="ax"`}},
		"an overwrite that failed":    {made + `1 pwrite64(5</d/a>, "x", 1, 1) = -1 ENOSPC (No space left on device)`, nil, []string{`a="ab"`}},
		"a sync that failed":          {made + "1 pwrite64(5</d/a>, \"x\", 1, 1) = 1\n1 fdatasync(5</d/a>) = -1 EIO (Input/output error)", nil, []string{`a="ab"`, `a="ax"`}},
		"a truncation":                {made + `1 ftruncate(5</d/a>, 1) = 0`, nil, []string{`a="a"`, `a="ab"`}},
		"a rename":                    {made + `1 renameat(AT_FDCWD</w>, "/d/a", AT_FDCWD</w>, "/d/b") = 0`, nil, []string{`a="ab"`, `b="ab"`}},
		"a move to a directory that was kept": {made + `
1 mkdirat(AT_FDCWD</w>, "/d/s", 0700) = 0
1 fsync(6</d>) = 0
1 renameat(AT_FDCWD</w>, "/d/a", AT_FDCWD</w>, "/d/s/b") = 0
`, nil, []string{"", `a="ab"`, `s/b="ab"`, `a="ab" s/b="ab"`}},
		"a link":                        {made + `1 linkat(AT_FDCWD</w>, "/d/a", AT_FDCWD</w>, "/d/b", 0) = 0`, nil, []string{`a="ab"`, `a="ab" b="ab"`}},
		"a removal":                     {made + `1 unlinkat(AT_FDCWD</w>, "/d/a", 0) = 0`, nil, []string{"", `a="ab"`}},
		"a directory that was not kept": {`1 mkdirat(AT_FDCWD</w>, "/d/s", 0700) = 0`, nil, []string{""}},
		"a sync of what was written before it began": {made + `
1 pwrite64(5</d/a>, "x", 1, 0 <unfinished ...>
2 fdatasync(5</d/a> <unfinished ...>
1 <... pwrite64 resumed>) = 1
2 <... fdatasync resumed>) = 0
`, nil, []string{`a="ab"`, `a="xb"`}},
		"a sync of what had been written": {made + `
1 pwrite64(5</d/a>, "x", 1, 0 <unfinished ...>
1 <... pwrite64 resumed>) = 1
2 fdatasync(5</d/a> <unfinished ...>
2 <... fdatasync resumed>) = 0
`, nil, []string{`a="xb"`}},
		"elsewhere": {`1 openat(AT_FDCWD</w>, "/dd/a", O_RDWR|O_CREAT, 0600) = 5</dd/a>` + "\n" + `1 write(5</dd/a>, "ab", 2) = 2`, nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := outcomes(t, plain(t, c.trace), c.lie)
			for _, want := range c.want {
				if !seen[want] {
					t.Errorf("%s was never left, only %v", want, seen)
				}
				delete(seen, want)
			}
			if len(seen) > 0 {
				t.Errorf("left what cannot be: %v", seen)
			}
		})
	}
}

func TestCallsThatAreNotFollowedAreRefused(t *testing.T) {
	for _, line := range []string{
		`1 fallocate(5</d/a>, 0, 0, 10) = 0`,
		`1 copy_file_range(5</d/a>, NULL, 6</d/a>, NULL, 10, 0) = 10`,
		`1 renameat(AT_FDCWD</w>, "/d/a", AT_FDCWD</w>, "/w/a") = 0`,
		`1 openat(AT_FDCWD</w>, "/d/a", O_RDWR|O_APPEND, 0600) = 5</d/a>`,
		`1 pwrite64(5</d/a>, "xyz", 3, 1) = 2`,
	} {
		err := plain(t, made+line+"\n1 exit() = 0").Failures(rand.New(rand.NewPCG(1, 2)), 1, nil, func(*Failure) error { return nil })
		if err == nil {
			t.Errorf("followed: %s", line)
		}
	}
}

func TestWhatWasSaidIsKnownFromTheMomentItIsSaid(t *testing.T) {
	trace := plain(t, made+"1 write(1</w/out>, \"one\", 3) = 3\n1 pwrite64(5</d/a>, \"x\", 1, 1) = 1")
	after := map[int]string{}
	err := trace.Failures(rand.New(rand.NewPCG(1, 2)), 200, nil, func(f *Failure) error {
		after[f.Calls] = string(f.Said)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	said := len(trace.marks) - 4
	if after[said] != "" || after[said+1] != "one" {
		t.Errorf("said at %d: %q, and right after: %q", said, after[said], after[said+1])
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1 write(1<\\x2f>, \"\\x41\", 1) = 1\n2 <... write resumed>) = 0\n")
	f.Add("1 fsync(5 <unfinished ...>\n1 <... fsync resumed>) = 0\n1 +++ exited with 0 +++\n")
	f.Add("1 openat(AT_FDCWD<\\x2f>, \"\\x2f\\x64\\x2f\\x61\", O_CREAT) = 3\n1 renameat() = 0")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := parse("/d", []byte(text))
		if err != nil || len(trace.marks) == 0 {
			return
		}
		_ = trace.Failures(rand.New(rand.NewPCG(1, 2)), 3, nil, func(*Failure) error { return nil })
	})
}
