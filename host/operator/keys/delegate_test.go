package keys

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

func codeOf(err error) memory.Code {
	var e *memory.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// task is a delegation of a part of ann's rights.
var task = Grant{Agent: "task", Namespaces: []string{"team/a"}, Rights: []memory.Right{Read, Write}, Expires: began.Add(time.Hour)}

// delegate issues a delegated key.
func (k *Keys) delegate(t *testing.T, c memory.Caller, g Grant) (Key, string) {
	t.Helper()
	drafted, secret, err := k.Draft(c, "sites", g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Verify(secret); codeOf(err) != memory.Denied {
		t.Errorf("before it is issued: %v", err)
	}
	key, err := k.Issue(drafted.ID)
	if err != nil {
		t.Fatal(err)
	}
	return key, secret
}

func TestADelegatedKeyHasAPartOfItsParentsRightsAndEndsWithIt(t *testing.T) {
	file, now := path(t), began
	k := open(t, file, func() time.Time { return now })
	lasting := ann
	lasting.Expires = began.Add(2 * time.Hour)
	parent, _ := k.must(t, lasting)
	child, secret := k.delegate(t, parent.Caller(), task)
	below := task
	below.Agent, below.Expires = "sub", began.Add(24*time.Hour)
	grandchild, deep := k.delegate(t, child.Caller(), below)
	who := grandchild.Caller()
	if who.Agent != "ann/task/sub" || who.AsMember() != "ann" || grandchild.Expires != child.Expires || grandchild.By.Depth != 2 ||
		!who.Rights.MayWrite("team/a") || who.Rights.MayRead("team/b") || who.Rights.May(memory.ToUse("facts")) {
		t.Errorf("the key %+v is of %+v", grandchild, who)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), secret[len(secret)-20:]) {
		t.Errorf("the file has the secret (%v)", err)
	}
	held, stop := k.While(t.Context(), grandchild.ID)
	defer stop()
	if _, err := k.Revoke(parent.ID); err != nil {
		t.Fatal(err)
	}
	<-held.Done()
	for _, of := range []string{secret, deep} {
		if _, err := k.Verify(of); codeOf(err) != memory.Denied {
			t.Errorf("after the end of its parent: %v", err)
		}
	}
	if list := k.List(); len(list) != 3 || slices.ContainsFunc(list, func(k Key) bool { return k.Revoked.IsZero() }) {
		t.Errorf("the list: %+v", list)
	}
	if _, err := k.Delete(parent.ID); err != nil || k.Check(child.ID) == nil {
		t.Errorf("after its deletion: %v", err)
	}
	now = began.Add(MaxLife)
	other, _ := k.must(t, ann)
	k.delegate(t, other.Caller(), Grant{Agent: "late", Namespaces: []string{"notes"}, Rights: task.Rights, Expires: now.Add(time.Hour)})
	if list := k.List(); len(list) != 2 {
		t.Errorf("delegated keys that ended long ago are listed: %+v", list)
	}
}

func TestADelegationNeverExceedsItsCallersRights(t *testing.T) {
	k := open(t, path(t), still)
	parent, _ := k.must(t, ann)
	reads := parent.Caller()
	reads.Rights = reads.Rights.ReadOnly()
	stranger := parent.Caller()
	stranger.Key = "none"
	for name, c := range map[string]struct {
		caller memory.Caller
		change func(*Grant)
		want   memory.Code
	}{
		"another namespace":          {parent.Caller(), func(g *Grant) { g.Namespaces = []string{"team"} }, memory.Denied},
		"one namespace too many":     {parent.Caller(), func(g *Grant) { g.Namespaces = []string{"notes", "other"} }, memory.Denied},
		"a wider pattern":            {parent.Caller(), func(g *Grant) { g.Namespaces = []string{"*"} }, memory.Denied},
		"a pattern of a name":        {parent.Caller(), func(g *Grant) { g.Namespaces = []string{"notes/*"} }, memory.Denied},
		"a right that it lacks":      {parent.Caller(), func(g *Grant) { g.Rights = append(slices.Clone(g.Rights), memory.ToBranch) }, memory.Denied},
		"all families":               {parent.Caller(), func(g *Grant) { g.Rights = append(slices.Clone(g.Rights), memory.ToUse("*")) }, memory.Denied},
		"writing, by one that reads": {reads, func(*Grant) {}, memory.Denied},
		"a right that is none":       {parent.Caller(), func(g *Grant) { g.Rights = []memory.Right{"read", "all"} }, memory.InvalidArgument},
		"no end":                     {parent.Caller(), func(g *Grant) { g.Expires = time.Time{} }, memory.InvalidArgument},
		"an end too far":             {parent.Caller(), func(g *Grant) { g.Expires = began.Add(MaxLife + 1) }, memory.InvalidArgument},
		"an end in the past":         {parent.Caller(), func(g *Grant) { g.Expires = began }, memory.InvalidArgument},
		"another's name":             {parent.Caller(), func(g *Grant) { g.Agent = "../bob" }, memory.InvalidArgument},
		"no such key":                {stranger, func(*Grant) {}, memory.Denied},
		"a pattern that it has":      {parent.Caller(), func(g *Grant) { g.Namespaces = []string{"team/b/*"} }, ""},
		"a family that it has":       {parent.Caller(), func(g *Grant) { g.Rights = append(slices.Clone(g.Rights), memory.ToUse("facts")) }, ""},
		"reading, by one that reads": {reads, func(g *Grant) { g.Rights = []memory.Right{Read} }, ""},
		"the owner":                  {memory.Caller{Agent: "My Agent!", Rights: memory.FullRights()}, func(g *Grant) { g.Namespaces = []string{"*"} }, ""},
	} {
		g := task
		c.change(&g)
		if _, _, err := k.Draft(c.caller, "sites", g); codeOf(err) != c.want {
			t.Errorf("%s: Draft: %v, want code %q", name, err, c.want)
		}
	}
}

func TestDelegationsAreBounded(t *testing.T) {
	k := open(t, path(t), still)
	parent, _ := k.must(t, ann)
	c := parent.Caller()
	for range MaxDepth {
		key, _ := k.delegate(t, c, task)
		c = key.Caller()
	}
	if _, _, err := k.Draft(c, "sites", task); codeOf(err) != memory.Exhausted {
		t.Errorf("one level more: %v", err)
	}
	if _, _, err := k.Draft(parent.Caller(), "sites", task); codeOf(err) != memory.Conflict {
		t.Errorf("a name that is in use: %v", err)
	}
	g := task
	for i := range MaxDelegated - MaxDepth { // beside those of the chain
		g.Agent = "task" + strings.Repeat("x", i+1)
		k.delegate(t, parent.Caller(), g)
	}
	g.Agent = "last"
	second := k.List()[1]
	for _, by := range []Key{parent, second} { // a delegate has no room of its own
		if _, _, err := k.Draft(by.Caller(), "sites", g); codeOf(err) != memory.Exhausted {
			t.Errorf("one more, by %s: got %v, want %s", by.Agent, err, memory.Exhausted)
		}
	}
	other, _ := k.must(t, Grant{Agent: "bob", Namespaces: ann.Namespaces, Rights: ann.Rights})
	k.delegate(t, other.Caller(), g)
	if _, err := k.Delete(other.ID); err != nil {
		t.Fatal(err)
	}
	for _, key := range k.List()[1:] {
		if err := k.DelegatedBy(parent.Caller(), "other", key.ID); codeOf(err) != memory.NotFound {
			t.Errorf("a key of another family: %v", err)
		}
	}
}

func TestDelegatedKeysLeaveRoomForOperators(t *testing.T) {
	k := open(t, path(t), still)
	parent, _ := k.must(t, ann)
	ended := 0
	for i := range MaxKeys - forOperators - mostEnded - 1 {
		s := &storedKey{Key: Key{ID: fmt.Sprint("other", i), Grant: Grant{Agent: fmt.Sprint("other", i), Expires: task.Expires}, By: &Delegation{Family: fmt.Sprint("f", i)}}}
		k.file.Keys = append(k.file.Keys, s)
	}
	for i := range mostEnded + 500 { // delegated and revoked again and again
		s := &storedKey{Key: Key{ID: fmt.Sprint("ended", i), Grant: Grant{Agent: fmt.Sprint("ended", i), Expires: task.Expires}, Revoked: began.Add(-time.Minute), By: &Delegation{}}}
		k.file.Keys = append(k.file.Keys, s)
	}
	if _, _, err := k.Draft(parent.Caller(), "sites", task); codeOf(err) != memory.Exhausted || !strings.Contains(err.Error(), "for operators") {
		t.Errorf("a delegation on a full server: got %v, want %s", err, memory.Exhausted)
	}
	full := slices.Clone(k.file.Keys) // a thousand keys are not created one by one: each would write the file
	for i := range forOperators - 1 {
		full = append(full, &storedKey{Key: Key{ID: fmt.Sprint("agent", i), Grant: ann}})
	}
	k.file.Keys = full
	if _, _, err := k.Create(ann); err != nil {
		t.Errorf("an operator's last key: %v", err)
	}
	if _, _, err := k.Create(ann); err == nil || !strings.Contains(err.Error(), "which is the limit") {
		t.Errorf("one key too many: got %v, want an error about the limit", err)
	}
	for _, key := range k.List() {
		if strings.HasPrefix(key.ID, "ended") {
			ended++
		}
	}
	if ended != mostEnded {
		t.Errorf("%d keys that ended are listed, want the newest %d", ended, mostEnded)
	}
}
