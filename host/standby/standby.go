// Package standby keeps the space of a data directory as a bucket of backups has it.
//
// Each increment is fetched, checked, and applied in one commit: readers see the state of a backup, or that of the next one. What does not
// continue the copy is refused, and the copy goes on being served.
package standby

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/store/sealing"
)

// Options say what is followed. Place and Newest are required.
type Options struct {
	Place  string                                      // of the backups, as in s3://backups/laptop
	Newest func(context.Context) (backup.Chain, error) // the newest chain there
	Opener *sealing.Opener                             // of encrypted backups; nil: only others are read
	Every  time.Duration                               // how often to look; 0: DefaultEvery
}

// DefaultEvery is how often a bucket is looked at.
const DefaultEvery = 10 * time.Second

// Status is how far a copy is.
type Status struct {
	Place   string    `json:"place"`
	Part    string    `json:"part,omitempty"` // the newest one that is applied
	Version uint64    `json:"version"`        // the newest one here
	Time    time.Time `json:"time"`           // of that version
	Current time.Time `json:"current"`        // when the copy last had everything that was in the bucket; zero: not yet
	Waiting int       `json:"waiting"`        // parts in the bucket that it lacks, as far as is known
	Error   string    `json:"error,omitempty"`
}

// Why is what callers are told that write.
func Why(place string) string {
	return "this server follows " + place + ", and stores nothing itself: store at the server that is backed up there, or make this one a memory of its own (alcove follow promote)"
}

// Says tells an operator how far a copy is.
func (s Status) Says(now time.Time) string {
	text := "follows " + s.Place
	switch {
	case s.Current.IsZero():
		text += ", and was not seen to have everything there yet"
	default:
		text += fmt.Sprintf(", and had everything there %s ago", now.Sub(s.Current).Round(time.Second))
	}
	text += fmt.Sprintf("; the newest version is %d of %s", s.Version, s.Time.Format(time.RFC3339))
	if s.Error != "" {
		text += ": " + s.Error
	}
	return text
}

// Space is what follows.
type Space interface {
	Take(ctx context.Context, apply func() (store.Applied, error)) error
	Ready(ctx context.Context) error
}

// Engine is the store of a Space.
type Engine interface {
	store.Mirror
	store.Portable
	Head(ctx context.Context) (store.Point, error)
}

// Follower follows a bucket.
type Follower struct {
	Options
	Dir    datadir.Directory // whose space is open
	Space  Space
	Engine Engine
	Clock  func() time.Time
	Logger *slog.Logger

	mu     sync.Mutex
	status Status

	applied string // the newest part that this process applied, and its chain
	refused string // the newest part of what was refused, which is not fetched again
	why     error
}

// Status returns how far the copy is.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	every := f.Every
	if every == 0 {
		every = DefaultEvery
	}
	f.note(ctx, nil)
	if f.Space.Ready(ctx) != nil {
		return // ctx ended
	}
	for last := ""; ; {
		err := f.Look(ctx)
		if ctx.Err() != nil {
			return
		}
		if said := fmt.Sprint(err); err != nil && said != last {
			f.Logger.Error("the content of the bucket is refused: the server continues with what it has", "place", f.Place, "error", err)
		} else if err == nil && last != "" {
			f.Logger.Info("the bucket is followed again", "place", f.Place)
		}
		if last = ""; err != nil {
			last = fmt.Sprint(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Look takes what the bucket has and the copy lacks.
func (f *Follower) Look(ctx context.Context) error {
	c, err := f.Newest(ctx)
	if err == nil {
		err = f.take(ctx, c)
	}
	f.note(ctx, err)
	return err
}

// note updates the status after a look.
func (f *Follower) note(ctx context.Context, err error) {
	head, unknown := f.Engine.Head(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Place, f.status.Part = f.Place, f.applied
	if unknown == nil {
		f.status.Version, f.status.Time = head.Version, head.Time
	}
	if f.status.Error = ""; err != nil {
		f.status.Error = err.Error()
	}
}

func (f *Follower) waits(parts int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.status.Waiting = parts; parts == 0 {
		f.status.Current = f.Clock().UTC()
	}
}

// take applies the parts of a chain that the copy lacks, or takes the chain over if the copy is in none of its increments.
func (f *Follower) take(ctx context.Context, c backup.Chain) error {
	parts := c.Manifest.Parts
	newest := c.Place + "/" + parts[len(parts)-1].File
	if newest == f.refused {
		return f.why
	}
	f.refused, f.why = newest, f.catchUp(ctx, c)
	if f.why == nil || !errors.Is(f.why, store.ErrDiverged) && !errors.Is(f.why, backup.ErrBroken) { // another look may find it as it should be
		f.refused = ""
	}
	return f.why
}

func (f *Follower) catchUp(ctx context.Context, c backup.Chain) error {
	head, err := f.Engine.Head(ctx)
	if err != nil {
		return err
	}
	parts := c.Manifest.Parts
	if err := putInForce(f.Dir.Path, head.Version); err != nil { // after a crash
		return err
	}
	if err := f.check(ctx, c, head); err != nil {
		return err
	}
	next := f.position(c, head)
	if next == 0 {
		return f.takeOver(ctx, c)
	}
	for ; next < len(parts); next++ {
		f.waits(len(parts) - next)
		if parts[next].Bytes > mostApplied {
			return f.takeOver(ctx, c)
		}
		err := f.apply(ctx, c, parts[next])
		if errors.Is(err, errChanged) {
			return f.takeOver(ctx, c)
		}
		if err != nil {
			return err
		}
		f.note(ctx, nil)
	}
	f.waits(0)
	return nil
}

// check refuses a chain that ends before the copy, or is of another space.
func (f *Follower) check(ctx context.Context, c backup.Chain, head store.Point) error {
	own, err := f.Engine.History(ctx)
	if err != nil {
		return err
	}
	base := c.Manifest.Base()
	switch {
	case len(own) < 2 || own[len(own)-1].From != head.Version:
		return fmt.Errorf("the store in %s has writes of its own, which the bucket lacks: follow with an empty directory: %w", f.Dir.Path, store.ErrDiverged)
	case base.History.Root() != own.Root():
		return fmt.Errorf("%s has the backup of another memory: %w", c.Place, store.ErrDiverged)
	case base.Version < head.Version || base.Version == head.Version && !base.Time.Equal(head.Time):
		return fmt.Errorf("%s ends with version %d of %s, and version %d of %s is here: the bucket went back: %w", c.Place,
			base.Version, base.Time.Format(time.RFC3339), head.Version, head.Time.Format(time.RFC3339), store.ErrDiverged)
	case !base.History.Continues(own[:len(own)-1], head.Version):
		return fmt.Errorf("%s continues an earlier version than the %d that is here: %w", c.Place, head.Version, store.ErrDiverged)
	}
	return nil
}

// position is the number of parts that the copy has; 0: it is at the end of none of them. A part that changes no version may be applied
// again, after a crash.
func (f *Follower) position(c backup.Chain, head store.Point) int {
	parts := c.Manifest.Parts
	ends := func(p backup.Part) bool { return p.Until == head.Version && p.UntilTime.Equal(head.Time) }
	if i := slices.IndexFunc(parts, func(p backup.Part) bool { return c.Place+"/"+p.File == f.applied }); i >= 0 && ends(parts[i]) {
		return i + 1
	}
	return slices.IndexFunc(parts, ends) + 1
}

var _ Space = (*memory.Space)(nil)
