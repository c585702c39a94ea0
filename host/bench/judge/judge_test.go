package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestATableHasALineForEachMeasureOfEitherPart(t *testing.T) {
	var out strings.Builder
	list := [][]row{
		{{"right", share{3, 4}, share{1, 4}}, {"only here", share{0, 1}, share{}}},
		{{"right", share{1, 2}, share{1, 2}}},
	}
	if err := print(&out, "name", []part{dev, test}, list); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"name          dev            baseline       test           baseline\n" +
		"  right       75.0 % (3/4)   25.0 % (1/4)   50.0 % (1/2)   50.0 % (1/2)\n" +
		"  only here   0.0 % (0/1)    -                             \n\n"
	if out.String() != want {
		t.Errorf("the table is\n%s, want\n%s", out.String(), want)
	}
}

func TestASetThatDoesNotExistIsAnError(t *testing.T) {
	all := []set{{name: "a"}, {name: "b"}}
	if _, err := choose(all, []string{"c"}); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("choose c: got %v, want an error that names a, b", err)
	}
	if got, err := choose(all, []string{"b"}); err != nil || len(got) != 1 || got[0].name != "b" {
		t.Errorf("choose b: got %v, %v", got, err)
	}
}

func TestALineThatIsNoLabelIsNamed(t *testing.T) {
	l := labels{from: fstest.MapFS{"x-dev.jsonl": {Data: []byte("{\"text\":\"a\"}\n\n{\n")}}, part: dev}
	if _, err := read[labelledType](l, "x"); err == nil || !strings.Contains(err.Error(), "x-dev.jsonl, line 3") {
		t.Errorf("read: got %v, want an error that names line 3 of x-dev.jsonl", err)
	}
	if _, err := read[labelledType](l, "y"); err == nil {
		t.Error("read of a file that is missing: got nil, want an error")
	}
}

func TestASetGetsTheLabelsOfItsPart(t *testing.T) {
	l := labels{from: fstest.MapFS{"x-test.jsonl": {Data: []byte(`{"text":"a","type":"plan"}`)}}, part: test}
	got, err := read[labelledType](l, "x")
	if err != nil || len(got) != 1 || got[0] != (labelledType{"a", "plan"}) {
		t.Errorf("read: got %v, %v", got, err)
	}
}

func TestSecretsAreJudgedByWhatIsLeftOfThem(t *testing.T) {
	list := []labelledSecret{
		{"the password is tiger4711", "tiger4711"}, {"the password is in the vault", ""}, {"nothing tells of walrus", "walrus"},
	}
	var wrong []string
	found, kept, err := redacted(list, func(what string, l labelledSecret, _ string) { wrong = append(wrong, what+": "+l.Text) })
	if err != nil || found != (share{1, 2}) || kept != (share{1, 1}) {
		t.Errorf("got %v found, %v kept, %v, want 1 of 2 and 1 of 1", found, kept, err)
	}
	if len(wrong) != 1 || wrong[0] != "missed: nothing tells of walrus" {
		t.Errorf("wrong are %q, want the one that was missed", wrong)
	}
}
