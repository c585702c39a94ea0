//go:build !linux

package backup

import "os"

// direct is not known on this system.
func direct(*os.File, bool) bool { return false }

func alignedBuffer(size int) ([]byte, error) { return make([]byte, size), nil }

func freeBuffer([]byte) error { return nil }
