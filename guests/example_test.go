package guests_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/guests/agents/roster"
	"github.com/alcove-memory/alcove/guests/developer/primitives"
	"github.com/alcove-memory/alcove/guests/doc/page"
	"github.com/alcove-memory/alcove/guests/facts/facts"
	"github.com/alcove-memory/alcove/guests/graph/network"
	"github.com/alcove-memory/alcove/guests/legacy/workflow"
	"github.com/alcove-memory/alcove/guests/lifecycle/aging"
	"github.com/alcove-memory/alcove/guests/messages/room"
	"github.com/alcove-memory/alcove/guests/retrieval/retrieval"
	"github.com/alcove-memory/alcove/guests/sessions/sessions"
	"github.com/alcove-memory/alcove/guests/settings/settings"
	"github.com/alcove-memory/alcove/guests/sites/remote"
	"github.com/alcove-memory/alcove/guests/vault/vault"
	"github.com/alcove-memory/alcove/guests/working-memory/attention"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

var update = flag.Bool("update", false, "write the answers of examples")

// Each call of a worked example answers what the example says.
func TestTheExamplesOfFamiliesAreSo(t *testing.T) {
	for name, family := range map[string]*alcove.Family{
		"agents":         roster.Family(),
		"developer":      primitives.Family(),
		"facts":          facts.Family(),
		"graph":          network.Family(),
		"legacy":         workflow.Family(),
		"lifecycle":      aging.Family(),
		"messages":       room.Family(),
		"retrieval":      retrieval.Family(),
		"sessions":       sessions.Family(),
		"settings":       settings.Family(),
		"sites":          remote.Family(),
		"vault":          vault.Family(),
		"working-memory": attention.Family(),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(name, "example.txt")
			text, err := os.ReadFile(path)
			must(t, err)
			s := alcovetest.New(t, family, manifest(t, name))
			if name == "legacy" { // it calls tools of these
				s.Beside(facts.Family(), manifest(t, "facts"))
				s.Beside(retrieval.Family(), manifest(t, "retrieval"))
				s.Beside(aging.Family(), manifest(t, "lifecycle"))
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
					t.Fatalf("%s %s: %v", step.Tool, step.Arguments, err)
				}
				laid, err := page.Laid(answer)
				must(t, err)
				if laid != step.Answer && !*update {
					t.Errorf("%s %s answers\n%s\nand the example says\n%s", step.Tool, step.Arguments, laid, step.Answer)
				}
				steps[i].Answer = laid
			}
			if *update {
				must(t, os.WriteFile(path, []byte(page.Write(steps)), 0o644))
			}
		})
	}
}
