package servers_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// headsIn are those of the audit logs of all servers that a data directory has, by their files.
func headsIn(t *testing.T, dir string) map[string][]audit.Head {
	t.Helper()
	heads := map[string][]audit.Head{}
	for _, path := range must.Get(filepath.Glob(filepath.Join(owner.AuditHeadsPath(dir), "*.jsonl"))) {
		heads[filepath.Base(path)] = must.Get(audit.Anchored(path))
	}
	return heads
}

func TestTheNextLeaderHasTheHeadOfTheAuditLogOfTheOneBefore(t *testing.T) {
	t.Parallel()
	first, other, _ := two(t)
	issue(t, other)
	issue(t, other) // the log of the leader has entries
	first.Stop()
	var kept []audit.Head
	await.That(t, "the next leader has the head", func() bool {
		for _, heads := range headsIn(t, other.Dir) {
			if report, err := audit.Verify(owner.AuditPath(first.Dir), heads); err == nil && len(report.Problems) == 0 && heads[len(heads)-1].Seq > 1 {
				kept = heads
				return true
			}
		}
		return false
	})
	files := must.Get(filepath.Glob(filepath.Join(owner.AuditPath(first.Dir), "*.jsonl")))
	last := files[len(files)-1]
	lines := strings.SplitAfter(string(must.Get(os.ReadFile(last))), "\n")
	must.Do(t, os.WriteFile(last, []byte(strings.Join(lines[:1], "")), 0o600))
	if report := must.Get(audit.Verify(owner.AuditPath(first.Dir), kept)); len(report.Problems) == 0 {
		t.Errorf("a log that was cut, against the head that the database had: got no problem, want one")
	}
	first.Start()
	other.Stop()
	until(t, "the first server leads again", func() (bool, string) {
		status, body := ask(t, first.URL(), issue(t, first), "memory_status", nil)
		return status == http.StatusOK, body
	})
	for _, heads := range headsIn(t, first.Dir) {
		if len(heads) > 1 && heads[len(heads)-2] == kept[len(kept)-1] {
			return
		}
	}
	t.Errorf("the heads after the cut log went on: got %+v, want that of before, too: %+v", headsIn(t, first.Dir), kept)
}

func TestAServerThatIsReadyTellsItsLeaseAndLag(t *testing.T) {
	t.Parallel()
	leads, other, _ := two(t)
	for i, s := range map[string]string{leads.URL(): "leads: 1 of 1", other.URL(): "leads: 0 of 1"} {
		got := must.Get(http.Get(i + "/readyz"))
		text := string(must.Get(io.ReadAll(got.Body)))
		got.Body.Close()
		if got.StatusCode != http.StatusOK || !strings.HasPrefix(text, "ready\nlease: ") || !strings.Contains(text, "\nlag: ") || !strings.Contains(text, s) {
			t.Errorf("/readyz: got %d %s, want lease, lag and %s", got.StatusCode, text, s)
		}
	}
}
