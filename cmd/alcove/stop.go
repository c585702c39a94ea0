package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	stoppedWithin = time.Minute // for the server to end its work and leave
	stopPause     = 20 * time.Millisecond
)

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the server of the data directory, and wait until it has exited", Args: noArguments,
		Long: `Stop the server of the data directory, and wait until it has exited. Running calls finish first. The next command, or the next call
of an MCP client, starts a new server. A service starts again at the next login; alcove service remove ends that.`,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.ownDir()
			if err != nil {
				return err
			}
			pid, err := a.stop(c.Context(), dir)
			switch {
			case err != nil:
				return err
			case a.asJSON:
				return a.printJSON(map[string]int{"stopped": pid})
			case pid == 0:
				return a.printf("no server is running for %s\n", dir)
			}
			return a.printf("stopped process %d, which served %s\n", pid, dir)
		},
	}
}

// stop ends the server of a data directory, or has it close the directory if that is one of its spaces, and returns its process; 0: none was
// running.
func (a *app) stop(ctx context.Context, dir string) (pid int, err error) {
	pid, running := serving(dir)
	if !running {
		return 0, nil
	}
	if pid == 0 {
		return 0, &client.Error{Code: client.Unavailable, Message: fmt.Sprintf("a process that does not say who it is has %s open: lsof %q names it", dir, owner.LockPath(dir))}
	}
	if server, found := a.serverOfSpaces(dir); found && server.PID == pid {
		err = stopSpace(ctx, dir)
	} else {
		err = interrupt(pid)
	}
	if err != nil {
		return 0, fmt.Errorf("stop process %d, which serves %s: %w", pid, dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stoppedWithin)
	defer cancel()
	for {
		if now, running := serving(dir); !running || now != 0 && now != pid { // another may have come already
			return pid, nil
		}
		select {
		case <-ctx.Done():
			return 0, &client.Error{Code: client.Timeout, Message: fmt.Sprintf("process %d was told to stop, and still serves %s after %s: end it with kill %d", pid, dir, stoppedWithin, pid)}
		case <-time.After(stopPause):
		}
	}
}

// serving reports whether a data directory has a server, and its process; 0: it has not said.
func serving(dir string) (pid int, running bool) {
	var owned *owner.OwnedError
	if !errors.As(owner.CheckFree(dir), &owned) {
		return 0, false
	}
	return owned.PID, true
}

// interrupt asks a process to end. On Windows there is no asking; what was acknowledged is on disk.
func interrupt(pid int) error {
	p, err := os.FindProcess(pid)
	switch {
	case err != nil:
	case runtime.GOOS == "windows":
		err = p.Kill()
	default:
		err = p.Signal(os.Interrupt)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
