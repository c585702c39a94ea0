//go:build race

package sandbox

// underRace is whether the tests run under the race detector, which takes more memory than some of them allow.
const underRace = true
