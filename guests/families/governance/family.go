// Package governance serves the family governance: rules of namespaces, approvals, quotas, and proof of what was written.
//
// The standard of a namespace is a memory with a rule: who may write, promote and delete there. The rule of any lets everybody, registered
// the members of the scope, owner its creator alone, and approve sends each change to a branch of proposals, where nobody sees it until
// the approver approves it: a human at the command line, an agent, or a number of agents. Nobody approves their own change. Rules hold
// while the store hook is on refuse. As a stored hook, once there is a rule or with seal_always, the family notes the digest of each version in the chained log, so
// that a version that was altered afterwards is found. Quotas are the host's: the operator sets them.
//
//alcove:family governance 1.0.0
//alcove:description Rules of namespaces, approval of changes by a person or by other agents, quotas, and proof that history is untampered.
//alcove:example only the owner may write in this space
//alcove:example changes have to be signed off by a person first
//alcove:example what is waiting for approval?
//alcove:example accept or decline the proposed change
//alcove:example require review before memories are modified
//alcove:example which standard applies to this namespace?
//alcove:example lift the rule on the shared namespace
//alcove:example how many memories may be stored here at most?
//alcove:example are we near the storage limit?
//alcove:example check the integrity of the log
//alcove:example can I show an auditor that entries were never altered?
//alcove:example verify the hash chain of the history
//alcove:example restrict who may delete things
//alcove:example set up an approval process with two reviewers
//alcove:example nobody but the lead may change these notes
//alcove:example a human has to agree before this is altered
//alcove:example four-eyes principle for edits
//alcove:example show changes that are pending review
//alcove:example let the suggested edit through
//alcove:example turn down the proposal
//alcove:example show evidence that a record was never manipulated
//alcove:example nobody tampered with the entries, prove it
//alcove:example is the history intact and unforged?
//alcove:example audit trail: the chain of who wrote what
//alcove:example how much room is left for us?
//alcove:example cap the number of entries in this space
//alcove:example which writing rules apply here?
//alcove:example make this namespace read-only for guests
//alcove:example remove the approval requirement
//alcove:example set the policy on who may write and delete
//alcove:example prove that nobody forged this
//alcove:license Apache-2.0
//alcove:needs memory.read * to read what changes, and the history that it verifies
//alcove:needs memory.write * to merge what was approved
//alcove:needs record pending,decision,seal to keep what waits for approval, decisions and seals
//alcove:needs branch.read * to compare proposals
//alcove:needs branch.write * to merge and delete them
//alcove:needs log.read * to verify the log
//alcove:needs log.append * to note digests of versions
//alcove:needs scope.read * to know the members of scopes, and quotas
//alcove:needs config.write to keep the rules
//alcove:needs feed.emit * to announce decisions
//alcove:needs feed.kind pending_approved,pending_rejected,standard_changed to announce them under these names
//alcove:limits memory_pages=1024 host_calls=100000
package governance

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Standards  string // The rules of namespaces, as memory_namespace_set_standard writes them
	SealAlways bool   // Whether versions are sealed though no namespace has a rule
}

// The collections: each record is in the namespace of the change.
var (
	pendings  = alcove.Records[pending]{Name: "pending", Per: "space"}
	decisions = alcove.Records[decision]{Name: "decision", Per: "space"}
	seals     = alcove.Records[seal]{Name: "seal", Per: "space"}
)

// Family is governance.
func Family() *alcove.Family {
	return alcove.New(
		NamespaceSetStandard{}, NamespaceGetStandard{}, NamespaceClearStandard{}, PendingList{}, PendingApprove{}, PendingReject{}, QuotaStatus{}, Verify{},
		Hooks{},
	)
}
