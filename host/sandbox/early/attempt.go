package early

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// attempt is a request that is interpreted. As long as nobody has noticed it, because the guest has neither called the host nor printed a
// line, it can be given up and repeated in compiled code.
type attempt struct {
	module  *Module
	request sandbox.Request

	mu      sync.Mutex
	noticed bool
	givenUp bool
}

// run interprets the request. It repeats it in compiled code if that is ready before anybody has noticed the request, or if the request
// exceeded a limit that it may not exceed there.
func (a *attempt) run(ctx context.Context, interpreted *sandbox.Module) (*sandbox.Result, error) {
	began := time.Now()
	result, err := a.interpret(ctx, interpreted)
	switch {
	case errors.Is(err, sandbox.ErrClosed): // compiled meanwhile, or closed
	case err != nil || !slow(result.Class):
		return result, err
	case !a.abandon():
		return explained(result), nil
	}
	select {
	case <-a.module.compiling.Done():
	case <-ctx.Done():
	}
	_, compiled := a.module.forms()
	left, inTime := a.left(time.Since(began))
	if compiled == nil || !inTime {
		return result, err
	}
	a.request.Limits.WallMS = left
	result, err = compiled.Call(ctx, a.request)
	if err == nil {
		result.Time = time.Since(began)
	}
	return result, err
}

// slow reports whether a request that ended in a class may end otherwise in compiled code, which is faster and nests calls more deeply. A
// request that is given up is cancelled.
func slow(c abi.Class) bool {
	return c == abi.ClassCPU || c == abi.ClassStack || c == abi.ClassCancelled
}

// left returns the rest of the request's time, in ms, and whether there is any.
func (a *attempt) left(used time.Duration) (ms int64, any bool) {
	most := a.module.limits.WallMS
	ms = min(cmp.Or(a.request.Limits.WallMS, most), most) - used.Milliseconds()
	return ms, ms > 0
}

// explained adds to an error that compiled code may avoid it.
func explained(r *sandbox.Result) *sandbox.Result {
	if r.Class != abi.ClassCancelled {
		r.Error.Message += "; the family was interpreted, as it was being compiled, which is slower and nests calls less deeply: try again"
	}
	return r
}

func (a *attempt) interpret(ctx context.Context, interpreted *sandbox.Module) (*sandbox.Result, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(a.module.compiling, func() {
		if _, compiled := a.module.forms(); compiled != nil && a.abandon() {
			cancel()
		}
	})
	defer stop()
	r := a.request
	if r.Host != nil {
		r.Host = a
	}
	if r.Lines != nil {
		r.Lines = a.line
	}
	return interpreted.Call(limited, r)
}

// abandon reports whether the request can be repeated. If so, nobody notices it any more.
func (a *attempt) abandon() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.givenUp = !a.noticed
	return a.givenUp
}

// notice reports whether the request may be noticed. If so, it is not repeated any more.
func (a *attempt) notice() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noticed = !a.givenUp
	return a.noticed
}

// Call implements sandbox.Host.
func (a *attempt) Call(ctx context.Context, op abi.Op, request []byte) ([]byte, error) {
	if !a.notice() {
		<-ctx.Done() // follows at once
		return nil, ctx.Err()
	}
	return a.request.Host.Call(ctx, op, request)
}

func (a *attempt) line(stream, text string) {
	if a.notice() {
		a.request.Lines(stream, text)
	}
}
