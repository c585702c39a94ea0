package terminal

import (
	"fmt"
	"sync"
	"time"
)

const (
	quietFor    = time.Second // before anything is shown
	redrawEvery = 200 * time.Millisecond
	eraseLine   = "\r\x1b[K"
	lineEvery   = 5 * time.Second // of Building, elsewhere than on a terminal
)

// Working shows on a terminal, after a second, that a command is at work and for how long. The line is erased by Stop and
// by whatever is printed to the same Output. Elsewhere than on a terminal nothing is shown.
func (o *Output) Working(what string) *Working {
	w := &Working{output: o, what: Line(what), stop: make(chan struct{}), stopped: make(chan struct{})}
	if !o.redraws {
		close(w.stopped)
		return w
	}
	go w.run(time.Now())
	return w
}

// Building is Working for what takes long and is watched, such as a compiler: elsewhere than on a terminal it prints a line every few seconds.
func (o *Output) Building(what string) *Working {
	if o.redraws {
		return o.Working(what)
	}
	w := &Working{output: o, what: Line(what), stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.lines(time.Now())
	return w
}

func (w *Working) lines(start time.Time) {
	defer close(w.stopped)
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case now := <-tick.C:
			_ = w.output.Printf("%s %d s\n", w.what, int(now.Sub(start).Seconds())) // errors are left to what prints results
		}
	}
}

// Working is a line that tells how long a command has been at work.
type Working struct {
	output  *Output
	what    Text
	once    sync.Once
	stop    chan struct{}
	stopped chan struct{}
}

// Stop erases the line. It may be called more than once.
func (w *Working) Stop() {
	w.once.Do(func() { close(w.stop) })
	<-w.stopped
}

func (w *Working) run(start time.Time) {
	defer close(w.stopped)
	defer w.output.erase()
	wait := time.NewTimer(quietFor)
	defer wait.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-w.stop:
			return
		case now := <-wait.C:
			w.output.draw(fmt.Sprintf("%c %s %d s", `|/-\`[frame%4], w.what, int(now.Sub(start).Seconds())))
			wait.Reset(redrawEvery)
		}
	}
}

// draw replaces the line at the cursor. Errors are left to what prints results.
func (o *Output) draw(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.file, "%s%s", eraseLine, line)
	o.drawn = true
}

func (o *Output) erase() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.eraseDrawn()
}

// eraseDrawn erases the line before other output; the caller holds mu.
func (o *Output) eraseDrawn() {
	if o.drawn {
		fmt.Fprint(o.file, eraseLine)
		o.drawn = false
	}
}
