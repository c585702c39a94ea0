package memory

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// translate converts an engine's error to one that a caller can act on. It keeps nil and errors of type *Error.
func (s *Space) translate(doing string, err error) error {
	var ready *Error
	var conflicting *store.ConflictError
	var trimmed *store.TrimmedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ready):
		return err
	case errors.As(err, &conflicting):
		return s.conflictError(conflicting)
	case errors.As(err, &trimmed):
		return s.trimmedError(trimmed)
	case errors.Is(err, store.ErrRequestReused):
		return &Error{Code: Conflict, Cause: err, Message: "this request id was used before for a different request: use a fresh id for each request"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Code: Timeout, Retryable: true, Cause: err, Message: "could not " + doing + " in time: a write may still take effect; retry with the same request id"}
	case errors.Is(err, store.ErrDamaged):
		return &Error{Code: Internal, Cause: err, Message: "could not " + doing + ": the data there is damaged. Have the server stopped, then run: alcove verify, and alcove repair"}
	case errors.Is(err, search.ErrDamaged):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "could not " + doing + ": " + err.Error()}
	case errors.Is(err, store.ErrFull):
		return &Error{Code: Exhausted, Retryable: true, Cause: err, Message: "could not " + doing + ": the disk of the server is full, or that of its database. Nothing was changed, and reads still work: free some space there, then try again"}
	case errors.Is(err, store.ErrReadOnly):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "could not " + doing + ": the server may not write to its data directory, or its database takes no writes. Nothing was changed, and reads still work: have the directory's permissions and its disk, or the database, checked, then try again"}
	case errors.Is(err, store.ErrReplaced):
		return &Error{Code: Unavailable, Cause: err, Message: "could not " + doing + ", because " + err.Error() +
			". Writes are refused, and reads still work on the open files. Have the user put the files back, or stop this server: the next one serves what is in the data directory then. alcove doctor says how"}
	case errors.Is(err, store.ErrUnavailable):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "could not " + doing + ": the database of the server does not answer. A write may still take effect: retry with the same request id in a moment, and if this continues have the database checked"}
	case errors.Is(err, store.ErrFenced):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "could not " + doing + ": another server has taken this memory over. Nothing was changed: try again, and if this continues connect to that server, or stop it and start this one again"}
	case errors.Is(err, store.ErrClosed):
		return &Error{Code: Unavailable, Retryable: true, Cause: err, Message: "the memory is shutting down: retry in a moment"}
	}
	return &Error{Code: Internal, Retryable: true, Cause: err, Message: "could not " + doing + ": " + err.Error()}
}

func (s *Space) conflictError(err *store.ConflictError) *Error {
	switch {
	case err.Key.Namespace == lineage.Namespace && err.Key.Collection == lineage.Branches:
		return &Error{Code: NotFound, Cause: err, Message: "the branch was deleted in the meantime: list branches and choose another"}
	case err.Key == (store.Key{}):
		return &Error{Code: Conflict, Retryable: true, Cause: err, Message: "the branch was written in the meantime: try again"}
	}
	// Not retryable: versions only grow, so the same request would fail again. The caller reads, and sends another.
	e := conflict("%q is at version %d, not %d: recall it, then store with if_version=%d", err.Key.Name, err.Have, err.Want, err.Have)
	if err.Have == 0 {
		e = conflict("%q does not exist, so it is not at version %d: store it with if_version=0 or without", err.Key.Name, err.Want)
	}
	e.Cause = err
	e.Details = map[string]any{"key": err.Key.Name, "namespace": err.Key.Namespace, "version": err.Have}
	return e
}

func (s *Space) trimmedError(err *store.TrimmedError) *Error {
	e := invalid("that moment is further back than is kept: the past of branch %q begins at %s (v%d)",
		s.catalogue.NameOf(err.Branch), FormatTime(err.Floor.Time), err.Floor.Version)
	e.Cause = err
	e.Details = map[string]any{"oldest": FormatTime(err.Floor.Time), "oldest_version": err.Floor.Version}
	return e
}

func asTrimmed(err error) (*store.TrimmedError, bool) {
	var trimmed *store.TrimmedError
	return trimmed, errors.As(err, &trimmed)
}
