//go:build !linux

package bolt

// letGo does nothing: only on Linux it is known that it may.
func (e *Engine) letGo() {}
