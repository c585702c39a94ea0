//go:build !linux && !darwin

package bolt

import "io/fs"

// stateOf is the state of a file; ok is false where the system does not tell it: each start examines the database there.
func stateOf(fs.FileInfo) (s fileState, ok bool) { return s, false }
