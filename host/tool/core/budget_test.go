package core

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/tool"
)

func TestRowsThatCannotShrinkAreLeftOutFromTheEnd(t *testing.T) {
	rows := make([]*hit, 50)
	for i := range rows {
		rows[i] = &hit{Key: strings.Repeat("k", 1000), Namespace: "n", Snippet: new(strings.Repeat("s", 500))}
	}
	kept, cut, err := shorten(rows, tool.MaxAnswer)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := tool.Encode(kept)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > tool.MaxAnswer || len(kept)+cut.rows != 50 || cut.rows == 0 {
		t.Errorf("%d bytes in %d rows, %d left out", len(encoded), len(kept), cut.rows)
	}
}
