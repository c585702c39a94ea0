package acts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
)

// longestPage is the maximum number of entries of a log that an act returns.
const longestPage = 500

func (a Acts) insight() []operator.Binding {
	return []operator.Binding{
		operator.ListAudit.By(a.listAudit).Reading(),
		operator.ListDenials.By(a.listDenials).Reading(),
		operator.FollowAudit.By(a.followAudit).Reading(),
		operator.VerifyAudit.By(query(a.verifyAudit)).Reading(),
		operator.ListRequests.By(a.listRequests).Reading(),
		operator.GetMetrics.By(query(func(context.Context) ([]operator.Metric, error) { return a.Account.Numbers() })).Reading(),
		operator.GetStorage.By(query(a.storage)).Reading(),
		operator.Diagnose.By(query(a.diagnose)).Reading(),
	}
}

func checkPage(limit int) error {
	if limit < 0 || limit > longestPage {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("limit %d: a page has 1 to %d entries", limit, longestPage)}
	}
	return nil
}

func (a Acts) listAudit(ctx context.Context, q operator.AuditQuery) (p operator.AuditPage, err error) {
	p.Entries = []audit.Entry{}
	if err := checkPage(q.Limit); err != nil || a.Space.Audit == nil {
		return p, err
	}
	p.Head, p.Page, err = a.Space.Audit.Find(ctx, q)
	return p, err
}

func (a Acts) listDenials(ctx context.Context, q operator.AuditQuery) (operator.DenialPage, error) {
	if err := checkPage(q.Limit); err != nil || a.Space.Audit == nil {
		return operator.DenialPage{Denials: []audit.Denials{}}, err
	}
	return a.Space.Audit.Denials(ctx, q)
}

func (a Acts) verifyAudit(context.Context) (operator.AuditReport, error) {
	if a.Space.Audit == nil {
		return operator.AuditReport{}, &memory.Error{Code: memory.Unavailable, Message: "there is no audit log: a server with families keeps one"}
	}
	return a.Space.Audit.Verify()
}

func (a Acts) listRequests(_ context.Context, q operator.RequestQuery) (operator.RequestPage, error) {
	if err := checkPage(q.Limit); err != nil {
		return operator.RequestPage{}, err
	}
	return a.Account.Requests(q)
}

func (a Acts) storage(ctx context.Context) (s operator.Storage, err error) {
	s.Parts = []operator.StoragePart{}
	list, err := os.ReadDir(a.Dir)
	if err != nil {
		return s, fmt.Errorf("look at the data directory: %w", err)
	}
	for _, entry := range list {
		part, err := sizeOf(ctx, filepath.Join(a.Dir, entry.Name()))
		if err != nil {
			return s, fmt.Errorf("look at the data directory: %w", err)
		}
		s.Bytes += part.Bytes
		s.Parts = append(s.Parts, part)
	}
	slices.SortStableFunc(s.Parts, func(x, y operator.StoragePart) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return s, nil
}

// sizeOf returns the size of a file, or of all files in a folder.
func sizeOf(ctx context.Context, path string) (operator.StoragePart, error) {
	part := operator.StoragePart{Name: filepath.Base(path)}
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil || !entry.Type().IsRegular() {
			return errors.Join(err, ctx.Err())
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		part.Files++
		part.Bytes += info.Size()
		return ctx.Err()
	})
	return part, err
}
