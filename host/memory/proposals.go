package memory

import (
	"context"
	"fmt"
	"strings"
)

// Proposals begins the names of branches with proposed changes. The host makes each in the commit that proposes its change, and nothing
// is written to it afterwards: what is decided about is what was proposed.
const Proposals = "proposals/"

// IsProposal reports whether a branch has a proposed change.
func IsProposal(branch string) bool { return strings.HasPrefix(branch, Proposals) }

// BranchGuard is implemented by Hooks that decide what becomes of proposed changes.
type BranchGuard interface {
	// GuardBranch returns why a caller may not merge, fork or delete a branch with a proposed change.
	GuardBranch(branch string, by Caller) error
}

// unchanging is the error of a write to a proposal.
func unchanging(name string) error {
	return &Error{Code: Denied, Message: fmt.Sprintf("branch %s has a proposed change, which stays as it was proposed: nothing can be written to it; make the change on another branch", name)}
}

// unmoved returns an error if a branch with a proposed change has changed since it was proposed. Nothing writes to such a branch; a file that was
// edited, or a build that allowed it, may have.
func (s *Space) unmoved(ctx context.Context, name string) error {
	if !IsProposal(name) {
		return nil
	}
	b, err := s.branch(name)
	if err != nil {
		return err
	}
	newest, err := s.Newest(ctx)
	if err != nil {
		return err
	}
	later, _, err := s.engine.Changes(ctx, b.ID, b.Version, newest, 1)
	if err != nil {
		return s.translate("compare the proposal with what was proposed", err)
	}
	if len(later) > 0 {
		return &Error{Code: Conflict, Message: fmt.Sprintf("branch %s has changed since its change was proposed, at v%d: reject it, and have the change proposed again", name, b.Version)}
	}
	return nil
}
