package core

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// inProject makes a user's session work in a project.
func (u *user) inProject(name, namespace string) *user {
	u.session = tool.NewSession(tool.SessionOptions{Project: name, Namespace: namespace})
	return u
}

// storeAll stores texts, by namespace and key.
func (u *user) storeAll(texts map[string]string) {
	u.t.Helper()
	var ids []string
	for id := range texts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		namespace, key, _ := strings.Cut(id, "#")
		u.must("memory_store", fmt.Sprintf(`{"namespace":%q,"key":%q,"value":%q}`, namespace, key, texts[id]))
	}
}

// sorted are the keys of a search's results, in order of their names.
func (u *user) sorted(arguments string) string {
	u.t.Helper()
	keys := strings.Fields(u.keys(arguments))
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, "#")
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

func TestASearchInAProjectLeavesOtherProjectsOut(t *testing.T) {
	texts := map[string]string{
		"project/a#deploy": "deploys halt on fridays", "default#rule": "never deploy on fridays without asking", "team/x#note": "the team deploys at noon",
	}
	u, alone := newUser(t).inProject("project/a", ""), newUser(t).inProject("project/a", "")
	u.storeAll(texts)
	alone.storeAll(texts)
	u.storeAll(map[string]string{"project/b#deploy": "deploys of b halt never", "project/ab#other": "deploys deploys deploys", "project/a/sub#deploy": "fridays"})

	for arguments, want := range map[string]string{
		`{"query":"deploys","fields":["namespace"]}`:                                     "default#rule project/a#deploy team/x#note",
		`{"fields":["namespace"]}`:                                                       "default#rule project/a#deploy team/x#note",
		`{"order":"key","k":2,"fields":["namespace"]}`:                                   "default#rule project/a#deploy",
		`{"query":"deploys","namespace":"*","fields":["namespace"]}`:                     "default#rule project/a#deploy project/a/sub#deploy project/ab#other project/b#deploy team/x#note",
		`{"query":"deploys","namespace":["project/b","default"],"fields":["namespace"]}`: "default#rule project/b#deploy",
		`{"query":"deploys","namespace":"project/*","fields":["namespace"]}`:             "project/a#deploy project/a/sub#deploy project/ab#other project/b#deploy",
		`{"query":"deploys","distinct":true,"fields":["namespace"]}`:                     "default#rule project/a#deploy team/x#note",
		`{"query":"deploys","expand":true,"fields":["namespace"]}`:                       "default#rule project/a#deploy team/x#note",
	} {
		if got := u.sorted(arguments); got != want {
			t.Errorf("%s: got %s, want %s", arguments, got, want)
		}
	}

	// Scores and statistics are those of a server that never had the others.
	versions := regexp.MustCompile(`"(version|timestamp|total)": ?("[^"]*"|\d+)`)
	for _, arguments := range []string{`{"query":"deploys fridays","explain":true}`, `{"query":"halt noon asking","explain":true}`} {
		got, _ := u.must("memory_search", arguments)
		want, _ := alone.must("memory_search", arguments)
		if got, want := versions.ReplaceAllString(got, ""), versions.ReplaceAllString(want, ""); got != want {
			t.Errorf("%s: got %s, want %s", arguments, got, want)
		}
	}
	if got, _ := u.must("memory_recall", `{"query":"deploys"}`); strings.Contains(got, "project/b") || !strings.Contains(got, "project/a#deploy") {
		t.Errorf("a recall by query: got %s, want the project's and what is no project's", got)
	}
	if got, _ := u.must("memory_recall", `{"topic":"deploy"}`); strings.Contains(got, "project/b") || strings.Contains(got, "team/x") ||
		!strings.Contains(got, "project/a#deploy") || !strings.Contains(got, "default#rule") {
		t.Errorf("a recall by topic: got %s, want the project's and the session's", got)
	}
}

func TestAHitOfTheProjectGoesFirstWhereScoresAreNearlyTheSame(t *testing.T) {
	u := newUser(t)
	u.storeAll(map[string]string{"default#one": "the release train leaves at nine", "project/a#one": "the release train leaves at nine"})
	u.must("memory_store", `{"namespace":"default","key":"far","value":"train train train release release"}`)
	both := `{"query":"release train","namespace":%s,"fields":["namespace"]}`
	place := func(keys, key string) int { return slices.Index(strings.Fields(keys), key) }
	for _, list := range []string{`["project/a","default"]`, `["default","project/a"]`} {
		if got := u.keys(fmt.Sprintf(both, list)); place(got, "project/a#one") > place(got, "default#one") {
			t.Errorf("%s: got %s, want the project's before its double", list, got)
		}
	}
	got := u.inProject("project/a", "").keys(`{"query":"release train","fields":["namespace"]}`)
	if place(got, "project/a#one") > place(got, "default#one") {
		t.Errorf("in the project: got %s, want the project's before its double", got)
	}
	if place(got, "default#far") > place(got, "project/a#one") {
		t.Errorf("in the project: got %s, want what fits far better first", got)
	}
}

func TestAProjectChangesNeitherWhereAKeyIsStoredNorWhatItMeans(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"editor","value":"vim"}`)
	u.storeAll(map[string]string{"project/a#editor": "ed", "project/a#port": "8080", "project/b#secret": "no"})
	u.inProject("project/a", "")
	for key, want := range map[string]string{"editor": `"vim"`, "port": `"8080"`} {
		answer, _ := u.must("memory_recall", fmt.Sprintf(`{"key":%q}`, key))
		var m struct{ Value json.RawMessage }
		if err := json.Unmarshal([]byte(answer), &m); err != nil || string(m.Value) != want {
			t.Errorf("%s: got %s, want %s", key, answer, want)
		}
	}
	if answer, _ := u.must("memory_recall", `{"key":"port"}`); !strings.Contains(answer, `"namespace":"project/a"`) {
		t.Errorf("got %s, want the namespace in which it was found", answer)
	}
	if answer, _ := u.must("memory_recall", `{"key":"secret"}`); !strings.Contains(answer, `"found":false`) {
		t.Errorf("got %s, want nothing of another project", answer)
	}
	if answer, _ := u.must("memory_recall", `{"key":"port","namespace":"default"}`); !strings.Contains(answer, `"found":false`) {
		t.Errorf("got %s, want nothing where the call says where to look", answer)
	}
	u.must("memory_store", `{"key":"new","value":"x"}`)
	if answer, _ := u.must("memory_recall", `{"key":"new","namespace":"default"}`); !strings.Contains(answer, `"found":true`) {
		t.Errorf("got %s, want what was stored without a namespace in the usual one", answer)
	}

	u.inProject("project/a", "project/a") // as with alcove mcp --namespace @project
	if answer, _ := u.must("memory_recall", `{"key":"editor"}`); !strings.Contains(answer, `"ed"`) {
		t.Errorf("got %s, want the project's", answer)
	}
	if answer, _ := u.must("memory_recall", `{"key":"new"}`); !strings.Contains(answer, `"namespace":"default"`) {
		t.Errorf("got %s, want that of the usual namespace", answer)
	}
}

func TestAProjectWidensNoRights(t *testing.T) {
	u := newUser(t)
	u.storeAll(map[string]string{"project/a#plan": "plan of a", "default#plan": "plan of all", "project/b#plan": "plan of b"})
	u.caller.Rights = memory.RightsTo([]string{"default", "project/b"}, []string{"default"})
	u.inProject("project/a", "")
	if got, want := u.sorted(`{"query":"plan","fields":["namespace"]}`), "default#plan project/b#plan"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if answer, _ := u.must("memory_recall", `{"key":"plan"}`); strings.Contains(answer, "plan of a") && !strings.Contains(answer, "plan of all") {
		t.Errorf("got %s, want nothing of the project", answer)
	}
	u.must("memory_forget", `{"key":"plan"}`)
	if answer, _ := u.must("memory_recall", `{"key":"plan"}`); strings.Contains(answer, "plan of a") {
		t.Errorf("got %s, want nothing of the project", answer)
	}
}

func TestASearchThatFindsNothingInAProjectSaysWhatOthersHave(t *testing.T) {
	u := newUser(t)
	u.storeAll(map[string]string{"project/a#one": "apples", "project/b#two": "pears"})
	_, note := u.inProject("project/a", "").must("memory_search", `{"query":"pears"}`)
	if !strings.Contains(note, `other projects than "project/a"`) || !strings.Contains(note, `namespace "*": 1 result`) {
		t.Errorf("got %q, want that other projects were left out, and what they have", note)
	}
}
