package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// continueCopy continues the space in a new incarnation if the file is a copy of the one that it was served from last: the original may go on, and
// would give its versions the same numbers. A file that was moved within a file system is no copy.
func (e *Engine) continueCopy(tx *bbolt.Tx) error {
	mark := markOf(e.path())
	meta := layout.InSpace(tx, layout.KindMeta)
	last, err := meta.Read(layout.KeyHome)
	if err != nil || mark == "" || mark == string(last) {
		return err
	}
	if last != nil {
		if err := continued(tx); err != nil {
			return err
		}
		e.logger.Info("the database is a copy: it continues the history of its original as a space of its own")
	}
	return meta.Write(layout.KeyHome, []byte(mark))
}

// continued adds an incarnation to the history, which continues the space from its newest version on.
func continued(tx *bbolt.Tx) error {
	before, err := layout.ReadHistory(tx)
	if err != nil {
		return err
	}
	head, _ := layout.InSpace(tx, layout.KindPoints).Cursor().Last()
	return layout.WriteHistory(tx, before, layout.FromU64(head))
}

// moveHome marks a file that takes the place of the one that the space is served from.
func moveHome(db *bbolt.DB) error {
	mark := markOf(db.Path())
	if mark == "" {
		return nil
	}
	return db.Update(func(tx *bbolt.Tx) error {
		return layout.InSpace(tx, layout.KindMeta).Write(layout.KeyHome, []byte(mark))
	})
}
