package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// writeOutput writes a file that the command line names. It never replaces what is no regular file.
func writeOutput(path string, perm fs.FileMode, write func(w io.Writer) error) error {
	if _, err := destination(path); err != nil {
		return err
	}
	if err := durable.Output(path, perm, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeOutputFile(path string, perm fs.FileMode, data []byte) error {
	return writeOutput(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// destination is the file that an output to a path replaces or makes.
func destination(path string) (string, error) {
	to, err := regular.Destination(path)
	if errors.Is(err, regular.ErrNot) {
		err = &usageError{fmt.Errorf("%w: give the path of a file to write", err)}
	}
	return to, err
}
