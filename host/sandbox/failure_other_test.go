//go:build !linux

package sandbox

// lack does nothing here.
func lack(string) {}
