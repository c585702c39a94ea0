package spelling

import (
	"slices"
	"testing"
)

func TestTheDistanceOfTwoKeysIsInLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"day", "day", 0}, {"day", "dya", 1}, {"day", "da", 1}, {"day", "days", 1}, {"day", "dey", 1}, {"day", "night", 3}, {"", "ab", 2}, {"wrok", "work", 1}, {"abcd", "badc", 2}, {"größe", "grösse", 2},
	} {
		if got := distance([]rune(c.a), []rune(c.b), 2); got != min(c.want, 3) {
			t.Errorf("from %q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTheNearestKeysComeFirst(t *testing.T) {
	keys := []string{"user/name/first", "other", "user/nome", "User_Name", "name", "user/names", "u", "user/name2", "user/name3", "user/names"}
	if got, want := Nearest(keys, "user/name", 5), []string{"User_Name", "user/name2", "user/name3", "user/names", "user/nome"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Nearest([]string{"a", "b", "ab", "zz"}, "x", 5); got != nil {
		t.Errorf("of keys of a letter or two, got %q, want none", got)
	}
}
