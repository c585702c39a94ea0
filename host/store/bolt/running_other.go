//go:build !linux

package bolt

// placeOf is not known here: a start after a kill examines the database first.
func placeOf(string) (name string, ok bool) { return "", false }
