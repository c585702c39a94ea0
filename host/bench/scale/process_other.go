//go:build !linux

package scale

import (
	"errors"
	"runtime"
	"time"
)

func cpuOf(int) (time.Duration, error) {
	return 0, errors.New("the processor time of a process is measured on Linux only, not on " + runtime.GOOS)
}

func memoryOf(int) (*Memory, error) {
	return nil, errors.New("the memory of a process is measured on Linux only, not on " + runtime.GOOS)
}
