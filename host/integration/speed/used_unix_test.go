//go:build !windows

package speed_test

import (
	"os"
	"syscall"
	"testing"
)

// usedBytes is how much of a disk a file takes, its holes left out.
func usedBytes(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}
