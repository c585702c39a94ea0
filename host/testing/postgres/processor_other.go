//go:build !linux

package postgres

import (
	"errors"
	"time"
)

// Processor fails: only Linux tells it.
func (s *Server) Processor() (time.Duration, error) { return 0, errors.ErrUnsupported }

// ProcessorOf fails: only Linux tells it.
func ProcessorOf(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
