package service

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	runWithin  = time.Minute
	mostOutput = 64 << 10
)

// run runs a program of the service manager.
func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s is not installed: run alcove serve by other means", name)
	}
	return strings.ToValidUTF8(string(out[:min(len(out), mostOutput)]), "?"), err
}
