//go:build !race

package sandbox

// spare is the memory that a Go program maps but does not count, in bytes.
const spare = 256 << 20
