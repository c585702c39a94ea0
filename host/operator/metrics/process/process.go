// Package process reads what the operating system counts of this process.
package process

// Usage is what the process uses. What the platform does not report is nil.
type Usage struct {
	CPUSeconds          *float64 // user and system
	Started             *float64 // seconds since 1970
	Resident            *float64 // bytes
	Virtual, MaxVirtual *float64 // bytes
	OpenFiles, MaxFiles *float64
	Received, Sent      *float64 // bytes, by all of the process's network
}

// Read returns what the process uses.
func Read() Usage { return read() }
