//go:build !linux

package sandbox

import "errors"

// ownDirectory is the directory in which a process runs.
const ownDirectory = "."

// pinned holds nothing here: there are no paths through an open directory.
func pinned(string) (privateDir, error) { return privateDir{}, errors.ErrUnsupported }
