//go:build !linux && !darwin

package family

import (
	"os"
	"time"
)

// changedAt returns the zero time: the system does not tell when a file was last changed, apart from its modification time.
func changedAt(os.FileInfo) time.Time { return time.Time{} }
