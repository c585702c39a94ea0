//go:build guests

package families_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// rowCall is a call of a row, in the default install: its tool, its arguments, and texts that its answer has. Absent has what it must not have.
type rowCall struct {
	Row, Tool    string
	Arguments    map[string]any
	Want, Absent []string
	Fails        bool // the document wants an error
}

// rowCalls reads testdata/rows.jsonl.
func rowCalls(t *testing.T) (calls []rowCall) {
	t.Helper()
	file, err := os.Open("testdata/rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c rowCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("read %s: %v", lines.Bytes(), err)
		}
		calls = append(calls, c)
	}
	return calls
}

// rowIDs are the ids that answers gave, by the names that later calls use: a text "@NAME" stands for one.
type rowIDs map[string]string

func (ids rowIDs) in(v any) any {
	switch v := v.(type) {
	case string:
		if id, known := ids[v]; known {
			return id
		}
	case []any:
		for i := range v {
			v[i] = ids.in(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = ids.in(v[name])
		}
	}
	return v
}

// keep keeps the id of an answer, as the last of its kind: @fact, @entity, @session and so on.
func (ids rowIDs) keep(text string) {
	var answer map[string]any
	if json.Unmarshal([]byte(text), &answer) != nil {
		return
	}
	for _, name := range []string{"factId", "memory_id", "recallId", "entityId", "themeId", "conversationId", "sessionId", "handoffId", "checkpointId", "scopeId", "notificationId", "signalId"} {
		if id, is := answer[name].(string); is && id != "" {
			ids["@"+name] = id
		}
	}
}

// TestTheRowsOfTheDocumentsInTheDefaultInstall runs calls from the documents of other systems, row by row of the checklist, in a new
// directory without a grant, and prints what works. A row works if all its calls do, and is partly there if some do.
func TestTheRowsOfTheDocumentsInTheDefaultInstall(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	ids, all, good := rowIDs{}, map[string]int{}, map[string]int{}
	var order, faults []string
	for _, c := range rowCalls(t) {
		if all[c.Row] == 0 {
			order = append(order, c.Row)
		}
		all[c.Row]++
		arguments, _ := ids.in(c.Arguments).(map[string]any)
		text := server.AnswerText(f.c, c.Tool, arguments)
		ids.keep(text)
		if fault := c.fault(text); fault != "" {
			faults = append(faults, fmt.Sprintf("%s: %s %v: %s: got %.300s", c.Row, c.Tool, arguments, fault, text))
			continue
		}
		good[c.Row]++
	}
	counts, table := map[string]int{}, "\n| row | result | calls |\n|---|---|---|\n"
	for _, row := range order {
		result := "partly"
		switch good[row] {
		case all[row]:
			result = "works"
		case 0:
			result = "missing"
		}
		counts[result]++
		table += fmt.Sprintf("| %s | %s | %d of %d |\n", row, result, good[row], all[row])
	}
	others := rowsOfOtherTests(t, all)
	t.Logf("%s%d rows: %d work, %d partly, %d missing. The other %d have no call of a tool to show them; their tests are in docs/capabilities.md: %s",
		table, len(order), counts["works"], counts["partly"], counts["missing"], len(others), strings.Join(others, " "))
	if got := len(order) + len(others); got != 73 {
		t.Errorf("got %d rows, want the 73 of the checklist", got)
	}
	for _, fault := range faults {
		t.Errorf("a call of the rows: %s", fault)
	}
}

// fault is what is wrong with an answer; empty: nothing.
func (c rowCall) fault(text string) string {
	if failed := strings.HasPrefix(text, "error: "); failed != c.Fails {
		return fmt.Sprintf("got an error %t, want %t", failed, c.Fails)
	}
	if strings.Contains(text, `"applied":false`) {
		return "it was proposed, want it done"
	}
	for _, want := range c.Want {
		if !strings.Contains(text, want) {
			return fmt.Sprintf("want %q", want)
		}
	}
	for _, absent := range c.Absent {
		if strings.Contains(text, absent) {
			return fmt.Sprintf("want no %q", absent)
		}
	}
	return ""
}

// rowsOfOtherTests are the rows in the table of capabilities of which no call is made here.
func rowsOfOtherTests(t *testing.T, here map[string]int) (others []string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/capabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\| ([SEAOKD]\d+) \|`).FindAllStringSubmatch(string(page), -1) {
		if here[m[1]] == 0 {
			others = append(others, m[1])
		}
	}
	return others
}
