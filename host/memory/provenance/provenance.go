// Package provenance tells where versions were written, so that spaces recognise what they have of each other.
package provenance

import (
	"cmp"
	"slices"
	"time"
)

// Version is a version of an entry as all spaces know it.
type Version struct {
	Replica string `json:"r"` // the branch of a space on which it was written
	Version uint64 `json:"v"` // of that space
	At      int64  `json:"t"` // µs since the epoch, by the clock of that space
}

// Compare orders versions by their time, and those of one instant in a way that is the same in every space.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.At, o.At), cmp.Compare(v.Replica, o.Replica), cmp.Compare(v.Version, o.Version))
}

// Latest returns the last of some versions in the order of Compare; the zero Version of none.
func Latest(list []Version) (last Version) {
	for _, v := range list {
		if v.Compare(last) > 0 {
			last = v
		}
	}
	return last
}

// Time is when it was written.
func (v Version) Time() time.Time { return time.UnixMicro(v.At).UTC() }

// Union returns the versions of two lists, each once.
func Union(a, b []Version) []Version {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y Version) int {
		return cmp.Or(cmp.Compare(x.Replica, y.Replica), cmp.Compare(x.Version, y.Version))
	})
	return slices.CompactFunc(all, same)
}

// Same reports whether two sorted lists, as Union makes them, name the same versions.
func Same(a, b []Version) bool { return slices.EqualFunc(a, b, same) }

func same(x, y Version) bool { return x.Replica == y.Replica && x.Version == y.Version }

// Vector tells for each replica up to which version it is known.
type Vector map[string]uint64

// has reports whether a version is known.
func (k Vector) has(v Version) bool { return v.Version != 0 && v.Version <= k[v.Replica] }

// HasAll reports whether all versions of a list are known.
func (k Vector) HasAll(list []Version) bool {
	return !slices.ContainsFunc(list, func(v Version) bool { return !k.has(v) })
}

// Add adds what another vector knows.
func (k Vector) Add(o Vector) {
	for replica, version := range o {
		k[replica] = max(k[replica], version)
	}
}

// Known is what is known in some namespaces.
type Known struct {
	Scope    Scope  `json:"scope"`
	Versions Vector `json:"versions"`
}

// Knowledge is what a branch of a space knows.
type Knowledge []Known

// In returns what is known in a namespace.
func (k Knowledge) In(namespace string) Vector {
	all := Vector{}
	for _, known := range k {
		if known.Scope.Covers(namespace) {
			all.Add(known.Versions)
		}
	}
	return all
}

// Throughout returns what is surely known in every namespace of a scope.
func (k Knowledge) Throughout(s Scope) Vector {
	all := Vector{}
	for _, known := range k {
		if known.Scope.isAll() || known.Scope.Key() == s.Key() {
			all.Add(known.Versions)
		}
	}
	return all
}

// Within returns what is known of a scope.
func (k Knowledge) Within(s Scope) Knowledge {
	within := make(Knowledge, len(k))
	for i, known := range k {
		within[i] = Known{known.Scope.Within(s), known.Versions}
	}
	return within
}

// Size counts the versions that it tells of.
func (k Knowledge) Size() int {
	n := 0
	for _, known := range k {
		n += len(known.Versions)
	}
	return n
}
