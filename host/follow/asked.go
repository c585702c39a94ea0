// Package follow answers reads of a space that another server leads from a copy, which follows the leader's commits.
//
// A client says how old an answer may be. A copy is as new as the last question of where the space is: if that is too long ago, it asks
// again, and takes over what was committed since. What it cannot answer as asked, the leader answers.
package follow

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Headers of requests and answers.
const (
	StalenessHeader = "Alcove-Max-Staleness-Ms" // how old an answer may be
	LeastHeader     = "Alcove-Min-Version"      // the version that an answer has at least: that of an earlier one
	VersionHeader   = "Alcove-Version"          // of an answer: it has every commit up to that
	AgeHeader       = "Alcove-Staleness-Ms"     // of an answer that the leader did not give: it has every commit from before
)

// Bounds of what is asked.
const (
	longestStaleness = 24 * time.Hour
	// Oldest is how old answers are at most, whatever is asked: rights that were taken away end everywhere by then.
	Oldest = 2 * time.Second
)

// Asked is how new an answer has to be.
type Asked struct {
	Within time.Duration // what was committed longer ago is in it
	Least  uint64        // a version
}

// AskedIn reads the headers of a request. any is false if it says nothing, and the leader is to answer.
func AskedIn(h http.Header) (a Asked, any bool, err error) {
	a.Within = Oldest
	ms, given, err := number(h, StalenessHeader, uint64(longestStaleness.Milliseconds()))
	if err != nil {
		return a, false, err
	}
	if given {
		a.Within = min(Oldest, time.Duration(ms)*time.Millisecond)
	}
	least, versioned, err := number(h, LeastHeader, 1<<63-1)
	if err != nil {
		return a, false, err
	}
	a.Least = least
	return a, given || versioned, nil
}

// number reads a header that is a whole number.
func number(h http.Header, name string, most uint64) (n uint64, given bool, err error) {
	values := h.Values(name)
	if len(values) == 0 {
		return 0, false, nil
	}
	if len(values) == 1 {
		n, err = strconv.ParseUint(values[0], 10, 64)
	}
	if len(values) > 1 || err != nil || n > most {
		return 0, false, fmt.Errorf("the header %s is %.40q, %d times: give one whole number from 0 to %d", name, values[0], len(values), most)
	}
	return n, true, nil
}
