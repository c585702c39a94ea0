package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

// stressClients are the workers, by how they reach the server.
var stressClients = []string{"socket", "stdio", "HTTP 2025-11-25", "HTTP 2026-07-28", "socket", "HTTP 2026-07-28"}

// TestClientsBesideAnOperatorAgreeWithAModel has clients of all kinds write, fork, merge, delete, count and search, beside an
// operator who backs up, compacts, purges, trims, verifies and exports, and compares all that they see with a model.
// ALCOVE_STRESS=45s makes it long.
func TestClientsBesideAnOperatorAgreeWithAModel(t *testing.T) {
	t.Parallel()
	load := stress.FromEnvironment(t)
	c := &contest{testServer: startServer(t, dataDir(t), nil), stressModel: newStressModel(), secrets: &secrets{}, failures: map[string]int{}, done: map[string]int{}}
	o := &stressOperator{contest: c, random: load.Random(1000), folder: filepath.Join(t.TempDir(), "backups"), export: filepath.Join(t.TempDir(), "export.jsonl")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var working sync.WaitGroup
	for i, kind := range stressClients {
		w, err := c.worker(i, kind, load.Random(uint64(i)))
		if err != nil {
			t.Fatalf("connect over %s: %v", kind, err)
		}
		working.Go(func() {
			defer w.session.Close()
			w.run(ctx)
		})
	}
	for range load.Rounds(2) {
		o.round()
		if len(c.faults()) > 0 {
			break
		}
	}
	cancel()
	working.Wait()
	o.purgeRest()
	c.mustAgree(o)
	t.Logf("done: %v", c.done)
	for said, n := range c.failures {
		t.Logf("%6d calls failed as they had to: %s", n, said)
	}
}

func workerName(i int) string { return fmt.Sprintf("w%d", i) }

func (c *contest) worker(i int, kind string, random *rand.Rand) (*stressWorker, error) {
	s, err := c.connect(kind)
	w := &stressWorker{contest: c, name: workerName(i), session: s, random: random}
	for other := range stressClients {
		if other != i {
			w.others = append(w.others, workerName(other))
		}
	}
	return w, err
}

// stressOperator takes care of the data while others use it.
type stressOperator struct {
	*contest
	random         *rand.Rand
	folder, export string
	backedUp       bool
}

// round runs each command once, in any order. None of them has a reason to fail.
func (o *stressOperator) round() {
	commands := [][]string{
		{"backup", o.folder}, {"export", o.export}, {"compact"}, {"retain", "90d"}, {"retain", "1m"}, {"retain", "forever"},
		{"verify"}, {"flush"}, {"flush"}, {"durability"}, {"purge"}, {"purge"}, {"backup", o.folder, "--incremental"}, {"backup", o.folder, "--incremental"},
	}
	o.random.Shuffle(len(commands), func(i, j int) { commands[i], commands[j] = commands[j], commands[i] })
	for _, command := range commands {
		o.do(command)
	}
}

func (o *stressOperator) do(command []string) {
	switch {
	case command[0] == "purge":
		o.purge()
		return
	case command[0] == "retain": // such a rule, at once
		o.do([]string{"retention", "set", command[1]})
		o.do([]string{"retention", "run"})
		return
	case slices.Contains(command, "--incremental") && !o.backedUp:
		return
	}
	if _, err := o.run(command...); err != nil {
		o.wrongly("%v", err)
	}
	o.did(command[0])
	o.backedUp = o.backedUp || command[0] == "backup"
}

// purge purges a secret, and reports whether there was one.
func (o *stressOperator) purge() bool {
	s, ok := o.secrets.next()
	if !ok {
		return false
	}
	_, err := o.run("purge", s.key, "--namespace", s.namespace, "--yes")
	switch {
	case err != nil && strings.Contains(err.Error(), "there is nothing to purge") && !o.lives(s.line.name):
		o.expected(err) // it was erased with its branch
	case err != nil:
		o.wrongly("%v", err)
	}
	o.did("purge")
	o.secrets.gone(s)
	return true
}

func (o *stressOperator) purgeRest() {
	for o.purge() {
	}
}

// mustAgree compares the server with the model when all is quiet.
func (c *contest) mustAgree(o *stressOperator) {
	t := c.t
	t.Helper()
	c.readAll()
	for _, wrong := range c.faults() {
		t.Errorf("server and model differ: %v", wrong)
	}
	c.mustRun("verify")
	c.mustRun("flush") // what reads counted is written, so that nothing changes from here on
	c.mustRun("backup", o.folder, "--incremental")
	exported := c.mustRun("export")
	c.mustCarry("import", func(dir string) []string {
		bundle := filepath.Join(t.TempDir(), "bundle.jsonl")
		if err := os.WriteFile(bundle, []byte(exported), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"import", bundle, "--data", dir}
	}, exported)
	c.mustCarry("restore", func(dir string) []string { return []string{"restore", o.folder, "--data", dir} }, exported)
	c.stop()
	c.mustHaveErased(c.dir)
	c.mustNotHavePanicked()
}

// mustCarry makes another directory, which must verify and export the same, and hold nothing that was purged.
func (c *contest) mustCarry(how string, command func(dir string) []string, exported string) {
	c.t.Helper()
	dir := dataDir(c.t)
	c.mustRun(command(dir)...)
	c.mustRun("verify", "--data", dir)
	if again := c.mustRun("export", "--data", dir); again != exported {
		c.t.Errorf("%s: the export has %d bytes and not the %d of the first; they differ at\n%s", how, len(again), len(exported), firstDifference(exported, again))
	}
	stopOwner(c.t, dir)
	c.mustHaveErased(dir)
}

// firstDifference is the first line in which two texts differ.
func firstDifference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return fmt.Sprintf("line %d: %.300s\n%.300s", i+1, left[i], right[i])
		}
	}
	return "the end"
}

// mustHaveErased looks for all purged texts in all files, and in the log.
func (c *contest) mustHaveErased(dir string) {
	c.t.Helper()
	for name, data := range filesIn(c.t, dir) {
		for _, s := range c.secrets.all() {
			if bytes.Contains(data, []byte(s.text)) {
				c.t.Errorf("the purged %q is in %s", s.text, name)
			}
		}
	}
	for _, s := range c.secrets.all() {
		if strings.Contains(c.log.String(), s.text) {
			c.t.Errorf("the purged %q is in the log", s.text)
		}
	}
}

func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readAll reads every slot of every branch, the counters and the log.
func (c *contest) readAll() {
	t := c.t
	t.Helper()
	w, err := c.worker(0, "socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.session.Close()
	if err := w.list(); err != nil {
		t.Error(err)
	}
	reads := 0
	for _, l := range c.all() {
		for s := range l.slots {
			reads++
			if err := w.look(l, s); err != nil {
				t.Errorf("look at %s, slot %v: %v", l.name, s, err)
			}
		}
	}
	c.readCounters(w)
	c.readLog(w)
	t.Logf("read %d memories on the %d branches that ever were, %d counters, %d events; purged %d texts", reads, len(c.all()), len(c.counted), len(c.logged), len(c.secrets.all()))
	if reads == 0 || len(c.counted) == 0 || len(c.secrets.all()) == 0 {
		t.Error("too little was done to tell")
	}
}

func (c *contest) readCounters(w *stressWorker) {
	c.t.Helper()
	for _, key := range slices.Sorted(maps.Keys(c.counted)) {
		var got recalled
		if err := w.call("memory_recall", map[string]any{"namespace": sharedSpace, "key": key}, &got); err != nil {
			c.t.Error(err)
		}
		if string(got.Value) != fmt.Sprint(c.counted[key]) {
			c.t.Errorf("%s is %s after %d acknowledged increments", key, got.Value, c.counted[key])
		}
	}
}

// readLog makes sure that each acknowledged event is in the export of the log, once, under its number.
func (c *contest) readLog(w *stressWorker) {
	c.t.Helper()
	texts := map[string]int{}
	for sequence, text := range c.logged {
		texts[text] = sequence
		var found struct {
			Results []struct {
				Sequence int
				Data     json.RawMessage
			}
		}
		if err := w.call("memory_search", map[string]any{"query": text, "events": true, "k": 20}, &found); err != nil {
			c.t.Error(err)
		}
		times := 0
		for _, hit := range found.Results {
			if (recalled{Value: hit.Data}).text() == text {
				times++
				if hit.Sequence != sequence {
					c.t.Errorf("event %q, acknowledged as number %d, is number %d", text, sequence, hit.Sequence)
				}
			}
		}
		if times != 1 {
			c.t.Errorf("event %q is found %d times", text, times)
		}
	}
	if len(texts) != len(c.logged) {
		c.t.Errorf("%d events have %d numbers", len(texts), len(c.logged))
	}
}
