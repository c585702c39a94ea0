//go:build !linux

package bolt

// releasePages does nothing on this system.
func (e *Engine) releasePages() {}
