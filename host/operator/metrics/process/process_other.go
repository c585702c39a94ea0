//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

func read() Usage {
	return Usage{CPUSeconds: cpuSeconds(), MaxFiles: limit(unix.RLIMIT_NOFILE), MaxVirtual: limit(unix.RLIMIT_AS)}
}
