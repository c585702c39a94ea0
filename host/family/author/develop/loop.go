package develop

import (
	"context"
	"maps"
	"time"
)

// Server serves the newest module that could be built.
type Server interface {
	// Swap replaces the served module. After an error the one before is still served.
	Swap(ctx context.Context, module, manifest []byte) error
}

// Report is what became of a build.
type Report struct {
	Build time.Duration // the command
	Swap  time.Duration // from the built module to the served one
	Err   error         // nil: it is served
}

// Loop builds a project again and again.
type Loop struct {
	Server Server
	Report func(Report)
	Around func(command []string, build func()) // runs a build, and may tell how long it takes; nil: nothing is told
	Self   string                               // the program that the word alcove at the beginning of a build command stands for; empty: that of PATH
	Every  time.Duration                        // how often to look for changes; 0: 100 ms
}

// Run builds the project of a directory, and again after each change, until ctx ends. A change during a build causes another build.
// Errors of single builds are reported only; Run fails if the project's first configuration cannot be read.
func (l Loop) Run(ctx context.Context, dir string) error {
	p, err := l.open(dir)
	if err != nil {
		return err
	}
	every := l.Every
	if every == 0 {
		every = 100 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var built state
	fault := ""
	for {
		now, err := p.readState()
		switch {
		case err != nil && err.Error() != fault:
			fault = err.Error()
			l.Report(Report{Err: err})
		case err == nil && (built == nil || !maps.Equal(now, built)):
			built, fault = now, ""
			if again, err := l.open(dir); err != nil {
				l.Report(Report{Err: err})
			} else {
				p = again
				l.once(ctx, p)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l Loop) open(dir string) (*Project, error) {
	p, err := Open(dir)
	if err == nil {
		p.self = l.Self
	}
	return p, err
}

// once builds and serves the project, and reports it.
func (l Loop) once(ctx context.Context, p *Project) {
	began := time.Now()
	var module, manifest []byte
	var err error
	build := func() { module, manifest, err = p.build(ctx) }
	if l.Around != nil {
		l.Around(p.Config.Build, build)
	} else {
		build()
	}
	r := Report{Build: time.Since(began), Err: err}
	if err == nil {
		began = time.Now()
		r.Err = l.Server.Swap(ctx, module, manifest)
		r.Swap = time.Since(began)
	}
	if ctx.Err() == nil {
		l.Report(r)
	}
}
