//go:build !linux

package main

import (
	"context"
	"errors"
)

func run(context.Context, string, options) (measurement, error) {
	return measurement{}, errors.New("figures of processes are read from /proc: run it on Linux")
}
