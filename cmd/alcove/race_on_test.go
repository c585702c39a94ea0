//go:build race

package main

// underRace is whether the tests run under the race detector, which takes more memory than some of them allow.
const underRace = true
