package sandbox

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorTime returns the processor time that this process got, on all processors together.
func processorTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return time.Duration(time.Now().UnixNano()) // the clock decides
	}
	return interval(kernel) + interval(user)
}

// interval is a Filetime, which counts 100 nanoseconds, that is no moment.
func interval(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
