//go:build race

package sandbox

// spare has room for the race detector's shadow of the memory, which the kernel counts as data.
const spare = 8 << 30
