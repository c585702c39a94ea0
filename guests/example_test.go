package guests_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/guests/build/doc/page"
	"github.com/alcove-memory/alcove/guests/families/agents"
	"github.com/alcove-memory/alcove/guests/families/developer"
	"github.com/alcove-memory/alcove/guests/families/events"
	"github.com/alcove-memory/alcove/guests/families/facts"
	"github.com/alcove-memory/alcove/guests/families/governance"
	"github.com/alcove-memory/alcove/guests/families/graph"
	"github.com/alcove-memory/alcove/guests/families/legacy"
	"github.com/alcove-memory/alcove/guests/families/lifecycle"
	"github.com/alcove-memory/alcove/guests/families/messages"
	"github.com/alcove-memory/alcove/guests/families/redaction"
	"github.com/alcove-memory/alcove/guests/families/retrieval"
	"github.com/alcove-memory/alcove/guests/families/sessions"
	"github.com/alcove-memory/alcove/guests/families/settings"
	"github.com/alcove-memory/alcove/guests/families/sites"
	"github.com/alcove-memory/alcove/guests/families/vault"
	"github.com/alcove-memory/alcove/guests/families/working-memory"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

var update = flag.Bool("update", false, "write the answers of examples")

// Each call of a worked example answers what the example says.
func TestTheExamplesOfFamiliesAreSo(t *testing.T) {
	for name, family := range map[string]*alcove.Family{
		"agents":         agents.Family(),
		"developer":      developer.Family(),
		"events":         events.Family(),
		"facts":          facts.Family(),
		"governance":     governance.Family(),
		"graph":          graph.Family(),
		"legacy":         legacy.Family(),
		"lifecycle":      lifecycle.Family(),
		"messages":       messages.Family(),
		"redaction":      redaction.Family(),
		"retrieval":      retrieval.Family(),
		"sessions":       sessions.Family(),
		"settings":       settings.Family(),
		"sites":          sites.Family(),
		"vault":          vault.Family(),
		"working-memory": workingmemory.Family(),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("families", name, "example.txt")
			text, err := os.ReadFile(path)
			must.Do(t, err)
			s := alcovetest.New(t, family, manifest(t, name))
			if name == "legacy" { // it calls tools of these
				s.Beside(facts.Family(), manifest(t, "facts"))
				s.Beside(retrieval.Family(), manifest(t, "retrieval"))
				s.Beside(lifecycle.Family(), manifest(t, "lifecycle"))
			}
			s.Put(
				alcove.Memory{Key: "kettle", Value: alcove.JSON("The kettle is blue."), Type: "observation", Importance: new(.5)},
				alcove.Memory{Key: "tea", Value: alcove.JSON("Ann drinks green tea at nine."), Type: "observation", Importance: new(.5), Tags: []string{"ann"}},
			)
			steps := page.Parse(string(text))
			for i, step := range steps {
				if step.Tool == "" {
					continue
				}
				var answer json.RawMessage
				if err := s.Tool(step.Tool, json.RawMessage(step.Arguments), &answer); err != nil {
					t.Fatalf("call %s with %s: %v", step.Tool, step.Arguments, err)
				}
				laid, err := page.Laid(answer)
				must.Do(t, err)
				if laid != step.Answer && !*update {
					t.Errorf("%s %s answers\n%s\nand the example says\n%s", step.Tool, step.Arguments, laid, step.Answer)
				}
				steps[i].Answer = laid
			}
			if *update {
				must.Do(t, os.WriteFile(path, []byte(page.Write(steps)), 0o644))
			}
		})
	}
}
