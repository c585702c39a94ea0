//go:build !linux

package sandbox

// confine does nothing here: the parent's timeout and watchMemory must do.
func confine(int64) {}

// mostProcesses returns nothing here: the limit is unknown.
func mostProcesses() string { return "" }
