package space

import (
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// DefaultDriver keeps the stores of all data directories for which no other driver is chosen. Nothing else above the store
// names an engine.
func DefaultDriver() store.Driver { return bolt.Driver{} }
