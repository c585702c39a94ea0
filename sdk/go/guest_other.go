//go:build !wasip1

package alcove

// reserve is of use to guests only.
func reserve() {}
