//go:build !linux

package bolt

// releasePages does nothing: only Linux is known to allow it.
func (e *Engine) releasePages() {}
