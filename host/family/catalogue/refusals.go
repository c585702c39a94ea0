package catalogue

import (
	"context"
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/operator/audit"
)

// auditLoad records the admission of a module, or its refusal.
func (f *Catalogue) auditLoad(x *Family, err error) {
	if f.o.Audit == nil || errors.Is(err, context.Canceled) {
		return
	}
	e := audit.Entry{Kind: audit.Loaded, Family: x.Name, Digest: x.Digest, Detail: x.Source + " " + x.Manifest.Version}
	if err != nil {
		e.Kind, e.Detail = audit.Refused, err.Error()
	}
	f.o.Audit.Add(e)
}

// auditRefusals records the families that came to be refused without being loaded: unsigned, altered, not in the lock file or with the name
// of another. The caller holds changing and mu.
func (f *Catalogue) auditRefusals() {
	if f.o.Audit == nil {
		return
	}
	before := f.refusals
	f.refusals = map[refusal]bool{}
	for _, x := range f.every() {
		if x.fault == "" || strings.HasPrefix(x.fault, disabled) {
			continue
		}
		r := refusal{x.Name, x.Digest, x.Source, x.fault}
		if r.digest == "" && x.Source == grants.Installed { // its module is not that of the lock file, or there is none
			r.digest = f.lock.Families[x.Name].Digest
		}
		if f.refusals[r] = true; !before[r] {
			f.o.Audit.Add(audit.Entry{Kind: audit.Refused, Family: r.name, Digest: r.digest, Detail: r.source + ": " + r.why})
		}
	}
}
