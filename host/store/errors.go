package store

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict is what a ConflictError is.
	ErrConflict = errors.New("conflict")
	// ErrRequestReused says that a request id was used before for something else.
	ErrRequestReused = errors.New("request id was already used for a different request")
	// ErrTrimmed is what a TrimmedError is.
	ErrTrimmed = errors.New("that past is no longer kept")
	// ErrNotFound says that there is no such blob or version.
	ErrNotFound = errors.New("not found")
	// ErrFull says that there is no space left to write in. Nothing was changed.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly says that the data directory cannot be written.
	ErrReadOnly = errors.New("the data directory cannot be written")
	// ErrReplaced says that the files that are open are not the ones in the data directory: they were moved, deleted or
	// replaced. What would be written could not be found again.
	ErrReplaced = errors.New("the files of the store were moved, deleted or replaced while the server has them open")
	// ErrDamaged says that what is stored is not as it was written. Nothing of it was answered.
	ErrDamaged = errors.New("the store is damaged")
	// ErrChanged says that old versions were dropped while a dump was made: it must be made again.
	ErrChanged = errors.New("old versions were dropped meanwhile: start again")
	// ErrHeld is what a HeldError is.
	ErrHeld = errors.New("old versions are held for a backup or an export")
	// ErrNotEmpty says that a space is there already.
	ErrNotEmpty = errors.New("there is a store already: choose an empty directory")
	// ErrClosed says that the engine was closed.
	ErrClosed = errors.New("store is closed")
)

// ConflictError says which expectation of a batch did not hold. It is an ErrConflict.
type ConflictError struct {
	Key    Key      // of the Expectation; zero for a Quiet
	Branch BranchID // of the Quiet
	Want   uint64   // the version that was expected
	Have   uint64   // the version that was there; 0 for none
}

func (e *ConflictError) Error() string {
	if e.Key == (Key{}) {
		return fmt.Sprintf("branch %d was written at version %d, after version %d", e.Branch, e.Have, e.Want)
	}
	return fmt.Sprintf("%s is at version %d, not %d", e.Key, e.Have, e.Want)
}

// Is makes a ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// TrimmedError says how far back a branch is kept. It is an ErrTrimmed.
type TrimmedError struct {
	Branch BranchID
	Floor  Point // the oldest point that can be asked for
}

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("branch %d is kept from version %d (%s) on", e.Branch, e.Floor.Version, e.Floor.Time.Format("2006-01-02T15:04:05.000000Z07:00"))
}

// Is makes a TrimmedError an ErrTrimmed.
func (e *TrimmedError) Is(target error) bool { return target == ErrTrimmed }

// HeldError says that old versions cannot be dropped now. Nothing was changed. It is an ErrHeld.
type HeldError struct {
	Released <-chan struct{} // closed when it is worth another try
}

func (e *HeldError) Error() string { return ErrHeld.Error() + ": they are dropped when it is done" }

// Is makes a HeldError an ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }
