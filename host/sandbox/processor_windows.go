package sandbox

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorNow returns the time of all threads of this process together, as if they were one: x/sys does not know a thread's.
func processorNow() processor {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return processor{} // the clock decides
	}
	return processor{1, interval(kernel) + interval(user)}
}

// interval is a Filetime, which counts 100 nanoseconds, that is no moment.
func interval(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
