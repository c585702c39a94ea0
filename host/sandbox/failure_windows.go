package sandbox

import (
	"os"
	"syscall"
)

// signalOf returns 0: Windows has no signals.
func signalOf(*os.ProcessState) syscall.Signal { return 0 }

// mostMemory returns 0: it is unknown on Windows.
func mostMemory(*os.ProcessState) int64 { return 0 }
