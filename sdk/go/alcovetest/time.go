package alcovetest

import (
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Touch counts accesses of memories of the space's namespace, as recalls at an instant do.
func (s *Space) Touch(at time.Time, accesses int, keys ...string) {
	s.t.Helper()
	s.must(s.begin())
	s.clock.set(at)
	s.must(s.askNow(abi.OpMemoryTouch, alcove.MemoryTouchRequest{Keys: keys, Accesses: &accesses}, nil))
	s.clock.set(s.Now)
}

// Merge merges a branch, such as one of proposals, into the space's.
func (s *Space) Merge(source string) {
	s.t.Helper()
	s.must(s.begin())
	owner := memory.Caller{Agent: s.Caller, Rights: memory.FullRights()}
	shown, err := s.space.As(owner).Diff(s.t.Context(), memory.DiffQuery{Source: source, Target: s.Branch})
	s.must(err)
	_, err = s.space.As(owner).Merge(s.t.Context(), memory.Merge{Source: source, Target: s.Branch, Seen: shown.Seen}, memory.Write{Agent: s.Caller})
	s.must(err)
}
