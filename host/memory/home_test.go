package memory

import "testing"

func TestACallerWithoutTheUsualNamespaceHasAHomeOfItsOwn(t *testing.T) {
	s := testSpace(t)
	for _, c := range []struct {
		name        string
		read, write []string
		named       []string
		want        string
	}{
		{"all", nil, []string{"*"}, []string{"*"}, "default"},
		{"the usual one to read", []string{"default"}, []string{"notes"}, []string{"notes"}, "default"},
		{"a name", nil, []string{"work", "notes"}, []string{"work", "notes"}, "work"},
		{"a name behind a pattern", nil, []string{"team/*", "notes"}, []string{"team/*", "notes"}, "notes"},
		{"what may be written before what may be read", []string{"a", "b"}, []string{"b"}, []string{"a", "b"}, "b"},
		{"a pattern", nil, []string{"team/*"}, []string{"team/*"}, "team/default"},
		{"patterns to read", []string{"team/*", "x/*"}, nil, []string{"team/*", "x/*"}, "team/default"},
		{"a pattern with an exception", nil, []string{"team/*", "!team/default", "x/*"}, []string{"team/*", "x/*"}, "x/default"},
		{"nothing", nil, nil, nil, "default"},
	} {
		a := s.As(Caller{Agent: "ann", Key: "k", Rights: RightsTo(c.read, c.write)})
		if got := a.Home(c.named); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
