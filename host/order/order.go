// Package order sorts lists by code that all element types share. Package slices is about twice as fast, and each type of elements
// that it sorts costs 20 kB of the program, so it is for lists that are long or sorted often.
package order

import "sort"

// By sorts a list. Equal elements may change their order.
func By[E any](list []E, compare func(a, b E) int) { sort.Sort(sorter[E]{list, compare}) }

// StableBy sorts a list. Equal elements keep their order.
func StableBy[E any](list []E, compare func(a, b E) int) { sort.Stable(sorter[E]{list, compare}) }

type sorter[E any] struct {
	list    []E
	compare func(a, b E) int
}

func (s sorter[E]) Len() int           { return len(s.list) }
func (s sorter[E]) Less(i, j int) bool { return s.compare(s.list[i], s.list[j]) < 0 }
func (s sorter[E]) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
