package bolt

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/regular"
)

// placeOf names a file and the kernel that has its pages; ok is false on a file system that is not of this machine alone.
func placeOf(path string) (name string, ok bool) {
	kernel, err := regular.Read("/proc/sys/kernel/random/boot_id", longestMachine)
	mark := markOf(path)
	if err != nil || mark == "" {
		return "", false
	}
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO, &s); err != nil {
		return "", false
	}
	var on unix.Statfs_t
	if err := unix.Statfs(path, &on); err != nil || !slices.Contains(localFileSystems(), uint32(on.Type)) {
		return "", false
	}
	return fmt.Sprintf("kernel %s, device %d:%d, inode %s", bytes.TrimSpace(kernel), s.Dev_major, s.Dev_minor, mark), true
}

// localFileSystems are those whose files no other machine writes.
func localFileSystems() []uint32 {
	return []uint32{
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
		0x2fc12fc1, // ZFS
		0xca451a4e, // bcachefs
	}
}
