package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ownDirectory is the directory in which a process runs, whatever it is called meanwhile.
const ownDirectory = "/proc/self/cwd"

// pinned opens a private directory. Its path leads through the open file, so others can rename it, but not exchange it.
func pinned(dir string) (privateDir, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return privateDir{}, err
	}
	h := privateDir{path: fmt.Sprintf("/proc/self/fd/%d", f.Fd()), pin: f}
	if err := h.check(dir); err != nil {
		return privateDir{}, errors.Join(err, f.Close())
	}
	return h, nil
}

func (h privateDir) check(dir string) error {
	info, err := h.pin.Stat()
	if err != nil {
		return err
	}
	through, err := os.Stat(h.path)
	if err != nil || !os.SameFile(info, through) {
		return fmt.Errorf("hold %s open, because others could put another directory in its place: /proc is not mounted", dir)
	}
	return checkClosed(dir, info)
}
