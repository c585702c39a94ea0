//go:build !windows

package bolt

import "syscall"

// outOfSpace are the errors of a full disk, and of a used up quota.
func outOfSpace() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }
