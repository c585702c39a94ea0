package sandbox

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// processorNow returns the time of the calling thread.
func processorNow() processor {
	runtime.LockOSThread() // or the number could be that of another thread than the time
	defer runtime.UnlockOSThread()
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		return processor{} // the clock decides
	}
	return processor{unix.Gettid(), time.Duration(used.Nano())}
}
