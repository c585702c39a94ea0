package stress

import (
	"hash/fnv"
	"os"
	"strconv"
	"testing"
	"time"
)

// PartsVariable says which part of the long tests runs: "all", or the number of a day since 1970, whose part runs again.
const PartsVariable = "ALCOVE_PARTS"

// All reports whether long tests run in full.
func All() bool { return os.Getenv(PartsVariable) == "all" }

// Pick returns n elements of a list, other ones each day, so that each has its day. It returns the whole list where long tests run in full.
func Pick[T any](t testing.TB, n int, list []T) []T {
	t.Helper()
	if All() || n >= len(list) {
		return list
	}
	first := int((part(t) * uint64(n)) % uint64(len(list)))
	picked := make([]T, 0, n)
	for i := range n {
		picked = append(picked, list[(first+i)%len(list)])
	}
	return picked
}

// Seeds returns n numbers of 0 to all-1, other ones each day. It returns all of them where long tests run in full.
func Seeds(t testing.TB, n, all int) []int {
	t.Helper()
	list := make([]int, all)
	for i := range list {
		list[i] = i
	}
	return Pick(t, n, list)
}

// Turn reports whether a test runs today, which it does on one of so many days, and where long tests run in full.
func Turn(t testing.TB, days uint64) bool {
	t.Helper()
	return All() || part(t)%days == 0
}

// part is the number of the part of a test that runs. Tests of other names begin elsewhere, so that the longest parts of several tests
// do not all run on the same day.
func part(t testing.TB) uint64 {
	t.Helper()
	today := day(t)
	t.Logf("a part runs: %s=%d repeats it, %s=all runs all", PartsVariable, today, PartsVariable)
	name := fnv.New32a()
	name.Write([]byte(t.Name()))
	return today + uint64(name.Sum32()%(1<<16))
}

// day is the number of the day since 1970, or the one that PartsVariable gives.
func day(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv(PartsVariable)
	if text == "" || All() {
		return uint64(time.Now().Unix() / (24 * 60 * 60))
	}
	given, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s=%s is neither all nor the number of a day: %v", PartsVariable, text, err)
	}
	return given
}
