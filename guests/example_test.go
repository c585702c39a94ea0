package guests_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/guests/doc/page"
	"github.com/alcove-memory/alcove/guests/facts/facts"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

var update = flag.Bool("update", false, "write the answers of examples")

// Each call of a worked example answers what the example says.
func TestTheExamplesOfFamiliesAreSo(t *testing.T) {
	for name, family := range map[string]*alcove.Family{"facts": facts.Family()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(name, "example.txt")
			text, err := os.ReadFile(path)
			must(t, err)
			s := alcovetest.New(t, family, manifest(t, name))
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
