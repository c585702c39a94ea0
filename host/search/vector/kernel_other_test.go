//go:build !amd64

package vector

// others are the kernels that this processor has beside the fastest.
func others() []kernels { return nil }
