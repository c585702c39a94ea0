// Package dumping passes on the pieces of a dump, in pages or in runs.
package dumping

import "github.com/alcove-memory/alcove/host/store"

// Output receives the pieces of a dump. Add does not retain the value of an entry; Flush is called while no transaction is open.
type Output interface {
	Add(p store.Piece)
	Full() bool
	Flush() error
}

// Page is the number of pieces that are read before they are passed on.
const Page = 2000

// Pieces returns an output that passes pieces to yield, which may retain them.
func Pieces(yield func(store.Piece) error) Output { return &pieces{yield: yield} }

type pieces struct {
	page  []store.Piece
	yield func(store.Piece) error
}

func (o *pieces) Add(p store.Piece) {
	if p.Entry != nil {
		own := *p.Entry
		if !own.Deleted {
			own.Value = append([]byte{}, own.Value...)
		}
		p.Entry = &own
	}
	o.page = append(o.page, p)
}

func (o *pieces) Full() bool { return len(o.page) >= Page }

func (o *pieces) Flush() error {
	for _, p := range o.page {
		if err := o.yield(p); err != nil {
			return err
		}
	}
	clear(o.page)
	o.page = o.page[:0]
	return nil
}

const runSize = 1 << 20 // approximate bytes of a run

// Runs returns an output that appends pieces to the slices that begin returns, and passes each to end when it is full.
func Runs(begin func() ([]byte, error), end func(run []byte, pieces int) error) (Output, error) {
	o := &runs{begin: begin, end: end}
	return o, o.next()
}

type runs struct {
	run   []byte
	start int // of the run in it
	count int
	begin func() ([]byte, error)
	end   func(run []byte, pieces int) error
}

func (o *runs) Add(p store.Piece) {
	o.run = store.AppendRun(o.run, p)
	o.count++
}

func (o *runs) Full() bool { return len(o.run)-o.start >= runSize }

func (o *runs) Flush() error {
	if o.count == 0 {
		return nil
	}
	if err := o.end(o.run, o.count); err != nil {
		return err
	}
	return o.next()
}

func (o *runs) next() (err error) {
	o.run, err = o.begin()
	o.start, o.count = len(o.run), 0
	return err
}
