//go:build unix

package server

import "syscall"

// Freeze has the process stand still until Thaw, with its clocks.
func (s *Sharing) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw has it go on.
func (s *Sharing) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Sharing) signal(signal syscall.Signal) {
	if err := s.process.Process.Signal(signal); err != nil {
		s.T.Errorf("signal %v to a server: %v", signal, err)
	}
}
