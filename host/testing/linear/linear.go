// Package linear judges whether the memories that several clients wrote and read behaved like one copy of each.
package linear

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Asked is what a client asked about one key. An Expect below 0 puts unconditionally.
type Asked struct {
	Kind   string // get, put, forget
	Key    string
	Value  string
	Expect int64
}

// Got is how it was answered.
type Got struct {
	Version  uint64 // 0: there was none
	Value    string
	Conflict bool
}

// held is what a key holds; newest is the highest version that it ever had.
type held struct {
	version, newest uint64
	value           string
}

// History is what clients asked, and how they were answered. Its methods may be called concurrently.
type History struct {
	began time.Time
	mu    sync.Mutex
	list  []porcupine.Operation
}

// New returns an empty history.
func New() *History { return &History{began: time.Now()} }

// Now is a moment of the history.
func (h *History) Now() time.Duration { return time.Since(h.began) }

// Add adds what a client asked at a moment, and what was answered just now.
func (h *History) Add(client int, in Asked, out Got, called time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(called), Return: int64(h.Now())})
}

// Len is the number of operations.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.list)
}

// Wins counts the conditional puts that took effect, and those that did not.
func (h *History) Wins() (won, lost int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range h.list {
		switch {
		case op.Input.(Asked).Expect < 0:
		case op.Output.(Got).Conflict:
			lost++
		default:
			won++
		}
	}
	return won, lost
}

// Judge says what is wrong with the history; empty when nothing is.
func (h *History) Judge() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range byKey(h.list) {
		switch porcupine.CheckOperationsTimeout(register(), part, 30*time.Second) {
		case porcupine.Unknown:
			return fmt.Sprintf("the history of %s, %d operations, takes too long to judge", part[0].Input.(Asked).Key, len(part))
		case porcupine.Illegal:
			return "no order explains the history of " + describe(part)
		}
	}
	return ""
}

// register is what a memory must behave like, whatever happens to the server: one copy of each key, on which operations
// take effect one at a time, each between its call and its return.
func register() porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return held{} },
		Step: func(state, input, output any) (bool, any) {
			return step(state.(held), input.(Asked), output.(Got))
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
	}
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, op := range history {
		key := op.Input.(Asked).Key
		parts[key] = append(parts[key], op)
	}
	var list [][]porcupine.Operation
	for _, part := range parts {
		list = append(list, part)
	}
	return list
}

func step(h held, in Asked, out Got) (bool, held) {
	switch {
	case in.Kind == "get":
		return out.Version == h.version && out.Value == h.value, h
	case in.Kind == "forget":
		return (h.version != 0) == (out.Version != 0), held{newest: h.newest}
	case out.Conflict:
		return in.Expect >= 0 && uint64(in.Expect) != h.version && out.Version == h.version, h
	case in.Expect >= 0 && uint64(in.Expect) != h.version:
		return false, h
	}
	return out.Version > h.newest, held{version: out.Version, newest: out.Version, value: in.Value}
}

func describe(part []porcupine.Operation) string {
	var out strings.Builder
	fmt.Fprintln(&out, part[0].Input.(Asked).Key)
	for _, op := range part {
		fmt.Fprintf(&out, "%8d to %8d µs, client %d: %+v → %+v\n", op.Call/1000, op.Return/1000, op.ClientId, op.Input, op.Output)
	}
	return out.String()
}
