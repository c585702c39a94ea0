package namespace

import (
	"slices"
	"testing"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		list []string
		name string
		want bool
	}{
		{nil, "a", false},
		{[]string{"a"}, "a", true},
		{[]string{"a"}, "a/b", false},
		{[]string{"a/*"}, "a", false},
		{[]string{"a/*"}, "a/", false},
		{[]string{"a/*"}, "a/b", true},
		{[]string{"a/*"}, "a/b/c", true},
		{[]string{"a/*"}, "ab", false},
		{[]string{"a/*"}, "a/b/*", true},
		{[]string{"a/b/*"}, "a/*", false},
		{[]string{"a/*"}, "*", false},
		{[]string{"*"}, "a/*", true},
		{[]string{"*"}, "*", true},
		{[]string{""}, "a", false},
		{[]string{"*", "!a"}, "a", false},
		{[]string{"*", "!a"}, "a/b", true},
		{[]string{"*", "!a/b"}, "a/*", false},
		{[]string{"*", "!a/b"}, "c/*", true},
		{[]string{"*", "!a"}, "*", false},
		{[]string{"a", "!a"}, "a", false},
	} {
		if got := Covers(c.list, c.name); got != c.want {
			t.Errorf("Covers(%q, %q) = %v", c.list, c.name, got)
		}
	}
}

func TestSetDropsWhatAPatternCovers(t *testing.T) {
	got := Set([]string{"b", "a/x", "a/*", "b", "a/y/*", "a"})
	if want := []string{"a", "a/*", "b"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestListsCoverWhatTheirElementsDo(t *testing.T) {
	elements := []string{"*", "a", "b", "a/*", "a/b", "a/b/*", "a/b/c", "c/*", "c/d"}
	names := []string{"a", "b", "c", "a/b", "a/c", "a/b/c", "a/b/c/d", "c/d", "c/e", "d"}
	lists := [][]string{nil}
	for i, x := range elements {
		for _, y := range elements[i:] {
			lists = append(lists, []string{x, y}, []string{x, y, Except("a"), Except("a/b")}, []string{Except("a/b/c"), x, y, Except("d")})
		}
	}
	for _, a := range lists {
		for _, name := range names {
			if got, want := Covers(Set(a), name), Covers(a, name); got != want {
				t.Errorf("Set(%q) covers %s: %v", a, name, got)
			}
			for _, b := range lists {
				if got, want := Covers(Common(a, b), name), Covers(a, name) && Covers(b, name); got != want {
					t.Errorf("Common(%q, %q) covers %s: %v", a, b, name, got)
				}
				if got, want := Covers(Union(a, b), name), Covers(a, name) || Covers(b, name); got != want {
					t.Errorf("Union(%q, %q) covers %s: %v", a, b, name, got)
				}
			}
		}
	}
}
