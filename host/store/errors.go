package store

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict matches every ConflictError.
	ErrConflict = errors.New("conflict")
	// ErrRequestReused means that a request id was used before with another digest.
	ErrRequestReused = errors.New("request id was already used for a different request")
	// ErrTrimmed matches every TrimmedError.
	ErrTrimmed = errors.New("that past is no longer kept")
	// ErrNotFound means that a blob or version does not exist.
	ErrNotFound = errors.New("not found")
	// ErrFull means that the disk is full. Nothing was changed.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly means that the data directory cannot be written, or was opened read-only.
	ErrReadOnly = errors.New("the data directory cannot be written")
	// ErrDiverged means that what a Mirror is given does not continue its copy.
	ErrDiverged = errors.New("it does not continue the present content")
	// ErrReplaced means that the open files are no longer those in the data directory: they were moved, deleted or replaced.
	// A write would be lost at the next start.
	ErrReplaced = errors.New("the files of the store were moved, deleted or replaced while the server has them open")
	// ErrUnavailable means that the database of the store does not answer. A commit may have taken effect, which its request id tells
	// when it answers again.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrFenced means that another server has taken the space over. This one can write nothing to it any more.
	ErrFenced = errors.New("another server has taken the space over")
	// ErrDamaged means that stored data is corrupt. None of it was returned.
	ErrDamaged = errors.New("the store is damaged")
	// ErrChanged means that old versions were dropped during a dump, which must be started again.
	ErrChanged = errors.New("old versions were dropped meanwhile: start again")
	// ErrHeld matches every HeldError.
	ErrHeld = errors.New("old versions are held for a backup or an export")
	// ErrNotEmpty means that the directory has a space already.
	ErrNotEmpty = errors.New("there is a store already: choose an empty directory")
	// ErrClosed means that the engine is closed.
	ErrClosed = errors.New("store is closed")
)

// ConflictError is an unmet condition of a batch, an Expectation or a Quiet. errors.Is matches it with ErrConflict.
type ConflictError struct {
	Key    Key      // of the Expectation; zero for a Quiet
	Branch BranchID // of the Quiet
	Want   uint64   // the expected version
	Have   uint64   // the current version; 0: none
}

func (e *ConflictError) Error() string {
	if e.Key == (Key{}) {
		return fmt.Sprintf("branch %d was written at version %d, after version %d", e.Branch, e.Have, e.Want)
	}
	return fmt.Sprintf("%s is at version %d, not %d", e.Key, e.Have, e.Want)
}

// Is matches ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// TrimmedError is a read below a branch's floor. errors.Is matches it with ErrTrimmed.
type TrimmedError struct {
	Branch BranchID
	Floor  Point // the oldest readable point
}

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("branch %d is kept from version %d (%s) on", e.Branch, e.Floor.Version, e.Floor.Time.Format("2006-01-02T15:04:05.000000Z07:00"))
}

// Is matches ErrTrimmed.
func (e *TrimmedError) Is(target error) bool { return target == ErrTrimmed }

// HeldError means that a dump holds old versions, so they cannot be dropped now. Nothing was changed. errors.Is matches
// it with ErrHeld.
type HeldError struct {
	Released <-chan struct{} // closed when a retry may succeed
}

func (e *HeldError) Error() string { return ErrHeld.Error() + ": they are dropped when it is done" }

// Is matches ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }
