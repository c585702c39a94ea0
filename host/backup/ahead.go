package backup

import "io"

// ahead writes in a goroutine of its own what is given to it, so that the next frame is made meanwhile.
type ahead struct {
	w    io.Writer
	turn func() // waits until writing disturbs nobody
	free chan written
	full chan []byte
	done chan error
}

// written is a buffer that is free again, and what became of it.
type written struct {
	buffer []byte
	err    error
}

const aheadFrames = 2 // buffers: one is filled while the other is written

func newAhead(w io.Writer, turn func()) *ahead {
	a := &ahead{w: w, turn: turn, free: make(chan written, aheadFrames), full: make(chan []byte, aheadFrames), done: make(chan error, 1)}
	for range aheadFrames {
		a.free <- written{}
	}
	go a.run()
	return a
}

func (a *ahead) run() {
	var failed error
	for b := range a.full {
		if failed == nil {
			a.turn()
			_, failed = a.w.Write(b)
		}
		a.free <- written{b[:0], failed}
	}
	a.done <- failed
}

// buffer is an empty one. An error is that of an earlier write.
func (a *ahead) buffer() ([]byte, error) {
	w := <-a.free
	return w.buffer, w.err
}

// send has a buffer written, which belongs to ahead from then on.
func (a *ahead) send(b []byte) { a.full <- b }

// close waits until everything is written.
func (a *ahead) close() error {
	close(a.full)
	return <-a.done
}
