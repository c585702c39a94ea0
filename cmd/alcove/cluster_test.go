package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestTheKeyOfAClusterIsReadFromAPrivateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		what, text string
		mode       os.FileMode
		want       string
	}{
		{"a key", strings.Repeat("k", 64) + "\n", 0o600, ""},
		{"one that others can read", strings.Repeat("k", 64), 0o644, "chmod 600"},
		{"one that is too long", strings.Repeat("k", longestClusterKey+1), 0o600, "more than 4096 bytes"},
	} {
		must.Do(t, os.WriteFile(path, []byte(c.text), 0o600))
		must.Do(t, os.Chmod(path, c.mode))
		o, err := clusterFlags{keyFile: path}.options()
		if c.want == "" && (err != nil || string(o.Key) != strings.TrimSpace(c.text)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.want)
		}
	}
	if o, err := (clusterFlags{}).options(); o != nil || err != nil {
		t.Errorf("without a file: got %v (%v), want nothing", o, err)
	}
	if _, err := (clusterFlags{keyFile: path + ".none"}).options(); err == nil {
		t.Error("a file that is not there: got no error, want one")
	}
}

func TestWhatIsSaidOfServersThatAreDrainedOrOutOfTouch(t *testing.T) {
	t.Parallel()
	own, other := operator.ClusterServer{ID: "a", Address: "A"}, operator.ClusterServer{ID: "b", Address: "B", Leads: 2}
	draining, drained, lagging := own, own, own
	draining.Draining, draining.Leads = true, 1
	drained.Draining = true
	lagging.Lag = 90 * time.Millisecond
	for _, c := range []struct {
		what string
		all  operator.Cluster
		want []string
	}{
		{"while it is drained", operator.Cluster{Servers: []operator.ClusterServer{draining, other}}, []string{"leads 1, being drained, this one", "1 spaces belong to this"}},
		{"drained", operator.Cluster{Servers: []operator.ClusterServer{drained, other}}, []string{"drained, this one", "alcove stop stops it"}},
		{"drained and alone", operator.Cluster{Servers: []operator.ClusterServer{drained}}, []string{"no other server t"}},
		{"drained beside one that is gone", operator.Cluster{Servers: []operator.ClusterServer{drained, {ID: "b", Gone: true}}}, []string{"  gone, ", "no other server t"}},
		{"out of touch", operator.Cluster{Failure: "no answer", Seen: time.Minute, Servers: []operator.ClusterServer{lagging, other}}, []string{"cannot renew its leases: no answer", "the state below is from 1m0s ago", "renewed 90ms ago"}},
	} {
		c.all.Self = "a"
		var out bytes.Buffer
		a := &app{out: terminal.New(&out, func(string) string { return "" })}
		must.Do(t, a.printServers(c.all))
		must.Do(t, a.printDrained(c.all))
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got\n%swant %q", c.what, out.String(), want)
			}
		}
	}
}
