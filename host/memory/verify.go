package memory

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/search"
)

// Verify checks everything: the store against itself, the catalogue of branches against what is stored, the chains of all logs, and
// the indexes against the data, each at one version, despite concurrent writes. It changes nothing, except that a wrong search index is
// no longer saved, and that a wrong index of records or links is rebuilt. If damage keeps the search index from being filled, that is all
// it reports.
func (s *Space) Verify(ctx context.Context) (integrity.Report, error) {
	err := s.Ready(ctx)
	if why := s.upkeep.Damage(); err != nil && why != nil {
		return integrity.Report{Findings: []integrity.Finding{{What: why.Error(), Do: "stop the server, and run alcove verify again, which lists all that is damaged"}}}, nil
	}
	if err != nil {
		return integrity.Report{Findings: []integrity.Finding{}}, err
	}
	damaged := s.upkeep.Verify(ctx)
	if damaged != nil && !errors.Is(damaged, search.ErrDamaged) {
		return integrity.Report{Findings: []integrity.Finding{}}, damaged
	}
	report, err := integrity.Space{
		Engine: s.engine, Index: s.index, Branches: s.catalogue, Clock: s.clock, Floor: s.ownFloor, Indexed: s.upkeep.Await, Purges: s.purges.Load,
		Log:     s.verifyLogs,
		Exclude: s.blockRemovals, RequireRebuild: s.upkeep.RequireRebuild, Explain: s.translate,
	}.Check(ctx)
	if err != nil {
		return report, err
	}
	if damaged != nil {
		report.Findings = append(report.Findings, integrity.Finding{What: damaged.Error(), Do: "check the disk; the server has rebuilt the damaged part"})
	}
	wrong, err := s.indexes.Check(ctx)
	report.Findings = append(report.Findings, wrong...)
	return report, err
}

// blockRemovals blocks trims, purges and reclaims of branches until allow is called.
func (s *Space) blockRemovals() (allow func()) {
	s.branching.Lock()
	s.writing.RLock()
	return func() {
		s.writing.RUnlock()
		s.branching.Unlock()
	}
}

// verifyLogs checks the logs of a namespace that a branch has of its own, and those that it received.
func (s *Space) verifyLogs(ctx context.Context, b *lineage.Branch, namespace string) (checked int, err error) {
	if checked, err = s.verifyOwnLog(ctx, b, namespace); err != nil {
		return checked, err
	}
	received, err := s.verifyChains(ctx, b, namespace)
	return checked + received, err
}
