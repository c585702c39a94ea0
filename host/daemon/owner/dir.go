package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Sharing selects the other users that may write to a data directory. The zero value: none.
type Sharing struct {
	Group bool // its group, and the user that it belongs to
}

// ExposedError means that other users can write to a data directory.
type ExposedError struct {
	Dir string
	Who string // the users who can write
	Do  string // the remedy
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("%s can replace what is in the data directory %s: %s", e.Who, e.Dir, e.Do)
}

// dirAccess describes who can create files in a directory.
type dirAccess struct {
	all    bool // every user
	sticky bool // every user, but only the owner of a file can replace it
	group  bool
	owner  int // another user, who is not root; 0: none
}

// CheckDir returns an ExposedError for a data directory in which others could replace the database, the token or the
// sockets, and warnings where permitted users can, or where the directory itself can be replaced. A missing directory is
// created with mode 0700.
func (s Sharing) CheckDir(dir string) (warnings []string, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the data directory: %w", err)
	}
	e := exposure(info)
	switch {
	case e.all || e.sticky:
		return nil, &ExposedError{dir, "every user of this machine", fmt.Sprintf("run chmod 700 %q, and look whether what is in it is yours", dir)}
	case e.owner != 0 && !s.Group:
		return nil, &ExposedError{dir, fmt.Sprintf("user %d, to whom it belongs,", e.owner),
			fmt.Sprintf("run chown %d %q as root, choose another directory with --data, or allow it with --shared-group", os.Getuid(), dir)}
	case e.group && !s.Group:
		warnings = append(warnings, fmt.Sprintf("all members of its group can replace what is in the data directory %s: run chmod g-w %q, or allow it with --shared-group", dir, dir))
	}
	for _, above := range parents(dir) {
		if info, err := os.Stat(above); err == nil && exposure(info).all {
			warnings = append(warnings, fmt.Sprintf("every user of this machine can put another directory in the place of %s: run chmod o-w %q, or chmod +t", dir, above))
		}
	}
	return warnings, nil
}

// parents returns the directory that holds the data directory's name, and its target's if that is a link.
func parents(dir string) []string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	list := []string{filepath.Dir(abs)}
	if real, err := filepath.EvalSymlinks(abs); err == nil && filepath.Dir(real) != list[0] {
		list = append(list, filepath.Dir(real))
	}
	return list
}
