package bolt

import "golang.org/x/sys/windows"

// outOfSpace are the errors of a full disk, and of a used up quota.
func outOfSpace() []error {
	return []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
}
