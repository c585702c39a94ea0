package sandbox

import "io/fs"

// owned is left to the access rights of the user's own directories.
func owned(fs.FileInfo) bool { return true }

func ownedByRoot(fs.FileInfo) bool { return true }
