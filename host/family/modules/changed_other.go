//go:build !linux && !darwin

package modules

import (
	"os"
	"time"
)

// ChangedAt returns the zero time: the system does not tell when a file was last changed, apart from its modification time.
func ChangedAt(os.FileInfo) time.Time { return time.Time{} }
