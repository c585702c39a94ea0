package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// keeps writes a record of a family.
func keeps(t *testing.T, s *Space, c Collection, branch, namespace, key, value string) {
	t.Helper()
	stage, err := s.As(undoer()).Stage(t.Context(), branch)
	if err == nil {
		err = stage.PutRecord(t.Context(), c, namespace, key, json.RawMessage(value), nil)
	}
	if err == nil {
		_, err = stage.Commit(t.Context(), Commit{})
	}
	if err != nil {
		t.Fatalf("keep %s of %s: %v", key, namespace, err)
	}
}

// recordsIn are the records of a collection, as key=value.
func recordsIn(t *testing.T, s *Space, c Collection, branch, namespace string) string {
	t.Helper()
	stage, err := s.As(undoer()).Stage(t.Context(), branch)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := stage.ListRecords(t.Context(), c, namespace, "", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, r := range list {
		text = append(text, r.Key+"="+string(r.Value))
	}
	return strings.Join(text, " ")
}

func TestAMoveTakesTheRecordsOfFamiliesAlongAndUndoBringsThemBack(t *testing.T) {
	s := testSpace(t)
	notes, shared := Collection{Name: "f/note"}, Collection{Name: "f/shared", PerSpace: true}
	keeps(t, s, notes, "", "project/a", "n", `{"of":"project/a#k","in":"project/a","text":"project/ab, of project/a#k","project/a#m":1}`)
	keeps(t, s, shared, "", "project/a", "s", `["project/a#k","project/ab#k"]`)
	forkAs(t, s, "default", "idea")
	keeps(t, s, notes, "idea", "project/a", "i", `1`)
	keeps(t, s, notes, "", "project/b", "out|k|knows|project/a#x", `{"to":"project/a#x"}`)

	done := move(t, s, "m", Move{From: "project/a", To: "project/b"}, false)
	if got, want := fmt.Sprint(done.Records, done.Differ, done.Left), "map[f/note:3 f/shared:1] map[] map[]"; got != want {
		t.Errorf("moved: got %s, want %s: the note on both branches", got, want)
	}
	moved := `n={"of":"project/b#k","in":"project/b","text":"project/ab, of project/a#k","project/b#m":1} out|k|knows|x={"to":"project/b#x"}`
	if got := recordsIn(t, s, notes, "", "project/b"); got != moved {
		t.Errorf("notes: got %s, want %s", got, moved)
	}
	if got, want := recordsIn(t, s, notes, "idea", "project/b"), `i=1 `+strings.Split(moved, " out|")[0]; got != want {
		t.Errorf("on the branch: got %s, want %s", got, want)
	}
	if got, want := recordsIn(t, s, shared, "idea", "project/b"), `s=["project/b#k","project/ab#k"]`; got != want {
		t.Errorf("what all branches share: got %s, want %s", got, want)
	}
	for _, c := range []Collection{notes, shared} {
		if got := recordsIn(t, s, c, "", "project/a"); got != "" {
			t.Errorf("%s: got %s under the former name, want nothing", c.Name, got)
		}
	}
	if again := move(t, s, "again", Move{From: "project/a", To: "project/b"}, false); again.Commits != 0 {
		t.Errorf("repeated: got %d commits, want none", again.Commits)
	}

	for n := done.Commits; n > 0; n-- {
		undo(t, s, Undo{Call: fmt.Sprintf("m.%d", n)}, false)
	}
	if got, want := recordsIn(t, s, notes, "", "project/a")+recordsIn(t, s, shared, "", "project/a"),
		`n={"of":"project/a#k","in":"project/a","text":"project/ab, of project/a#k","project/a#m":1}s=["project/a#k","project/ab#k"]`; got != want {
		t.Errorf("undone: got %s, want %s", got, want)
	}
	if got, want := recordsIn(t, s, notes, "", "project/b"), `out|k|knows|project/a#x={"to":"project/a#x"}`; got != want {
		t.Errorf("undone, in the target: got %s, want %s", got, want)
	}
}

func TestOfRecordsThatDifferTheNewerIsTaken(t *testing.T) {
	notes := Collection{Name: "f/note"}
	for strategy, want := range map[Strategy]string{"": "new=2 old=2 same=0", Newest: "new=2 old=2 same=0", Source: "new=1 old=2 same=0", Target: "new=2 old=1 same=0"} {
		s := testSpace(t)
		for _, w := range [][3]string{{"a", "new", "1"}, {"b", "new", "2"}, {"b", "old", "1"}, {"a", "old", "2"}, {"a", "same", "0"}, {"b", "same", "0"}} {
			keeps(t, s, notes, "", "project/"+w[0], w[1], w[2])
		}
		done := move(t, s, "m", Move{From: "project/a", To: "project/b", Strategy: strategy}, false)
		if got, want := fmt.Sprint(done.Clashes, done.Differ, done.Same, len(done.Clashing)), "0 map[f/note:2] 1 2"; got != want {
			t.Errorf("%q: got %s, want %s", strategy, got, want)
		}
		if got := recordsIn(t, s, notes, "", "project/b"); got != want {
			t.Errorf("%q: got %s, want %s", strategy, got, want)
		}
		if got := recordsIn(t, s, notes, "", "project/a"); got != "" {
			t.Errorf("%q: got %s under the former name, want nothing", strategy, got)
		}
	}
}

func TestRecordsWithNumbersForKeysFollowThoseOfTheTarget(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "f/report", PerSpace: true}
	for _, w := range [][2]string{{"a", "1"}, {"a", "2"}, {"b", "3"}} {
		stage, err := s.As(undoer()).Stage(t.Context(), "")
		if err == nil {
			_, err = stage.AppendRecord(t.Context(), c, "project/"+w[0], json.RawMessage(w[1]))
		}
		if err == nil {
			_, err = stage.Commit(t.Context(), Commit{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	move(t, s, "m", Move{From: "project/a", To: "project/b"}, false)
	if got, want := recordsIn(t, s, c, "", "project/b"), "00000000000000000001=3 00000000000000000002=1 00000000000000000003=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRecordsThatStayNameTheOtherNamespace(t *testing.T) {
	s := testSpace(t)
	here, log, message := Collection{Name: "f/here"}, Collection{Name: "g/log"}, Collection{Name: "g/message"}
	keeps(t, s, here, "", "project/a", "h", `"project/a"`)
	keeps(t, s, log, "", "project/a", "room", `2`)
	keeps(t, s, message, "", "project/a", "room/2", `"project/a#k"`)
	keeps(t, s, log, "", "project/b", "room", `9`)

	done := move(t, s, "m", Move{From: "project/a", To: "project/b", Stays: []string{"f/here"}, Whole: []string{"g"}}, false)
	if got, want := fmt.Sprint(done.Records, done.Differ, done.Left), "map[] map[] map[f/here:1 g/log:1 g/message:1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := recordsIn(t, s, here, "", "project/a")+recordsIn(t, s, message, "", "project/a")+recordsIn(t, s, log, "", "project/b"), `h="project/b"room/2="project/b#k"room=9`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAMoveThatIsNoOperatorsLeavesRecords(t *testing.T) {
	s := testSpace(t)
	keeps(t, s, Collection{Name: "f/note"}, "", "project/a", "n", `1`)
	by := Caller{Agent: "eve", Call: "m", Rights: RightsTo([]string{"project/a", "project/b"}, []string{"project/a", "project/b"})}
	done, err := s.As(by).Move(t.Context(), Move{From: "project/a", To: "project/b"}, Write{})
	if err != nil || len(done.Records) != 0 || done.Commits != 0 {
		t.Errorf("got %+v and %v, want nothing moved", done, err)
	}
}

func TestManyRecordsMoveInSeveralCommits(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "f/note"}
	const all = 2*mostMoved + 10
	stage, err := s.As(undoer()).Stage(t.Context(), "")
	for i := 0; i < all && err == nil; i++ {
		err = stage.PutRecord(t.Context(), c, "project/a", fmt.Sprintf("k%05d", i), json.RawMessage(fmt.Sprint(i)), nil)
	}
	if err == nil {
		_, err = stage.Commit(t.Context(), Commit{})
	}
	if err != nil {
		t.Fatal(err)
	}
	done := move(t, s, "m", Move{From: "project/a", To: "project/b"}, false)
	if got, want := fmt.Sprint(done.Records, done.Commits), fmt.Sprintf("map[f/note:%d] 3", all); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzRenaming(f *testing.F) {
	for _, text := range []string{`{"a":"project/a#k"}`, `"project/a"`, `"\"project/a"`, `["project/a\\","project/a#"]`, `"project/a`, `\`, `"project\/a"`} {
		f.Add(text)
	}
	names := renaming{"project/a", "project/bb"}
	f.Fuzz(func(t *testing.T, text string) {
		was := json.RawMessage(text)
		got := names.value(was)
		if json.Valid(was) && !json.Valid(got) {
			t.Errorf("%s: got %s, want JSON", text, got)
		}
		if back := (renaming{names.to, names.from}).value(got); !strings.Contains(text, names.to) && string(back) != text {
			t.Errorf("%s: got %s back, want it", text, back)
		}
		if key := names.key(text); !strings.Contains(text, "#") && key != text {
			t.Errorf("%s: got the key %s, want it as it is", text, key)
		}
		if list := names.texts([]string{text}); !slices.Equal(list, []string{names.text(text)}) {
			t.Errorf("%s: got %s, want it as alone", text, list)
		}
	})
}
