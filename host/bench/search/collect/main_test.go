package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func output(t *testing.T, out string) (docs, queries string) {
	t.Helper()
	d, err := os.ReadFile(out + ".docs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	q, err := os.ReadFile(out + ".queries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(d), string(q)
}

func TestATurnIsADocumentAndEvidenceAnswers(t *testing.T) {
	in := file(t, "locomo10.json", `[{"sample_id":"conv-1","conversation":{"speaker_a":"Ann","session_1_date_time":"1:56 pm on 8 May, 2023",
		"session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"Hi"},{"speaker":"Bob","dia_id":"D1:2","text":"Look","blip_caption":"a dog"}]},
		"qa":[{"question":"What did Bob show?","evidence":["D1:2; D9:9"],"category":4},{"question":"Nothing?","evidence":[],"category":5}]},{"sample_id":"conv-2"}]`)
	out := filepath.Join(t.TempDir(), "l")
	if err := run([]string{"locomo", in, out, "1"}); err != nil {
		t.Fatal(err)
	}
	docs, queries := output(t, out)
	if !strings.Contains(docs, `"id":"conv-1/D1:2"`) || !strings.Contains(docs, `"ts":1683554160`) || !strings.Contains(docs, `"caption":"a dog"`) || strings.Count(docs, "\n") != 2 {
		t.Errorf("documents %s, want the two turns of conv-1 with time and caption", docs)
	}
	if !strings.Contains(queries, `"relevant":{"conv-1/D1:2":1}`) || strings.Count(queries, "\n") != 1 {
		t.Errorf("queries %s, want one, answered by conv-1/D1:2", queries)
	}
}

func TestCranfieldsGradesAreTurnedAround(t *testing.T) {
	docs := file(t, "cran.all.1400", ".I 1\n.T\ntitle\n.W\ntitle . the\ntext\n.I 2\n.W\nother\n")
	asked := file(t, "cran.qry", ".I 001\n.W\nwhat ?\n.I 004\n.W\nwhere ?\n")
	judged := file(t, "cranqrel", "1 2 1\n2 1 4\n2 2 -1\n\n")
	out := filepath.Join(t.TempDir(), "c")
	if err := run([]string{"cranfield", docs, asked, judged, out}); err != nil {
		t.Fatal(err)
	}
	d, q := output(t, out)
	if !strings.Contains(d, `"text":"title . the text"`) || !strings.Contains(q, `{"id":"1","text":"what ?","relevant":{"2":4},"meta":{}}`) || !strings.Contains(q, `"relevant":{"1":1}`) {
		t.Errorf("documents %s, queries %s, want titles in texts, and the best grade highest", d, q)
	}
}

func TestWhatIsNotTheCollectionIsNamed(t *testing.T) {
	for _, args := range [][]string{nil, {"locomo"}, {"locomo", file(t, "x", "{"), "out"}, {"cranfield", file(t, "x", "nothing"), "y", "z", "out"}} {
		if err := run(args); err == nil {
			t.Errorf("%v pass", args)
		}
	}
}
