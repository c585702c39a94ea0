package family

import (
	"sync"
	"testing"
)

// The first to see a stored hook that was just granted notes where it begins. The others take that beginning.
func TestSeveralMayBeTheFirstToSeeAStoredHook(t *testing.T) {
	w := open(t, nil).with(onStored("diary"), answers(`"diary"`))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := w.Listen(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
