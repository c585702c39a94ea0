package ops

import (
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestEveryOperationOfTheABIIsServed(t *testing.T) {
	for op := range abi.Ops() {
		if operations()[op] == nil {
			t.Errorf("%s is not", op)
		}
	}
	if len(operations()) != len(abi.Ops()) {
		t.Errorf("%d are served, of %d", len(operations()), len(abi.Ops()))
	}
}
