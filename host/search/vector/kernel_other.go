//go:build !amd64

package vector

// fastest returns the kernels for this processor.
func fastest() kernels { return portable() }
