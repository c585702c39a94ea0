package host

import (
	"context"
	"io"
	"net"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/mcp"
)

// Dial begins a session in this process, as a client of the socket would after its hello. It ends when the connection is
// closed, or ctx.
func (h *Host) Dial(ctx context.Context, hello owner.Hello) io.ReadWriteCloser {
	ours, theirs := net.Pipe()
	go func() {
		defer ours.Close()
		if err := h.session(mcp.WithSession(ctx, sessionFor(hello)), hello, ours, ours); err != nil && ctx.Err() == nil {
			h.options.Logger.Warn("a session in the process ended", "error", err)
		}
	}()
	return theirs
}
