package main

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the picture of this test anew")

const output = `Alcove  an MCP client runs alcove mcp

── Remember

  memory_store  key "a"  value "1 < 2 & 3"
  →  {"version": 1}

  memory_store  key "b"
  →  {"version": 2}

  memory_store  key "c"
  →  {"version": 3}

  memory_store  key "d"
  →  {"version": 4}

── Kill

  memory_store  key "last"
  →  {"version": 5}

  kill -9 4711

  5 of 5 memories are there.
`

func TestThePictureOfAnOutput(t *testing.T) {
	var got strings.Builder
	if err := draw(&got, abridged(blocksOf(output))); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "picture.svg")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant (go test ./cmd/picture -update writes it)\n%s", &got, want)
	}
}

func TestAPictureIsXMLWithEveryBlockButTheFurtherStores(t *testing.T) {
	var svg strings.Builder
	if err := draw(&svg, abridged(blocksOf(output))); err != nil {
		t.Fatal(err)
	}
	text := textOf(t, svg.String())
	for _, want := range []string{"── Remember", `memory_store  key "a"  value "1 < 2 & 3"`, `memory_store  key "c"`, `memory_store  key "last"`, "kill -9 4711", "5 of 5 memories are there."} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, `key "d"`) {
		t.Errorf("got the fourth store of the beginning, want three:\n%s", text)
	}
}

func textOf(t *testing.T, svg string) string {
	t.Helper()
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Fatalf("read the picture: %v", err)
		}
		if chars, is := token.(xml.CharData); is {
			text.Write(chars)
		}
	}
}

func TestALongLineIsCut(t *testing.T) {
	var svg strings.Builder
	drawLine(&svg, strings.Repeat("é", columns+1), 10)
	if text := textOf(t, svg.String()); strings.Count(text, "é") != columns-1 || !strings.HasSuffix(strings.TrimSpace(text), "…") {
		t.Errorf("got %q, want %d characters and an ellipsis", text, columns-1)
	}
}

func TestTheBadgesSayWhatTheRepositoryHas(t *testing.T) {
	var got strings.Builder
	if err := run(&got, "", "../.."); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../docs/badges.svg")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant docs/badges.svg (make badges writes it)\n%s", &got, want)
	}
	if text := textOf(t, got.String()); !strings.Contains(text, "Apache 2.0") {
		t.Errorf("got %q, want the licence in it", text)
	}
}
