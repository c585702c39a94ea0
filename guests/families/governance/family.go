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
//alcove:example everything written here has to be checked by Petra first
//alcove:example changes should wait for my okay
//alcove:example no write without approval in the legal namespace
//alcove:example turn on review for this space
//alcove:example I want two people to agree before a memory is changed
//alcove:example which edits are awaiting my decision?
//alcove:example proposals in the queue
//alcove:example what still needs to be signed off?
//alcove:example approve the change to the pricing note
//alcove:example give the green light to the pending edit
//alcove:example wave the proposal through
//alcove:example reject the suggested deletion
//alcove:example decline what the intern bot wants to write
//alcove:example turn the request down with a reason
//alcove:example veto that modification
//alcove:example I do not agree with the proposed update, refuse it
//alcove:example who has to approve changes around here?
//alcove:example define the house rules for this namespace
//alcove:example set a standard that everybody writing here has to follow
//alcove:example make this note the guideline of the project space
//alcove:example what conventions must I follow when I store here?
//alcove:example what are the rules in this place?
//alcove:example is there a policy on promotion and deletion?
//alcove:example drop the standing rule
//alcove:example lift the restrictions on the sandbox namespace
//alcove:example abolish the guideline for the archive
//alcove:example only registered members may add things
//alcove:example only the creator can delete notes
//alcove:example lock this namespace against edits by others
//alcove:example forbid deletions to everyone but the owner
//alcove:example protect the production notes from changes
//alcove:example freeze the space so nobody can alter it without permission
//alcove:example how much space have we used, and how much may we use?
//alcove:example are we running into the quota?
//alcove:example count of memories against the maximum allowed
//alcove:example storage budget left for the team
//alcove:example how many writes may I still make today?
//alcove:example what are my limits here?
//alcove:example is there a cap on how much one agent can store?
//alcove:example limit how much the guest bot may store
//alcove:example which namespace uses most of its allowance?
//alcove:example has somebody tampered with this memory?
//alcove:example show that the entry is authentic
//alcove:example cryptographic proof of the history
//alcove:example is the chain of hashes unbroken?
//alcove:example integrity check of the record on the contract
//alcove:example evidence for the auditor that the log is genuine
//alcove:example validate that nothing was rewritten after the fact
//alcove:example confirm the note is exactly as it was signed
//alcove:example compliance wants to see an untouched history
//alcove:example detect manipulation of stored facts
//alcove:example can I trust that this entry is the original?
//alcove:example a supervisor should confirm each deletion
//alcove:example human in the loop for writes
//alcove:example I need to sign off on what the bots store
//alcove:example hold back all changes until they are reviewed
//alcove:example permission rules for writing, promoting and deleting
//alcove:example did my proposal get accepted?
//alcove:example what happened to the change I submitted for approval?
//alcove:example let the pending memory go live
//alcove:example moderate what gets written into the shared space
//alcove:example enforce naming rules in this namespace
//alcove:example how full is our namespace?
//alcove:example set house rules: English only, one idea per note
//alcove:license Apache-2.0
//alcove:needs memory.read * to read what changes, and the history that it verifies
//alcove:needs memory.write * to merge what was approved
//alcove:needs records.read developer,graph to hold their records as memories are held
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
