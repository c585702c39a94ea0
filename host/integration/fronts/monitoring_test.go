package fronts

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
)

const monitoring = "../../../cmd/release/deploy/monitoring"

// exposed are the names of the metrics of a server whose families were called, failed and were denied.
func exposed(t *testing.T) map[string]bool {
	t.Helper()
	s := server.Start(t, host.Options{})
	module := guest.Pack(t, abi.Manifest{Name: "notes", Tools: []abi.Tool{guest.Tool("notes_do", "{}")}, Capabilities: []abi.Request{{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to read"}}}, guest.Relay("memory.list {}"))
	if _, err := operator.Call(t.Context(), s.Acts, operator.InstallFamily, operator.InstallRequest{Module: module}); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Call(t.Context(), s.Acts, operator.CallTool, operator.ToolCall{Tool: "notes_do", Arguments: []byte(`{}`)}); err == nil {
		t.Fatal("a family lists memories without a grant")
	}
	key := s.Issue("ann", []operator.Right{"read"}, "notes")
	s.Post(key.Secret, "", "memory_store", `{"key":"x","value":"y"}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"up": true} // Prometheus makes this one
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)[ {]`).FindAllStringSubmatch(string(text), -1) {
		names[m[1]] = true
	}
	return names
}

var metricName = regexp.MustCompile(`\b(alcove|process|go)_[a-z_]+\b|\bup\b`)

// expressions are the expressions of the rules and of the dashboard, by where they are.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	for file, into := range map[string]any{"alerts.yaml": &rules, "dashboard.json": &board} {
		data, err := os.ReadFile(filepath.Join(monitoring, file))
		if err == nil && strings.HasSuffix(file, ".json") {
			err = json.Unmarshal(data, into)
		} else if err == nil {
			err = yaml.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatalf("read %s: %v", file, err)
		}
	}
	found := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			found["the alert "+r.Alert] = r.Expr
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("the alert %s lacks a severity, a summary or a description", r.Alert)
			}
		}
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			found["the panel "+p.Title+" "+target.Expr] = target.Expr
		}
	}
	for _, v := range board.Templating.List {
		if strings.Contains(v.Query, "(") {
			found["a variable "+v.Query] = v.Query
		}
	}
	return found
}

func TestAlertsAndTheDashboardHaveMetricsThatAServerHas(t *testing.T) {
	t.Parallel()
	known, all := exposed(t), expressions(t)
	if len(all) < 20 {
		t.Fatalf("%d expressions were found, want those of rules and panels", len(all))
	}
	used := map[string]bool{}
	for where, expression := range all {
		names := metricName.FindAllString(expression, -1)
		if len(names) == 0 {
			t.Errorf("%s has no metric: %s", where, expression)
		}
		for _, name := range names {
			if used[name] = true; !known[name] {
				t.Errorf("%s has the metric %s, which a server does not have", where, name)
			}
		}
	}
	for name := range known {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum"), "_bucket")
		shown := slices.ContainsFunc([]string{name, base, base + "_bucket"}, func(n string) bool { return used[n] })
		if strings.HasPrefix(name, "alcove_") && !shown {
			t.Errorf("no rule and no panel has the metric %s", name)
		}
	}
}

func TestPromtoolAcceptsTheAlerts(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool: apt-get install prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		c := exec.CommandContext(t.Context(), tool, args...)
		c.Dir = monitoring
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
