package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/space"
)

// mostAuditHeads is the number of servers of one directory whose last head is kept.
const mostAuditHeads = 100

// auditHeads stores the last entry of this directory's audit log in the database, beside those of other servers, each with its own chain.
// It has a line for each server of the directory, so that a truncated log is detected later.
type auditHeads struct {
	host   *Host
	path   string
	before []audit.Head // of earlier servers
}

// keepAuditHead stores the head of the audit log in the database whenever the lease of the space is renewed.
func (h *Host) keepAuditHead(ctx context.Context) error {
	if h.among.lead == nil || h.space.Audit == nil || h.readOnly {
		return nil
	}
	to := &auditHeads{host: h, path: filepath.Join(owner.AuditHeadsPath(h.options.Dir), chainOf(h.options.Dir)+".jsonl")}
	var err error
	if to.before, err = audit.Anchored(to.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to.before = to.before[max(0, len(to.before)-mostAuditHeads+1):]
	h.closers.Later("the head of the audit log in the database", space.Running(ctx, func(ctx context.Context) { h.space.Audit.RunAnchor(ctx, to, h.among.lead.Term()) }))
	return nil
}

// Keep implements audit.Anchor.
func (a *auditHeads) Keep(_ context.Context, head audit.Head) error {
	var text []byte
	for _, each := range append(slices.Clone(a.before), head) {
		line, err := json.Marshal(each)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	return a.host.documents.Write(a.path, text)
}

// chainOf returns a name for the audit log of a data directory that is unique among machines.
func chainOf(dir string) string {
	machine, _ := os.Hostname() // without one, the directory alone tells
	sum := sha256.Sum256([]byte(machine + "\x00" + dir))
	return hex.EncodeToString(sum[:8])
}
