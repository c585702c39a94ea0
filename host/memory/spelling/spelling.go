// Package spelling finds keys that are spelled like another.
package spelling

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// longestNear bounds a key that is compared letter by letter, in characters.
const longestNear = 64

// Nearest returns at most some of the keys that are spelled like another, the nearest first.
func Nearest(keys []string, key string, most int) []string {
	type far struct {
		key  string
		away int
	}
	var list []far
	wanted := []rune(folded(key))
	for _, k := range keys {
		if away, ok := editDistance(wanted, k); ok {
			list = append(list, far{k, away})
		}
	}
	slices.SortFunc(list, func(a, b far) int { return cmp.Or(cmp.Compare(a.away, b.away), strings.Compare(a.key, b.key)) })
	list = slices.CompactFunc(list, func(a, b far) bool { return a.key == b.key })
	var near []string
	for _, f := range list[:min(len(list), most)] {
		near = append(near, f.key)
	}
	return near
}

// folded returns a key without what people spell in different ways: case, and what separates words.
func folded(key string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/_-.: ", r) {
			return '/'
		}
		return unicode.ToLower(r)
	}, key)
}

// editDistance returns how far a key is from the wanted one, which is folded; ok is false if they are not alike.
func editDistance(wanted []rune, key string) (away int, ok bool) {
	k := []rune(folded(key))
	most := min(1+len(wanted)/5, 4)
	switch {
	case slices.Equal(wanted, k):
		return 0, true
	case len(wanted) <= longestNear && len(k) <= longestNear:
		if away = distance(wanted, k, most); away <= most && 2*away < len(wanted) {
			return away, true
		}
	}
	if len(wanted) < 3 || len(k) < 3 {
		return 0, false
	}
	within := func(whole, part []rune) bool { // from the beginning, or after a separator to the end
		return strings.HasPrefix(string(whole), string(part)) || strings.HasSuffix(string(whole), "/"+string(part))
	}
	return most + 1, within(k, wanted) || within(wanted, k)
}

// distance returns how many letters are to be changed, added, left out or swapped with the next to get from one text to another, or
// something above most if it is more.
func distance(a, b []rune, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		least := row[0]
		for j := range b {
			row[j+1] = min(last[j+1], row[j]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], last[j])
			} else {
				row[j+1] = min(row[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
