package bridge

import (
	"context"
	"io"
)

// Connect returns a connection through a bridge, for a client in this process. It ends with the first error of dial, which is that of reads
// and writes, with ctx, or with Close.
func Connect(ctx context.Context, dial func(context.Context, SessionState) (io.ReadWriteCloser, error)) io.ReadWriteCloser {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ended := make(chan struct{})
	go func() {
		err := Run(ctx, Options{Dial: dial, In: inRead, Out: outWrite, Fatal: func(error) bool { return true }})
		if err == nil {
			err = io.EOF
		}
		inRead.CloseWithError(err)
		outWrite.CloseWithError(err)
		close(ended)
	}()
	return &connection{outRead, inWrite, ended}
}

type connection struct {
	io.Reader
	io.WriteCloser
	ended <-chan struct{} // closed when the bridge has ended
}

// Close ends the bridge. Closing it again does nothing.
func (c *connection) Close() error {
	err := c.WriteCloser.Close()
	<-c.ended
	return err
}
