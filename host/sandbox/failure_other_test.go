//go:build !linux

package sandbox

// lack would take from the compiler what it needs.
func lack(string) {}
