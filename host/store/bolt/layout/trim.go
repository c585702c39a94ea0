package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Trim is how far back a branch is kept.
type Trim struct {
	Floor store.Point
	Pins  []uint64 // versions below the floor that can be read too, ascending
	Keep  []store.Keep
	Done  bool // what is not kept has been dropped
}

var (
	KeyFloor = []byte("floor") // version, then its instant in µs
	keyPins  = []byte("pins")
	keyKeep  = []byte("keep") // JSON; missing where there is none
	keyDone  = []byte("done")

	// Copies: nothing else tells what a damaged one said, and without it branches forked below the floor cannot be read.
	keyFloorAgain = []byte("floor again")
	keyPinsAgain  = []byte("pins again")
	keyKeepAgain  = []byte("keep again")
)

// ReadTrim is the trim of a branch, given its bucket; ok is false where it was never trimmed.
func ReadTrim(branch *bbolt.Bucket, id store.BranchID) (t Trim, ok bool, err error) {
	r := InBranch(branch, id, KindTrim)
	if r.Bucket == nil {
		return t, false, nil
	}
	floor, errFloor := r.Read(KeyFloor)
	pins, errPins := r.Read(keyPins)
	done, errDone := r.Read(keyDone)
	keep, errKeep := r.Read(keyKeep)
	if err := errors.Join(errFloor, errPins, errDone, errKeep); err != nil {
		return t, false, fmt.Errorf("read the trim of branch %d: %w", id, err)
	}
	t, ok = decodeTrim(floor, pins)
	t.Done = done != nil
	if keep != nil {
		if err := json.Unmarshal(keep, &t.Keep); err != nil {
			return t, false, fmt.Errorf("decode what branch %d keeps below its floor: %w: %w", id, store.ErrDamaged, err)
		}
	}
	return t, ok, nil
}

func decodeTrim(floor, pins []byte) (t Trim, ok bool) {
	if len(floor) != 16 {
		return t, false
	}
	t.Floor = PointOf(floor[:8], floor[8:])
	for ; len(pins) >= 8; pins = pins[8:] {
		t.Pins = append(t.Pins, FromU64(pins[:8]))
	}
	return t, true
}

// Write replaces the trim of a branch by one that is not done.
func (t Trim) Write(r Records) error {
	var pins []byte
	for _, pin := range t.Pins {
		pins = append(pins, U64(pin)...)
	}
	floor := append(U64(t.Floor.Version), U64(uint64(t.Floor.Time.UnixMicro()))...)
	err := errors.Join(r.Write(KeyFloor, floor), r.Write(keyPins, pins), r.Remove(keyDone), r.Write(keyFloorAgain, floor), r.Write(keyPinsAgain, pins))
	if err != nil || len(t.Keep) == 0 {
		return errors.Join(err, r.Remove(keyKeep), r.Remove(keyKeepAgain))
	}
	keep, err := json.Marshal(t.Keep)
	return errors.Join(err, r.Write(keyKeep, keep), r.Write(keyKeepAgain, keep))
}

// Keeps reports whether the branch can be read at a version.
func (t Trim) Keeps(at uint64) bool {
	_, pinned := slices.BinarySearch(t.Pins, at)
	return at >= t.Floor.Version || pinned
}

// Needs reports whether a version can still be read, given the next newer one of its key.
func (t Trim) Needs(version, newer uint64) bool {
	if newer > t.Floor.Version {
		return true // visible at the floor or above
	}
	return slices.ContainsFunc(t.Pins, func(pin uint64) bool { return version <= pin && pin < newer })
}

// FinishTrim records that all has been dropped that the trim does not keep.
func FinishTrim(r Records) error { return r.Write(keyDone, []byte{1}) }

// RestoreTrim restores the records of a trim that are missing from their copies, and reports whether there is a floor.
func RestoreTrim(r Records) (hasFloor bool, err error) {
	for _, twice := range [][2][]byte{{KeyFloor, keyFloorAgain}, {keyPins, keyPinsAgain}, {keyKeep, keyKeepAgain}} {
		for i := range twice {
			if was := r.Get(twice[1-i]); was != nil && r.Get(twice[i]) == nil {
				value, errGet := r.Read(twice[1-i])
				err = errors.Join(err, errGet, r.Write(twice[i], bytes.Clone(value)))
			}
		}
	}
	return r.Get(KeyFloor) != nil, err
}
