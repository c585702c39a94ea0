package acts

import (
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/host/store/settings"
)

// decisions opens the settings for a backup. Their holders keep them from changing meanwhile, so that they belong together.
func (a Acts) decisions() ([]backup.OpenFile, error) {
	s, err := a.snapshot()
	if err != nil {
		return nil, fmt.Errorf("back up the decisions of operators: %w", err)
	}
	embedded, err := a.Space.Embedders.Snapshot()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	head, parts, err := a.auditForBackup()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return settings.Files(s, embedded, head, parts)
}

// auditForBackup returns the audit log for a backup, and its head; nil: there is none.
func (a Acts) auditForBackup() (head []byte, parts []backup.OpenFile, err error) {
	if a.Space.Audit == nil {
		return nil, nil, nil
	}
	last, list, err := a.Space.Audit.Snapshot()
	if err == nil {
		parts, err = settings.AuditFiles(list)
	}
	if err == nil {
		head, err = audit.FormerLog{Head: last}.Text()
	}
	return head, parts, err
}

// guards lists the families without which nothing is stored, for a bundle.
func (a Acts) guards() ([]bundle.Guard, error) {
	s, err := a.snapshot()
	if err != nil {
		return nil, fmt.Errorf("export which families guard the store: %w", err)
	}
	return settings.Guards(s.Lock), s.Close()
}

func (a Acts) snapshot() (*modules.Snapshot, error) {
	if a.Space.Families == nil { // nobody changes the lock file
		return modules.OpenSnapshot(a.Dir)
	}
	return a.Space.Families.Snapshot()
}
