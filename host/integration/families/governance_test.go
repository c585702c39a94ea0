//go:build guests

package families_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// council is a server on which two agents of those with keys approve each change of a namespace.
type council struct {
	*server.Server
	at   string // the namespace
	keys map[string]string
}

// newCouncil turns governance on in a scope of ann's, whose members bob, carl and eve are.
func newCouncil(t *testing.T) *council {
	t.Helper()
	k := server.Carrying(t, host.Options{})
	c := &council{Server: k, keys: map[string]string{}}
	c.issueKeys()
	c.at = server.Answered[struct{ ScopeID string }](t, c.as("ann"), "memory_create_scope", map[string]any{"name": "team", "members": []string{"bob", "carl", "eve"}}).ScopeID
	server.Answered[any](t, c.as("ann"), "memory_store", map[string]any{"key": "rule", "value": "Two of us look at each change."})
	_, err := operator.Call(t.Context(), k.Acts, operator.GrantFamily, operator.GrantRequest{Family: "governance", Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}})
	must.Do(t, err)
	server.Answered[any](t, c.as("ann"), "memory_namespace_set_standard", map[string]any{"namespace": c.at, "id": "rule",
		"governance": map[string]any{"write": "approve", "approver": map[string]any{"consensus": 2}}})
	return c
}

func (c *council) issueKeys() {
	for _, agent := range []string{"ann", "bob", "carl", "eve"} {
		c.keys[agent] = c.Issue(agent, server.EveryRight, "*").Secret
	}
}

// delegate gives agents a delegate AGENT/NAME, which may do in the namespace what they may.
func (c *council) delegate(name string, agents ...string) {
	c.T.Helper()
	request := fmt.Sprintf(`identity.delegate {"name":%q,"namespaces":[%q],"rights":["read","write","branch","family:*"],"expires_s":3600}`, name, c.at)
	c.Asking(abi.CanIdentityDelegate, map[string]string{"spawn" + name: request})
	for _, agent := range agents {
		made := server.Answered[struct{ Key, Agent string }](c.T, c.as(agent), "spawn"+name+"_ask", nil)
		c.keys[made.Agent] = made.Key
	}
}

// restart stops the server, and starts another on what it left.
func (c *council) restart() {
	c.T.Helper()
	c.Restart()
}

// as is a new session of an agent.
func (c *council) as(agent string) *client.Session {
	c.T.Helper()
	s, err := c.Connect(owner.Hello{Key: c.keys[agent], Namespace: c.at})
	must.Do(c.T, err)
	return s
}

// stores has an agent store a memory. On a busy machine the hook exceeds its time, and nothing is stored: it is asked again then.
func (c *council) stores(s *client.Session, key string) {
	c.T.Helper()
	var text string
	for range 5 {
		text = server.AnswerText(s, "memory_store", map[string]any{"key": key, "value": "tea"})
		if !strings.Contains(text, "has to be asked first and failed") {
			break
		}
		c.T.Logf("store %s: %s", key, text)
	}
	if strings.HasPrefix(text, "error: ") {
		c.T.Fatalf("store %s: got %s, want an answer", key, text)
	}
}

// propose has an agent store a memory, which has to wait, and returns the id of the change.
func (c *council) propose(s *client.Session, key string) string {
	c.T.Helper()
	c.stores(s, key)
	if c.stored(key) != 0 {
		c.T.Fatalf("%s does not wait", key)
	}
	for _, p := range c.waiting() {
		if slices.Equal(p.Keys, []string{key}) {
			return p.ID
		}
	}
	c.T.Fatalf("%s is not among %+v", key, c.waiting())
	return ""
}

type waitingChange struct {
	ID          string
	Keys, Votes []string
}

func (c *council) waiting() []waitingChange {
	c.T.Helper()
	return server.Answered[struct{ Pending []waitingChange }](c.T, c.as("eve"), "memory_pending_list", nil).Pending
}

// stored is how many versions a memory has.
func (c *council) stored(key string) int {
	c.T.Helper()
	list, _, err := server.Owner(c.Host, "").History(c.T.Context(), memory.Location{Namespace: c.at}, key, memory.AsOf{}, 0)
	must.Do(c.T, err)
	return len(list)
}

// approved are the announcements of approved changes.
func (c *council) approved() (ids []string) {
	c.T.Helper()
	found, err := server.Owner(c.Host, "").Feed(c.T.Context(), memory.Default, []string{c.at}, 0, 1000)
	must.Do(c.T, err)
	for _, n := range found.Notices {
		var e struct{ Changes struct{ ID string } }
		if n.Kind == "pending_approved" && json.Unmarshal(n.Payload, &e) == nil {
			ids = append(ids, e.Changes.ID)
		}
	}
	return ids
}

type vote struct {
	Merged        bool
	Votes, Needed int
}

func (c *council) approves(agent, id string, want vote) {
	c.T.Helper()
	if got := server.Answered[vote](c.T, c.as(agent), "memory_pending_approve", map[string]any{"id": id}); got != want {
		c.T.Errorf("%s approves: %+v, not %+v", agent, got, want)
	}
}

// The server stops between two votes, and in between one of the agents is no member any more: its vote does not count until it is one
// again and votes anew.
func TestAVoteOutlivesARestartAndNotTheMembershipOfItsAgent(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	id := c.propose(c.as("ann"), "tea")
	c.approves("bob", id, vote{Votes: 1, Needed: 2})
	c.restart()
	if p := c.waiting(); len(p) != 1 || !slices.Equal(p[0].Votes, []string{"bob"}) {
		t.Errorf("after a restart wait %+v", p)
	}
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "remove": "bob"})
	if text := server.AnswerText(c.as("bob"), "memory_pending_approve", map[string]any{"id": id}); !strings.HasPrefix(text, "error: ") {
		t.Errorf("bob, who is no member, approves: %s", text)
	}
	c.approves("carl", id, vote{Votes: 1, Needed: 2})
	if c.stored("tea") != 0 {
		t.Error("the vote of one who is no member counts")
	}
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "add": "bob"})
	c.restart()
	c.approves("bob", id, vote{Merged: true, Votes: 2, Needed: 2})
	if c.stored("tea") != 1 || len(c.waiting()) != 0 || !slices.Equal(c.approved(), []string{id}) {
		t.Errorf("%d versions; %+v wait; %q are announced", c.stored("tea"), c.waiting(), c.approved())
	}
}

// A key may be revoked because somebody else had it, so its votes end with it, also where its agent has another key by then.
func TestAVoteEndsWithTheAPIKeyThatItWasGivenWith(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	for how, end := range map[string]operator.Act[operator.KeyID, operator.Key]{"revoked": operator.RevokeKey, "deleted": operator.DeleteKey} {
		id := c.propose(c.as("ann"), how)
		c.approves("bob", id, vote{Votes: 1, Needed: 2})
		c.approves("bob", id, vote{Votes: 1, Needed: 2})
		former := operator.KeyID{ID: strings.Split(c.keys["bob"], "_")[2]}
		c.keys["bob"] = c.Issue("bob", server.EveryRight, "*").Secret
		_, err := operator.Call(t.Context(), c.Acts, end, former)
		must.Do(t, err)
		if p := c.waiting(); len(p) != 1 || len(p[0].Votes) != 0 {
			t.Errorf("with a key that was %s, %+v wait", how, p)
		}
		c.approves("carl", id, vote{Votes: 1, Needed: 2})
		if c.stored(how) != 0 {
			t.Errorf("the vote with a key that was %s counts", how)
		}
		c.approves("bob", id, vote{Merged: true, Votes: 2, Needed: 2})
		if c.stored(how) != 1 {
			t.Errorf("two votes with keys that hold, after one with a key that was %s, are not enough", how)
		}
	}
}

// What an agent approves for later changes too holds as its votes do: while it may write there, and with the key that it had.
func TestARememberedApprovalEndsWithItsAgentsRightsAndKey(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	server.Answered[any](t, c.as("ann"), "memory_namespace_set_standard", map[string]any{"namespace": c.at, "id": "rule",
		"governance": map[string]any{"write": "approve", "approver": map[string]any{"agent": "bob"}}})
	approvesForever := func(key string) {
		server.Answered[any](t, c.as("bob"), "memory_pending_approve", map[string]any{"id": c.propose(c.as("ann"), key), "remember": "forever"})
	}
	isStored := func(key, when string) {
		c.stores(c.as("ann"), key)
		if c.stored(key) != 1 {
			t.Errorf("%s waits %s", key, when)
		}
	}
	approvesForever("milk")
	isStored("wine", "although bob approved it forever")
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "remove": "bob"})
	c.propose(c.as("ann"), "after bob left")
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "add": "bob"})
	isStored("beer", "although bob is a member again")
	former := operator.KeyID{ID: strings.Split(c.keys["bob"], "_")[2]}
	c.keys["bob"] = c.Issue("bob", server.EveryRight, "*").Secret
	_, err := operator.Call(t.Context(), c.Acts, operator.RevokeKey, former)
	must.Do(t, err)
	c.propose(c.as("ann"), "after bob's key was revoked")
	c.restart()
	approvesForever("after a restart")
	isStored("rum", "although bob approved it with his new key")
}

// Three agents vote at once for each of some changes, of which two votes are enough. Each change is merged once.
func TestVotesThatComeAtOnceMergeAChangeOnce(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	ann, voters := c.as("ann"), []*client.Session{c.as("bob"), c.as("carl"), c.as("eve")}
	for round := range 4 {
		key := fmt.Sprint("tea", round)
		id := c.propose(ann, key)
		var voting sync.WaitGroup
		var mu sync.Mutex
		merged, counted := 0, []int{}
		for _, v := range voters {
			voting.Go(func() {
				text := server.AnswerText(v, "memory_pending_approve", map[string]any{"id": id})
				for strings.HasPrefix(text, "error: ") && strings.Contains(text, "try again") { // overtaken too often
					text = server.AnswerText(v, "memory_pending_approve", map[string]any{"id": id})
				}
				var out vote
				mu.Lock()
				defer mu.Unlock()
				switch err := json.Unmarshal([]byte(text), &out); {
				case err == nil && out.Merged:
					merged++
					counted = append(counted, out.Votes)
				case err == nil:
					counted = append(counted, out.Votes)
				case !strings.Contains(text, "no change"): // it came after the decision
					t.Errorf("a vote is answered with %s", text)
				}
			})
		}
		voting.Wait()
		slices.Sort(counted)
		if merged != 1 || !slices.Equal(counted, []int{1, 2}) || c.stored(key) != 1 {
			t.Errorf("merged %d times; votes %v; %d versions", merged, counted, c.stored(key))
		}
	}
	if ids := c.approved(); len(ids) != 4 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("announced are %q", ids)
	}
}

// A bundle has a change with a vote, another with forged votes, and an approval of whatever ann changes. Where it is imported, its
// changes wait, and no vote and no approval of the bundle counts.
func TestAnImportBringsNoApprovals(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	ann := c.as("ann")
	first, second, third := c.propose(ann, "one"), c.propose(ann, "two"), c.propose(ann, "three")
	c.approves("bob", first, vote{Votes: 1, Needed: 2})
	c.approves("bob", second, vote{Votes: 1, Needed: 2})
	c.approves("bob", third, vote{Votes: 1, Needed: 2})
	if got := server.Answered[vote](t, c.as("carl"), "memory_pending_approve", map[string]any{"id": third, "remember": "forever"}); !got.Merged {
		t.Errorf("carl's vote = %+v, want it merged", got)
	}
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "free", "value": "tea"})
	if c.stored("free") != 1 {
		t.Error("the approval is not remembered where it was given")
	}
	var bundle bytes.Buffer
	must.Do(t, operator.Receive(t.Context(), c.Acts, operator.Export, operator.ExportRequest{}, &bundle))
	c.Stop()

	branch := strings.TrimPrefix(second, c.at+"#")
	lines := bytes.SplitAfter(bundle.Bytes(), []byte("\n"))
	forged := 0
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"k":"`+branch+`"`)) && bytes.Contains(line, []byte(`"bob"`)) {
			lines[i] = bytes.ReplaceAll(line, []byte(`["bob"]`), []byte(`["bob","carl","eve"]`))
			forged += len(lines[i]) - len(line)
		}
	}
	if forged == 0 {
		t.Fatal("the bundle has no vote to forge")
	}
	body := bytes.Join(lines[:len(lines)-2], nil)
	end := fmt.Sprintf(`{"end":true,"lines":%d,"sha256":"%x"}`+"\n", len(lines)-2, sha256.Sum256(body))
	dir := t.TempDir()
	_, err := space.Directory(dir).Import(t.Context(), strings.NewReader(string(body)+end), nil)
	must.Do(t, err)

	c.Server = server.Carrying(t, host.Options{Dir: dir})
	c.issueKeys()
	_, err = operator.Call(t.Context(), c.Acts, operator.GrantFamily, operator.GrantRequest{Family: "governance", All: true, Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}})
	must.Do(t, err)
	for _, p := range c.waiting() {
		if len(p.Votes) != 0 {
			t.Errorf("it brought %+v", p)
		}
	}
	for _, id := range []string{first, second} {
		c.approves("carl", id, vote{Votes: 1, Needed: 2})
	}
	if c.stored("one")+c.stored("two") != 0 {
		t.Error("votes of the bundle count")
	}
	other := c.propose(c.as("ann"), "four") // although it was approved once and for all elsewhere
	for _, id := range []string{first, second} {
		c.approves("eve", id, vote{Merged: true, Votes: 2, Needed: 2})
	}
	if p := c.waiting(); c.stored("one") != 1 || c.stored("two") != 1 || len(p) != 1 || p[0].ID != other {
		t.Errorf("%+v wait", p)
	}
}

// An approval for a session holds for that session of the change's author: not in another session of it, not for another agent, and
// neither after the session ended nor after a restart, when the same client goes on.
func TestAnApprovalForASessionEndsWithIt(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	open := func() *client.Session {
		s, err := server.Session(t.Context(), func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
			return owner.Connect(ctx, c.At.Socket, owner.Hello{Key: c.keys["ann"], Namespace: c.at})
		})
		must.Do(t, err)
		return s
	}
	first, second := open(), open()
	defer second.Close()
	remember := func(s *client.Session, key string) {
		t.Helper()
		id := c.propose(s, key)
		c.approves("bob", id, vote{Votes: 1, Needed: 2})
		if got := server.Answered[vote](t, c.as("carl"), "memory_pending_approve", map[string]any{"id": id, "remember": "session"}); !got.Merged {
			t.Errorf("carl's vote for %s = %+v, want it merged", key, got)
		}
	}
	passes := func(s *client.Session, key string) {
		t.Helper()
		if c.stores(s, key); c.stored(key) != 1 {
			t.Errorf("%s waits", key)
		}
	}
	remember(first, "one")
	passes(first, "two")
	c.propose(second, "three")
	c.propose(c.as("bob"), "four")
	remember(second, "five")
	passes(second, "six")
	passes(first, "seven") // each session has its own
	if text := server.AnswerText(first, "memory_forget", map[string]any{"key": "one"}); strings.HasPrefix(text, "error: ") || c.stored("one") != 2 {
		t.Errorf("a deletion is free: %s", text)
	}
	first.Close()
	third := open()
	defer third.Close()
	c.propose(third, "eight")
	c.restart()
	c.propose(second, "nine")
}

// One who may write the namespace and make branches, but not use governance, tries to have another change approved in the place of ann's.
func TestNobodyChangesReplacesOrDropsAChangeThatWaits(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	id := c.propose(c.as("ann"), "tea")
	branch := strings.TrimPrefix(id, c.at+"#")
	c.keys["mal"] = c.Issue("eve", []operator.Right{"read", "write", "branch"}, "*").Secret
	mal := c.as("mal")
	server.Answered[any](t, mal, "memory_branch", map[string]any{"action": "create", "name": "m1"})
	for what, arguments := range map[string]map[string]any{
		"merge into it": {"action": "merge", "source": "m1", "target": branch, "namespace": c.at,
			"resolutions": []any{map[string]any{"key": "tea", "namespace": c.at, "take": "value", "value": "pay mallory"}}},
		"merge it":      {"action": "merge", "source": branch},
		"fork it":       {"action": "fork", "source": branch, "name": "m2"},
		"delete it":     {"action": "delete", "name": branch},
		"fork its name": {"action": "fork", "source": "m1", "name": branch},
		"create one":    {"action": "create", "name": "proposals/governance/m3"},
	} {
		if text := server.AnswerText(mal, "memory_branch", arguments); !strings.HasPrefix(text, "error: ") || !strings.Contains(text, "proposals/") {
			t.Errorf("%s: %s, want an error that names the proposal", what, text)
		}
	}
	if text := server.AnswerText(mal, "memory_store", map[string]any{"key": "tea", "value": "pay mallory", "branch": branch}); !strings.Contains(text, "stays as it was proposed") {
		t.Errorf("a store on the branch is answered with %s", text)
	}
	if p := c.waiting(); len(p) != 1 || p[0].ID != id {
		t.Fatalf("%+v wait, want %s alone", p, id)
	}
	c.approves("bob", id, vote{Votes: 1, Needed: 2})
	c.approves("carl", id, vote{Merged: true, Votes: 2, Needed: 2})
	m, err := server.Owner(c.Host, "").Recall(t.Context(), memory.Location{Namespace: c.at}, "tea", memory.AsOf{})
	if must.Do(t, err); m == nil || string(m.Value) != `"tea"` {
		t.Errorf("merged is %+v, want what ann proposed", m)
	}
	rejected := c.propose(c.as("ann"), "milk") // governance itself drops what is rejected
	server.Answered[any](t, c.as("bob"), "memory_pending_reject", map[string]any{"id": rejected})
	if p := c.waiting(); len(p) != 0 {
		t.Errorf("%+v wait after the rejection", p)
	}
}

// mal may delegate, and lets two delegates vote, first on mal's own change, then on ann's.
func TestVotesCountPrincipalsAndTheDelegatesOfAnAuthorHaveNone(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "add": "mal"})
	c.keys["mal"] = c.Issue("mal", server.EveryRight, "*").Secret
	c.delegate("a", "mal")
	c.delegate("b", "mal")
	delegates := []string{"mal/a", "mal/b"}
	refuses := func(agent, id string) {
		t.Helper()
		text := server.AnswerText(c.as(agent), "memory_pending_approve", map[string]any{"id": id})
		if !strings.HasPrefix(text, "error: ") || !strings.Contains(text, "nobody decides about their own change") {
			t.Errorf("%s approves what mal's principal proposed: %s, want a refusal", agent, text)
		}
	}

	own := c.propose(c.as("mal"), "tea")
	byDelegate := c.propose(c.as("mal/a"), "milk")
	for _, agent := range append(delegates, "mal") {
		refuses(agent, own)
		refuses(agent, byDelegate)
	}
	if c.stored("tea")+c.stored("milk") != 0 {
		t.Errorf("mal and its delegates approved their own changes")
	}

	others := c.propose(c.as("ann"), "wine")
	for _, agent := range append(delegates, "mal") {
		c.approves(agent, others, vote{Votes: 1, Needed: 2})
	}
	for _, p := range c.waiting() {
		if p.ID == others && !slices.Equal(p.Votes, []string{"mal"}) {
			t.Errorf("the votes of mal and its delegates are listed as %q, want mal's alone", p.Votes)
		}
	}
	c.approves("bob", others, vote{Merged: true, Votes: 2, Needed: 2})

	server.Answered[any](t, c.as("mal"), "memory_pending_reject", map[string]any{"id": byDelegate}) // the author withdraws it
	for _, p := range c.waiting() {
		if p.ID == byDelegate {
			t.Errorf("%+v waits, after mal withdrew it", p)
		}
	}
}

// What bob's delegate approves for all that ann's delegate writes holds for ann too, and ends with bob's membership.
func TestARememberedApprovalIsOfPrincipals(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	server.Answered[any](t, c.as("ann"), "memory_namespace_set_standard", map[string]any{"namespace": c.at, "id": "rule",
		"governance": map[string]any{"write": "approve", "approver": map[string]any{"consensus": 1}}})
	c.delegate("task", "ann", "bob")
	id := c.propose(c.as("ann/task"), "one")
	server.Answered[any](t, c.as("bob/task"), "memory_pending_approve", map[string]any{"id": id, "remember": "forever"})
	for _, agent := range []string{"ann", "ann/task"} {
		key := "two of " + agent
		if c.stores(c.as(agent), key); c.stored(key) != 1 {
			t.Errorf("%q waits, although bob/task approved what ann and its delegates write", key)
		}
	}
	server.Answered[any](t, c.as("ann"), "memory_scope_members", map[string]any{"scopeId": c.at, "remove": "bob"})
	c.propose(c.as("ann/task"), "three")
}

// ann proposes a new memory, one with a long value and other tags, and the deletion of a third. While they wait, what is merged changes.
func TestTheListOfWaitingChangesShowsWhatWouldBeMerged(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	ann, long := c.as("ann"), strings.Repeat("green ", 100)
	rule := func(who string) {
		t.Helper()
		server.Answered[any](t, ann, "memory_namespace_set_standard", map[string]any{"namespace": c.at, "id": "rule",
			"governance": map[string]any{"write": who, "delete": who, "approver": map[string]any{"consensus": 2}}})
	}
	rule("any")
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "tea", "value": "black"})
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "milk", "value": "oat"})
	rule("approve")
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "new", "value": map[string]any{"pay": "ann"}})
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "tea", "value": long, "tags": []string{"hot"}})
	if text := server.AnswerText(ann, "memory_forget", map[string]any{"key": "milk"}); !strings.Contains(text, "waits for approval") {
		t.Fatalf("a deletion is answered with %s, want a note that it waits", text)
	}
	type change struct {
		Key, Change, Clash string
		Before, After      any
		Also               []string
	}
	list := func() map[string]change {
		t.Helper()
		all := map[string]change{}
		for _, p := range server.Answered[struct{ Pending []struct{ Changes []change } }](t, c.as("eve"), "memory_pending_list", nil).Pending {
			for _, shown := range p.Changes {
				all[shown.Key] = shown
			}
		}
		return all
	}
	shown := list()
	if got := shown["new"]; got.Change != "added" || got.Before != nil || fmt.Sprint(got.After) != "map[pay:ann]" {
		t.Errorf("a new memory is listed as %+v, want it added with its value", got)
	}
	if got := shown["milk"]; got.Change != "deleted" || got.Before != "oat" || got.After != nil {
		t.Errorf("a deletion is listed as %+v, want it deleted with its former value", got)
	}
	tea := shown["tea"]
	after, _ := tea.After.(string)
	if tea.Change != "changed" || tea.Before != "black" || !strings.Contains(after, "(602 bytes, sha256 ") || len(after) > 500 || !slices.Equal(tea.Also, []string{"tags: none → hot"}) {
		t.Errorf("a change to a long value is listed as %+v, want both values, the second one shortened with its size, and the tags", tea)
	}
	rule("any")
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "tea", "value": "white"})
	server.Answered[any](t, ann, "memory_store", map[string]any{"key": "other", "value": "not proposed"})
	if got, there := list()["other"]; there {
		t.Errorf("a memory that nobody proposed is listed as %+v", got)
	}
	if got := list()["tea"]; got.Before != "white" || got.Clash == "" {
		t.Errorf("what was changed since is listed as %+v, want a clash with what is there now", got)
	}
}

// bob may write the namespace, but has no right to merge branches, and his is the last vote.
func TestAnApprovalThatCannotBeMergedIsRefusedAndTheChangeWaits(t *testing.T) {
	t.Parallel()
	c := newCouncil(t)
	c.keys["bob"] = c.Issue("bob", []operator.Right{"read", "write", "family:*"}, "*").Secret
	id := c.propose(c.as("ann"), "tea")
	c.approves("carl", id, vote{Votes: 1, Needed: 2})
	if text := server.AnswerText(c.as("bob"), "memory_pending_approve", map[string]any{"id": id}); !strings.HasPrefix(text, "error: ") || !strings.Contains(text, "the right branch") {
		t.Errorf("bob's vote is answered with %s, want an error that names the right branch", text)
	}
	if p := c.waiting(); len(p) != 1 || p[0].ID != id || !slices.Equal(p[0].Votes, []string{"carl"}) {
		t.Errorf("%+v wait, want %s with carl's vote", p, id)
	}
	c.approves("eve", id, vote{Merged: true, Votes: 2, Needed: 2})
	if got := c.stored("tea"); got != 1 {
		t.Errorf("the memory has %d versions after the approval, want 1", got)
	}
}

// Whatever tool writes what a namespace says, the change waits, and the answer says so.
func TestEveryToolThatWritesANamespaceWithApprovalWaits(t *testing.T) {
	c := newCouncil(t)
	_, err := operator.Call(t.Context(), c.Acts, operator.GrantFamily, operator.GrantRequest{Family: "governance",
		Capabilities: []registry.Capability{{Name: abi.CanRecordsRead, Scope: []string{"developer", "graph"}}}})
	must.Do(t, err)
	server.Answered[any](t, c.as("ann"), "memory_namespace_clear_standard", map[string]any{"namespace": c.at})
	server.Answered[any](t, c.as("ann"), "memory_store", map[string]any{"key": "plan", "value": "We look at changes at noon."})
	server.Answered[any](t, c.as("ann"), "memory_namespace_set_standard", map[string]any{"namespace": c.at, "id": "rule",
		"governance": map[string]any{"write": "approve", "promote": "approve", "delete": "approve", "approver": map[string]any{"consensus": 2}}})
	s := c.as("bob")
	fact := map[string]any{"content": "The cache is in Redis.", "factType": "decision"}
	for _, write := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"memory_store", map[string]any{"key": "tea", "value": "green"}},
		{"memory_forget", map[string]any{"key": "rule"}},
		{"memory_update", map[string]any{"id": "rule", "summary": "two look"}},
		{"memory_archive_fact", map[string]any{"factId": "rule"}},
		{"memory_store_fact", fact},
		{"memory_remember", map[string]any{"content": "The queue is in Kafka.", "context": "critical"}},
		{"memory_learn", map[string]any{"knowledge": "Locks are held for the life of a file."}},
		{"memory_decide", map[string]any{"decision": "We take the bus."}},
		{"memory_import_vault_to_facts", map[string]any{"files": []any{map[string]any{"path": "n.md", "content": "A note."}}}},
		{"memory_kv", map[string]any{"action": "put", "key": "a", "value": 1}},
		{"memory_json", map[string]any{"action": "set", "key": "doc", "path": "$", "value": map[string]any{"n": 1}}},
		{"memory_cell", map[string]any{"action": "set", "key": "n", "value": 3}},
		{"memory_vectors", map[string]any{"action": "create", "collection": "v", "dimension": 2}},
		{"memory_link_entity", map[string]any{"entityId": "ent:redis", "name": "Redis", "type": "tool"}},
		{"memory_link", map[string]any{"source_id": "rule", "target_id": "plan", "relation": "depends_on"}},
		{"memory_create_theme", map[string]any{"name": "Caches", "description": "What is cached."}},
	} {
		before := len(c.waiting())
		text := server.AnswerText(s, write.tool, write.arguments)
		if strings.HasPrefix(text, "error: ") || !strings.Contains(text, "waits for approval") || !strings.Contains(text, "applied") {
			t.Errorf("%s %v answers %s, want that it waits for approval, and is not applied", write.tool, write.arguments, text)
		}
		if after := len(c.waiting()); after != before+1 {
			t.Errorf("%s %v: %d changes wait after %d", write.tool, write.arguments, after, before)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"memory_kv": {"action": "list"}, "memory_json": {"action": "list"}, "memory_cell": {"action": "list"}, "memory_search_entities": {"query": "redis", "scopeIds": c.at},
		"memory_search_themes": {"scopeIds": c.at}, "memory_query_facts": {},
	} {
		if text := server.AnswerText(s, tool, arguments); strings.Contains(text, "edis") || strings.Contains(text, `"doc"`) || strings.Contains(text, `"n"`) || strings.Contains(text, "Caches") {
			t.Errorf("%s %v shows what waits: %s", tool, arguments, text)
		}
	}
	if c.stored("rule") != 1 || c.stored("tea") != 0 {
		t.Errorf("rule is stored %d times and tea %d times, want 1 and 0", c.stored("rule"), c.stored("tea"))
	}
}
