package bolt_test

import (
	"os"
	"sync"
	"testing"
)

// fixtures are stages that many tests start from. Each is made once, in a directory that is removed after all tests.
var fixtures struct {
	dir                string
	full, short, small fixture
}

type fixture struct {
	once sync.Once
	made stage
}

// copy is a copy of the fixture for a test, which may write to it.
func (f *fixture) copy(t testing.TB, fill func(s *stage)) *stage {
	t.Helper()
	f.once.Do(func() {
		dir, err := os.MkdirTemp(fixtures.dir, "")
		if err != nil {
			t.Fatal(err)
		}
		s := stage{t: t, dir: dir}
		fill(&s)
		f.made = s
	})
	if f.made.dir == "" {
		t.Fatal("the fixture could not be made: see the first test that failed")
	}
	c := f.made
	c.t = t
	return c.copyOf(c.dir)
}

// runTests runs the tests with a directory for their fixtures.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fixtures")
	if err != nil {
		return report(err)
	}
	fixtures.dir = dir
	defer os.RemoveAll(dir)
	return m.Run()
}
