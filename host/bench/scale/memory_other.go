//go:build !linux

package scale

import (
	"errors"
	"runtime"
)

func memoryOf(int) (*Memory, error) {
	return nil, errors.New("the memory of a process is measured on Linux only, not on " + runtime.GOOS)
}
