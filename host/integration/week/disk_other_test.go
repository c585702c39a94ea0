//go:build !linux

package week_test

import "testing"

// smallDisk is a directory of a disk that cannot be filled.
func smallDisk(t *testing.T) (dir string, fill func() (free func())) { return t.TempDir(), nil }
