package searchindex

import (
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// recordSeals makes each append store the value it sealed, and returns where.
func recordSeals(appends []store.Append) [][]byte {
	sealed := make([][]byte, len(appends))
	for i := range appends {
		seal := appends[i].Seal
		appends[i].Seal = func(last store.Entry, sequence uint64, at store.Point) ([]byte, error) {
			value, err := seal(last, sequence, at)
			sealed[i] = value
			return value, err
		}
	}
	return sealed
}

// draft is the documents of a batch that is being committed.
type draft struct {
	ready chan struct{} // closed when docs are analysed
	docs  []search.Doc  // of the writes; their versions and times are missing
	err   error
}

// draft begins to analyse what a batch writes, while its commit waits for the disk. records are those of the first writes, as far as
// they are known.
func (u *Upkeep) draft(batch store.Batch, records []*record.Record) *draft {
	d := &draft{ready: make(chan struct{}), docs: make([]search.Doc, 0, len(batch.Writes))}
	go func() {
		defer close(d.ready)
		defer func() {
			if p := recover(); p != nil {
				d.err = fmt.Errorf("the analysis panicked: %v", p)
			}
		}()
		for i, w := range batch.Writes {
			if !u.searches(w.Branch) {
				continue
			}
			var r *record.Record
			if i < len(records) {
				r = records[i]
			}
			doc, ok, err := record.DocOf(store.Entry{Key: w.Key, Branch: w.Branch, Value: w.Value, Deleted: w.Delete}, r)
			if err != nil {
				d.err = err
				return
			}
			if ok {
				d.docs = append(d.docs, doc)
			}
		}
		u.o.Index.Prepare(d.docs)
	}()
	return d
}

// searches reports whether the index has what is written on a branch.
func (u *Upkeep) searches(id store.BranchID) bool {
	b := u.o.Catalogue.ByID(id)
	return b == nil || b.IsSearched()
}

// committed returns the documents of a committed batch.
func (d *draft) committed(batch store.Batch, sealed [][]byte, done store.Committed) ([]search.Doc, error) {
	<-d.ready
	for i := range d.docs {
		d.docs[i].Version, d.docs[i].Time = done.Version, done.Time
	}
	err := d.err
	for i, a := range batch.Appends {
		key := store.Key{Namespace: a.Namespace, Collection: a.Collection, Name: store.SequenceName(done.Sequences[i])}
		doc, ok, failed := record.Doc(store.Entry{Key: key, Point: done.Point, Branch: a.Lineage[0].Branch, Value: sealed[i]})
		err = errors.Join(err, failed)
		if ok {
			d.docs = append(d.docs, doc)
		}
	}
	return d.docs, err
}
