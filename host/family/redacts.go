package family

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
)

// MayRedact reports whether a family changes or refuses what is stored with some arguments, so that others must not keep them as they arrived:
// its store hook is on, and its manifest says that it redacts, or the operator that nothing is stored without it. A missing one counts. One that
// is asked about memories with a tag counts if the arguments have the tag.
func (f *Families) MayRedact(ctx context.Context, arguments json.RawMessage) bool {
	list, err := hookFamilies{f}.Storing()
	return err != nil || slices.ContainsFunc(list, func(s hooks.Store) bool {
		if s.OnFailure != abi.OnFailureRefuse && !s.Manifest().Hooks.Store.Redacts {
			return false
		}
		if idle, err := s.Uncalled(ctx); err == nil && idle {
			return false
		}
		tag, err := s.Tag(ctx)
		return err != nil || tag == abi.Everything || tag != abi.Nothing && slices.Contains(jsontext.Strings(arguments), tag)
	})
}
