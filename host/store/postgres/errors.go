package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alcove-memory/alcove/host/store"
)

// Codes of PostgreSQL's errors.
const (
	codeDiskFull        = "53100"
	codeReadOnly        = "25006"
	codeCanceled        = "57014" // by a timeout, or by an operator
	codeDuplicateSchema = "42P06"
	codeUnique          = "23505"
)

func code(err error) string {
	var from *pgconn.PgError
	if errors.As(err, &from) {
		return from.Code
	}
	return ""
}

func isDuplicate(err error) bool { return code(err) == codeDuplicateSchema || code(err) == codeUnique }

// isDisconnected reports whether an error means that the database did not answer: that it was not reached, refused a connection for
// now, or ended one. What was sent may have taken effect.
func isDisconnected(err error) bool {
	var opening *pgconn.ConnectError
	var network net.Error
	var lost *lostError
	switch c := code(err); {
	case err == nil:
		return false
	case c != "":
		return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "57P") || c == "53300" || c == "25P03" || c == "40001" || c == "40P01"
	case errors.As(err, &lost):
		return true
	case errors.As(err, &opening), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	}
	return strings.Contains(err.Error(), "conn closed")
}

// translate returns the error of a package store for one of the database.
func translate(err error) error {
	c := code(err)
	switch {
	case err == nil:
		return nil
	case c == codeDiskFull:
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case c == codeReadOnly:
		return fmt.Errorf("%w: the database takes no writes: %w", store.ErrReadOnly, err)
	case c == codeCanceled:
		return fmt.Errorf("%w in time: %w", store.ErrUnavailable, err)
	case strings.HasPrefix(c, "XX001"), strings.HasPrefix(c, "XX002"):
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isDisconnected(err), c != "" && strings.HasPrefix(c, "53"):
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}
