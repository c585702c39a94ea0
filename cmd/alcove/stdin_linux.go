package main

import (
	"io"
	"net"
	"os"
	"syscall"
)

// polled returns standard input as a reader that Go's poller waits for: a read that blocks a thread costs a bridge two changes of
// threads a call. Input that cannot be polled, or is what standard output is too, is returned as it is. The caller calls restore when
// it has read.
func polled(in io.Reader) (polled io.Reader, restore func()) {
	same, keep := in, func() {}
	file, ok := in.(*os.File)
	if !ok {
		return same, keep
	}
	info, err := file.Stat()
	if err != nil {
		return same, keep
	}
	switch {
	case info.Mode()&os.ModeNamedPipe != 0:
		// Opened again, the pipe can be set not to block without others noticing who have it as their standard input, too.
		own, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil || file.Fd() != 0 {
			return same, keep
		}
		return own, func() { own.Close() }
	case info.Mode()&os.ModeSocket != 0:
		return polledSocket(file, info)
	}
	return same, keep
}

// polledSocket is for clients that talk over a pair of sockets.
func polledSocket(file *os.File, info os.FileInfo) (io.Reader, func()) {
	for _, other := range []*os.File{os.Stdout, os.Stderr} {
		if o, err := other.Stat(); err != nil || os.SameFile(info, o) {
			return file, func() {} // it must block when it is written
		}
	}
	conn, err := net.FileConn(file)
	if err != nil {
		return file, func() {}
	}
	return conn, func() {
		conn.Close()
		syscall.SetNonblock(int(file.Fd()), false) // for others that have it as their standard input
	}
}
