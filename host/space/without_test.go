package space

import (
	"errors"
	"fmt"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/registry"
)

func TestASpaceWhoseDatabaseDoesNotAnswerIsNotServedWithoutFamilies(t *testing.T) {
	why := fmt.Errorf("open the audit log: %w", &memory.Error{Code: memory.Timeout, Cause: fmt.Errorf("list commits: %w", store.ErrUnavailable)})
	p := &Space{}
	if err := p.openWithoutFamilies(Options{Dir: t.TempDir()}, Environment{}, registry.Lock{}, why); !errors.Is(err, store.ErrUnavailable) || p.Without != nil {
		t.Errorf("go on without families: got %v, and %v as why there are none; want that the space is not opened", err, p.Without)
	}
}
