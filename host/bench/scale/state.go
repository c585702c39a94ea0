package scale

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/durable"
)

// stateVersion changes with what a state means, or with the texts of a seed.
const stateVersion = 1

// state is how far a run is. It is kept beside the data, so that an interrupted run goes on.
type state struct {
	Version int              `json:"version"`
	Texts   string           `json:"texts"` // their name
	Seed    uint64           `json:"seed"`
	Batch   int              `json:"batch"`
	Stored  map[string]grown `json:"stored"`  // by store
	Program string           `json:"program"` // the version of that which was measured last
	Sizes   []Size           `json:"sizes"`   // that are measured
}

// grown is how far a store is filled.
type grown struct {
	Memories  int             `json:"memories"`
	Seconds   float64         `json:"seconds"` // of storing
	TextBytes int64           `json:"text_bytes"`
	Marks     map[int]float64 `json:"marks"` // seconds at a number of memories
}

func statePath(dir string) string { return filepath.Join(dir, "scale.json") }

func (s state) save(dir string) error {
	data, err := json.Marshal(s)
	if err == nil {
		err = durable.WriteFile(statePath(dir), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep how far the run is: %w", err)
	}
	return nil
}

// begin is the state that a run in a directory begins with.
func begin(dir string, want state, resume bool) (state, error) {
	data, err := os.ReadFile(statePath(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist) && resume:
		return state{}, fmt.Errorf("%s has no run to go on with: leave --resume out, or name the --dir of the interrupted run", dir)
	case errors.Is(err, fs.ErrNotExist):
		return want, fresh(dir)
	case err != nil:
		return state{}, fmt.Errorf("read how far the run in %s is: %w: choose another --dir", dir, err)
	case !resume:
		return state{}, fmt.Errorf("%s has a run already: go on with it by --resume, or choose another --dir", dir)
	}
	var have state
	if err := json.Unmarshal(data, &have); err != nil {
		return state{}, fmt.Errorf("read how far the run in %s is: %w: choose another --dir", dir, err)
	}
	if have.Version != want.Version || have.Texts != want.Texts || have.Seed != want.Seed || have.Batch != want.Batch {
		return state{}, fmt.Errorf("the run in %s is of version %d, %s, seed %d and batches of %d, not of version %d, %s, seed %d and batches of %d: give it the same flags, or choose another --dir",
			dir, have.Version, have.Texts, have.Seed, have.Batch, want.Version, want.Texts, want.Seed, want.Batch)
	}
	return have, nil
}

// fresh makes a directory, which must be empty.
func fresh(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the run: %w: choose another --dir", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the directory of the run: %w: choose another --dir", err)
	}
	if len(list) > 0 {
		return fmt.Errorf("%s has files that are not of a run: choose an empty --dir", dir)
	}
	return nil
}
