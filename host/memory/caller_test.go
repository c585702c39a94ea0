package memory

import (
	"slices"
	"testing"
)

func TestRightsPermitOnlyWhatTheyName(t *testing.T) {
	full, some := FullRights(), RightsTo([]string{"home"}, []string{"work"})
	for name, c := range map[string]struct {
		rights      Rights
		read, write []string // of home, work, other
	}{
		"zero":                   {Rights{}, nil, nil},
		"full":                   {full, []string{"home", "work", "other"}, []string{"home", "work", "other"}},
		"full, read-only":        {full.ReadOnly(), []string{"home", "work", "other"}, nil},
		"some":                   {some, []string{"home", "work"}, []string{"work"}},
		"some, read-only":        {some.ReadOnly(), []string{"home", "work"}, nil},
		"full within some":       {full.Within(some), []string{"home", "work"}, []string{"work"}},
		"some within full":       {some.Within(full), []string{"home", "work"}, []string{"work"}},
		"some within others":     {some.Within(RightsTo(nil, []string{"home", "other"})), []string{"home"}, nil},
		"within nothing":         {full.Within(Rights{}), nil, nil},
		"all that may be read":   {RightsTo([]string{AllNamespaces, "home"}, []string{"work"}), []string{"home", "work", "other"}, []string{"work"}},
		"no wider by its origin": {full.ReadOnly().Within(full), []string{"home", "work", "other"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, namespace := range []string{"home", "work", "other"} {
				if got, want := c.rights.MayRead(namespace), slices.Contains(c.read, namespace); got != want {
					t.Errorf("read %s: %t", namespace, got)
				}
				if got, want := c.rights.MayWrite(namespace), slices.Contains(c.write, namespace); got != want {
					t.Errorf("write %s: %t", namespace, got)
				}
			}
			if got := c.rights.WritesNothing(); got != (len(c.write) == 0) {
				t.Errorf("writes nothing: %t", got)
			}
		})
	}
}

func TestRightsListTheirNamespaces(t *testing.T) {
	r := RightsTo([]string{"b", "a"}, []string{"c", "a"})
	if readable, all := r.Readable(); all || !slices.Equal(readable, []string{"a", "b", "c"}) {
		t.Errorf("readable: %q, %t", readable, all)
	}
	if writable, all := r.Writable(); all || !slices.Equal(writable, []string{"a", "c"}) {
		t.Errorf("writable: %q, %t", writable, all)
	}
	if readable, all := FullRights().Readable(); !all || readable != nil {
		t.Errorf("all: %q, %t", readable, all)
	}
}
