package developer

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// transactions are those that were begun, of all branches. What became of one is told by its branch, too.
var transactions = alcove.Records[begunTransaction]{Name: "txn", Per: "space", Expires: "7d"}

// begunTransaction is one that was begun.
type begunTransaction struct {
	Owner    string
	Branch   string // its own
	Target   string // that it was begun on
	At       uint64 // of a read-only one: the version that it was begun at
	Expires  alcove.Time
	State    string // active, committing or rolled_back
	ReadOnly bool
}

const (
	active     = "active"
	committing = "committing" // or committed: its branch tells
	committed  = "committed"
	rolledBack = "rolled_back"
	expired    = "expired"
)

const (
	idPrefix     = "txn:"
	branchPrefix = "txn/"
)

// Transaction applies several calls together, or not at all.
//
// begin answers a branch: pass it as branch in the calls of the transaction. commit merges the branch into the one it was begun on; if
// others changed the same keys in the meantime, conflicts names them and nothing is changed. rollback deletes the branch. With read_only
// the branch stays as it was at begin: writes to it are refused. An open transaction expires after transaction_minutes; what a client
// that crashed left expires the same way. id may be left out where exactly one is open in the namespace.
//
//alcove:tool memory_transaction mixed destructive
//alcove:title Transactions
//alcove:description All of several calls together, or none of them: begin, commit, rollback.
//alcove:alias strata_txn_begin action=begin
//alcove:alias strata_txn_commit action=commit
//alcove:alias strata_txn_rollback action=rollback
//alcove:alias strata_txn_info action=info
//alcove:alias strata_txn_active action=active
type Transaction struct {
	Action   string `alcove:"required,enum=begin|commit|rollback|info|active"`
	ID       string `alcove:"alias=transaction_id|txn_id"`
	ReadOnly bool
}

// transactionAnswer is what memory_transaction answers.
type transactionAnswer struct {
	ID           string            `json:",omitzero"`
	Branch       string            `json:",omitzero"`      // To pass as branch.
	AsOf         string            `json:"as_of,omitzero"` // Of a read-only one: the version of target that its branch shows.
	State        string            `json:",omitzero"`
	Target       string            `json:",omitzero"`
	ReadOnly     bool              `json:",omitzero"`
	ExpiresAt    alcove.Time       `json:",omitzero"`
	Applied      *int              `json:",omitzero"` // Keys that commit changed.
	Conflicts    []conflict        `json:",omitzero"` // Keys that both changed: nothing was committed.
	Open         *int              `json:",omitzero"` // active: how many.
	Transactions []openTransaction `json:",omitzero"` // active: those of the caller.
}

// openTransaction is one of those that are open.
type openTransaction struct {
	ID        string
	Branch    string `json:",omitzero"`
	AsOf      string `json:"as_of,omitzero"`
	State     string
	ReadOnly  bool `json:",omitzero"`
	ExpiresAt alcove.Time
}

// conflict is a key that the transaction and others changed.
type conflict struct {
	Namespace  string
	Key        string
	Collection string `json:",omitzero"` // Of the family's own; a memory has none.
}

// Call does what the action says.
func (in Transaction) Call(c *alcove.Call, cfg Config) (out transactionAnswer, err error) {
	switch in.Action {
	case "begin":
		return in.begin(c, cfg)
	case active:
		return in.active(c)
	}
	id, x, err := in.find(c)
	if err != nil {
		return out, err
	}
	state, err := x.stateNow(c)
	if err != nil {
		return out, err
	}
	switch {
	case in.Action == "info":
		return x.answer(id, state), nil
	case state == in.done():
		return x.answer(id, state), nil // again
	case state != active:
		return out, alcove.Errorf(alcove.Conflict, "the transaction %s is %s", id, state).Final()
	case in.Action == "rollback":
		return x.rollback(c, id)
	}
	return x.commit(c, id)
}

// done is the state in which the action leaves a transaction.
func (in Transaction) done() string {
	if in.Action == "commit" {
		return committed
	}
	return rolledBack
}

func (x *begunTransaction) answer(id, state string) transactionAnswer {
	out := transactionAnswer{ID: id, Branch: x.Branch, State: state, Target: x.Target, ReadOnly: x.ReadOnly, ExpiresAt: x.Expires}
	if x.ReadOnly {
		out.AsOf = versionText(x.At)
	}
	return out
}

// begin forks the branch of a new transaction.
func (in Transaction) begin(c *alcove.Call, cfg Config) (out transactionAnswer, err error) {
	n, err := ownBranches(c)
	if err != nil {
		return out, err
	}
	if n >= cfg.TransactionsOpen {
		return out, alcove.Errorf(alcove.Exhausted, "%d transactions are open: at most %d may be; commit or roll back some", n, cfg.TransactionsOpen)
	}
	id := c.NewID(idPrefix)
	lasts := alcove.Duration(cfg.TransactionMinutes) * alcove.Minute
	x := begunTransaction{Owner: c.Caller, Target: c.Branch, Expires: c.Time().Add(lasts), State: active, ReadOnly: in.ReadOnly}
	if in.ReadOnly {
		now, err := c.StatusGet(alcove.StatusGetRequest{})
		if err != nil {
			return out, err
		}
		x.At = now.Version
	}
	x.Branch = branchPrefix + id[len(idPrefix):] + "-" + ownerMark(c.Caller)
	if _, err := c.BranchFork(alcove.BranchForkRequest{Name: x.Branch, Required: true, ReadOnly: x.ReadOnly}); err != nil {
		return out, err
	}
	if _, err := c.Enqueue(Expire{}, lasts+alcove.Second); err != nil {
		return out, err
	}
	return x.answer(id, active), transactions.Put(c, id, x)
}

// find is the transaction that is meant, if it is the caller's.
func (in Transaction) find(c *alcove.Call) (id string, x begunTransaction, err error) {
	id = in.ID
	if id == "" {
		open, err := in.active(c)
		if err != nil {
			return "", x, err
		}
		if len(open.Transactions) != 1 {
			return "", x, alcove.Errorf(alcove.InvalidArgument, "%d transactions are open in namespace %s: name one by id", len(open.Transactions), c.Namespace)
		}
		id = open.Transactions[0].ID
	}
	if strings.HasPrefix(id, branchPrefix) { // its branch
		id, _, _ = strings.Cut(idPrefix+id[len(branchPrefix):], "-")
	}
	x, ok, err := transactions.Get(c, id)
	if err == nil && (!ok || x.Owner != c.Caller) {
		err = alcove.Errorf(alcove.NotFound, "there is no transaction %s of this caller in namespace %s", id, c.Namespace)
	}
	return id, x, err
}

// active lists the caller's open transactions in the namespace.
func (in Transaction) active(c *alcove.Call) (out transactionAnswer, err error) {
	there, err := branchesThere(c)
	if err != nil {
		return out, err
	}
	out.Open = new(int)
	for record, err := range transactions.All(c, idPrefix) {
		if err != nil {
			return out, err
		}
		x := &record.Value
		if x.Owner != c.Caller || x.State != active || c.Time() >= x.Expires || !there[x.Branch] {
			continue
		}
		a := x.answer(record.Key, active)
		*out.Open++
		out.Transactions = append(out.Transactions, openTransaction{a.ID, a.Branch, a.AsOf, a.State, a.ReadOnly, a.ExpiresAt})
	}
	return out, nil
}

// stateNow is what became of a transaction. One that is committing is committed if nothing is left to merge.
func (x *begunTransaction) stateNow(c *alcove.Call) (string, error) {
	there, err := branchesThere(c)
	if err != nil {
		return "", err
	}
	gone := !there[x.Branch]
	switch {
	case x.State == rolledBack:
		return rolledBack, nil
	case x.State == committing && (x.ReadOnly || gone):
		return committed, nil
	case x.State == committing:
		left, err := c.BranchMerge(alcove.BranchMergeRequest{Source: x.Branch, Target: x.Target, Preview: true})
		if err != nil {
			return "", err
		}
		if len(left.Applied)+left.Unresolved == 0 {
			return committed, nil
		}
	}
	if gone || c.Time() >= x.Expires {
		return expired, nil
	}
	return active, nil
}

// commit merges the transaction's branch, or tells what conflicts.
func (x *begunTransaction) commit(c *alcove.Call, id string) (out transactionAnswer, err error) {
	out = x.answer(id, committed)
	out.Applied = new(int)
	if x.ReadOnly {
		x.State = committing
		return out, first(leave(c, x.Branch), transactions.Put(c, id, *x))
	}
	merge := alcove.BranchMergeRequest{Source: x.Branch, Target: x.Target, Preview: true}
	merged, err := c.BranchMerge(merge)
	if err != nil {
		return out, err
	}
	if merged.Unresolved > 0 {
		out.State, out.Applied = active, nil
		for i := range merged.Clashes {
			d := &merged.Clashes[i]
			out.Conflicts = append(out.Conflicts, conflict{d.Namespace, d.Key, d.Collection})
		}
		if len(out.Conflicts) == 0 {
			return out, alcove.Errorf(alcove.Conflict, "others changed %d of the same keys of other families: nothing was committed", merged.Unresolved).Final()
		}
		return out, nil
	}
	merge.Preview, merge.Required = false, true
	if _, err := c.BranchMerge(merge); err != nil {
		return out, err
	}
	*out.Applied = len(merged.Applied)
	x.State = committing
	return out, first(leave(c, x.Branch), transactions.Put(c, id, *x))
}

// rollback deletes the transaction's branch.
func (x *begunTransaction) rollback(c *alcove.Call, id string) (transactionAnswer, error) {
	x.State = rolledBack
	err := transactions.Put(c, id, *x)
	if err == nil {
		err = leave(c, x.Branch)
	}
	return x.answer(id, rolledBack), err
}

// leave deletes the branch of a transaction that is over. A caller who may not write every namespace may not delete it: it then expires.
func leave(c *alcove.Call, branch string) error {
	err := c.BranchDelete(alcove.BranchDeleteRequest{Name: branch, Force: true})
	if alcove.CodeOf(err) == alcove.Denied {
		return nil
	}
	return err
}

// branchesThere are the branches of transactions.
func branchesThere(c *alcove.Call) (map[string]bool, error) {
	out, err := c.BranchList()
	there := map[string]bool{}
	for i := range out.Branches {
		if name := out.Branches[i].Name; strings.HasPrefix(name, branchPrefix) {
			there[name] = true
		}
	}
	return there, err
}

// ownBranches counts the branches of the caller's transactions, of all namespaces.
func ownBranches(c *alcove.Call) (n int, err error) {
	there, err := branchesThere(c)
	for name := range there {
		if strings.HasSuffix(name, "-"+ownerMark(c.Caller)) {
			n++
		}
	}
	return n, err
}

// ownerMark tells the transactions of one caller from those of others, without its name.
func ownerMark(caller string) string {
	const digits = "0123456789abcdefghijklmnopqrstuv"
	h := uint64(14695981039346656037)
	for i := range len(caller) {
		h = (h ^ uint64(caller[i])) * 1099511628211
	}
	mark := make([]byte, 12)
	for i := range mark {
		mark[i], h = digits[h&31], h>>5
	}
	return string(mark)
}

// Expire deletes the branches of transactions that expired. One is queued with each transaction; the one on schedule deletes what callers
// left who may not delete branches.
//
//alcove:job expire every=1h
//alcove:description Deletes the branches of expired transactions
type Expire struct{}

type expiredBranches struct{ Deleted int }

// Run deletes them.
func (Expire) Run(c *alcove.Call, cfg Config) (out expiredBranches, err error) {
	found, err := c.BranchList()
	if err != nil {
		return out, err
	}
	lasts := alcove.Duration(cfg.TransactionMinutes) * alcove.Minute
	for i := range found.Branches {
		b := &found.Branches[i]
		created, err := alcove.ParseTime(b.Created)
		if err != nil || !strings.HasPrefix(b.Name, branchPrefix) || c.Time() < created.Add(lasts) {
			continue
		}
		switch err := c.BranchDelete(alcove.BranchDeleteRequest{Name: b.Name, Force: true}); {
		case alcove.CodeOf(err) == alcove.Denied:
		case err != nil:
			return out, err
		default:
			out.Deleted++
		}
	}
	return out, nil
}
