//go:build unix

package process

import "golang.org/x/sys/unix"

func cpuSeconds() *float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return nil
	}
	return new(float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9)
}

// limit is a limit of the process as it counts now.
func limit(resource int) *float64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return nil
	}
	return new(float64(l.Cur))
}
