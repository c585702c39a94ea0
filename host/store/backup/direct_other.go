//go:build !linux

package backup

import "os"

// enableDirect reports false: this system has no direct writes.
func enableDirect(*os.File) bool { return false }

// disableDirect reports false: this system has no direct writes.
func disableDirect(*os.File) bool { return false }

func alignedBuffer(size int) ([]byte, error) { return make([]byte, size), nil }

func freeBuffer([]byte) error { return nil }
