package owner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Starter returns a Start for Options: it runs the program with `serve --data dir --auto` and further arguments, in its own
// session, logging to the data directory.
func Starter(program, dir string, added ...string) func() (<-chan error, error) {
	return func() (<-chan error, error) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(abs, 0o700); err != nil {
			return nil, fmt.Errorf("make the data directory: %w", err)
		}
		log, err := OpenLog(abs)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		cmd := exec.Command(program, append([]string{"serve", "--data", abs, "--auto"}, added...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = abs, log.file, log.file
		detach(cmd)
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		return ended, nil
	}
}
