package backup

import "io"

// ahead writes in a goroutine of its own, while the caller fills the next buffer.
type ahead struct {
	w     io.Writer
	yield func() // waits until no commit is being written
	free  chan written
	full  chan []byte
	done  chan error
}

// written is a reusable buffer and the error of its write.
type written struct {
	buffer []byte
	err    error
}

const aheadFrames = 2 // buffers: one is filled while the other is written

func newAhead(w io.Writer, yield func()) *ahead {
	a := &ahead{w: w, yield: yield, free: make(chan written, aheadFrames), full: make(chan []byte, aheadFrames), done: make(chan error, 1)}
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
			a.yield()
			_, failed = a.w.Write(b)
		}
		a.free <- written{b[:0], failed}
	}
	a.done <- failed
}

// buffer returns an empty buffer. The error is that of an earlier write.
func (a *ahead) buffer() ([]byte, error) {
	w := <-a.free
	return w.buffer, w.err
}

// send writes a buffer in the background and takes ownership of it.
func (a *ahead) send(b []byte) { a.full <- b }

// close waits for all writes and returns the first error.
func (a *ahead) close() error {
	close(a.full)
	return <-a.done
}
