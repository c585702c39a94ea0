//go:build !amd64

package vector

// fastest are the kernels of this processor.
func fastest() kernels { return portable() }
