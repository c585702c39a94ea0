package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheTableNamesTheSlowestFirst(t *testing.T) {
	events := strings.Join([]string{
		`{"Action":"run","Package":"example.com/m/a","Test":"TestQuick"}`,
		`{"Action":"pass","Package":"example.com/m/a","Test":"TestQuick","Elapsed":0.5}`,
		`{"Action":"pass","Package":"example.com/m/a","Elapsed":0.6}`,
		`{"Action":"output","Package":"example.com/m/b/a","Test":"TestSlow","Output":"no luck\n"}`,
		`{"Action":"fail","Package":"example.com/m/b/a","Test":"TestSlow/part","Elapsed":8}`,
		`{"Action":"fail","Package":"example.com/m/b/a","Test":"TestSlow","Elapsed":9}`,
		`{"Action":"fail","Package":"example.com/m/b/a","Elapsed":9.1}`,
		`{"Action":"skip","Package":"example.com/m/c"}`,
	}, "\n")
	var said bytes.Buffer
	times := read(strings.NewReader(events), &said)
	if want := "ok  \texample.com/m/a\t0.6s\nno luck\n"; said.String() != want {
		t.Errorf("printed %q, want %q", said.String(), want)
	}
	dir, root := t.TempDir(), t.TempDir()
	t.Chdir(root)
	for name, u := range map[string]usage{"1": {filepath.Join(root, "a"), 3 * time.Second}, "2": {filepath.Join(root, "b", "a"), 2 * time.Second}} {
		line, err := json.Marshal(u)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), line, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := times.readUsage(dir); err != nil {
		t.Fatal(err)
	}
	times.elapsed, times.cpu = 10*time.Second, 7*time.Second
	want := `elapsed 10.0 s, CPU 7.0 s: tests 5.0 s, building them 2.0 s

CPU    elapsed  tests  package
3.0 s  0.6 s    1      example.com/m/a
2.0 s  9.1 s    1      example.com/m/b/a

elapsed  test       package
9.0 s    TestSlow   example.com/m/b/a
0.5 s    TestQuick  example.com/m/a
`
	if got := string(times.table(20)); got != want {
		t.Errorf("got table\n%s\nwant\n%s", got, want)
	}
}
