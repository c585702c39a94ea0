package recordindex

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func FuzzNamesOfLinks(f *testing.F) {
	f.Add("", "", "")
	f.Add("default", "tea", "other#cup")
	f.Add("a\x00b", "\x00", "a#b#c")
	f.Fuzz(func(t *testing.T, namespace, key, link string) {
		if from, ok := linkSource(key, ""); ok && from.Key == "" {
			t.Errorf("%q is a link of nothing", key)
		}
		for i, to := range Targets(namespace, link) {
			if i == 0 && (to != Ref{namespace, link}) || i > 0 && to.Namespace+"#"+to.Key != link {
				t.Errorf("link %q of namespace %q has the target %v", link, namespace, to)
			}
			name, prefix := linkName(to, store.Key{Namespace: namespace, Name: key}), linkPrefix(to)
			from, ok := linkSource(name, prefix)
			if want := (Ref{namespace, key}); !strings.HasPrefix(name, prefix) || ok != (key != "") || ok && from != want {
				t.Errorf("%q is the link of %v, %v; want %v", name, from, ok, want)
			}
		}
	})
}

func TestAShadowNamesItsIndexAndItsBranch(t *testing.T) {
	for _, index := range []uint32{0, 1, 1<<31 - 1} {
		for _, branch := range []store.BranchID{0, 1, 1<<32 - 1} {
			id := shadow(index, branch)
			if b, ok := Of(id); !ok || b != branch {
				t.Errorf("the shadow of index %d for branch %d is one of branch %d, %v", index, branch, b, ok)
			}
			if got, want := Beside(id, 7), shadow(index, 7); got != want {
				t.Errorf("beside %d is %d, want %d", id, got, want)
			}
			if _, ok := Of(branch); ok {
				t.Errorf("branch %d is a shadow", branch)
			}
		}
	}
}
