package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/sdk/client"
)

// TestAttackersAreRefusedAndOthersServed attacks a server from a process that has one processor: with connections that say nothing,
// slow peers, hosts and origins of others, keys that are forged, revoked or expired, half frames, oversized ones and replays. Clients
// beside it go on; how long their calls take is reported. The long form has 10,000 connections:
//
//	ALCOVE_STRESS=1m go test -count=1 -timeout 24h -v -run Attackers ./cmd/alcove
func TestAttackersAreRefusedAndOthersServed(t *testing.T) {
	load := stress.FromEnvironment(t)
	if load.Lasting == 0 {
		t.Parallel()
	}
	var ask func() vitals
	s := startServer(t, dataDir(t), func(c *exec.Cmd) { ask = withVitals(t, c) })
	a := attack{HTTP: s.HTTP, Socket: s.Socket, Connections: 300, Slow: 10, Rounds: 3, Lasting: 700 * time.Millisecond}
	if load.Lasting > 0 {
		a.Connections, a.Slow, a.Rounds, a.Lasting = 10_000, 200, 0, load.Lasting
	}
	a.Valid = s.key("guest")
	a.Keys = map[string]string{"forged": a.Valid[:len(a.Valid)-1] + "~", "revoked": s.key("gone"), "expired": s.key("late", "--expires", "1s"), "made up": "alcove_key_000000000000_x"}
	s.mustRun("key", "revoke", strings.Split(a.Keys["revoked"], "_")[2])
	token, err := os.ReadFile(owner.TokenPath(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	a.Token = strings.TrimSpace(string(token))
	bystanders := s.bystanders(a.Token)
	before := make([][]time.Duration, len(bystanders))
	for i, v := range bystanders {
		for range 200 {
			before[i] = append(before[i], v.call(t))
		}
	}
	await.That(t, "the key expires", func() bool {
		_, err := client.Dial(t.Context(), s.Socket, client.Options{Key: a.Keys["expired"]})
		return client.CodeOf(err) == client.Denied
	})
	files, vital := s.files(), ask()
	ended := make(chan struct{})
	var calling sync.WaitGroup
	during := make([][]time.Duration, len(bystanders))
	for i, v := range bystanders {
		calling.Go(func() {
			for len(during[i]) < 20 || !done(ended) {
				during[i] = append(during[i], v.call(t))
			}
		})
	}
	counts := s.attack(a)
	close(ended)
	calling.Wait()
	mustBeRefused(t, counts)
	for i, v := range bystanders {
		t.Logf("%s: p50 %v and p99 %v before, p50 %v and p99 %v during the attack, in %d calls", v.name,
			share(before[i], .5), share(before[i], .99), share(during[i], .5), share(during[i], .99), len(during[i]))
	}
	mustLevel(t, "descriptors", files, 4, s.files)
	mustLevel(t, "goroutines", vital.Goroutines, 20, func() int { return ask().Goroutines })
	var status struct{ Events int }
	if err := bystanders[0].client.Call(t.Context(), "status", nil, &status); err != nil || status.Events != 1 {
		t.Errorf("a replayed event was written %d times, %v", status.Events, err)
	}
	s.stop()
	s.mustNotHavePanicked()
}

// key makes an API key.
func (s *testServer) key(agent string, flags ...string) string {
	s.t.Helper()
	words := strings.Fields(s.mustRun(append([]string{"key", "create", "--agent", agent, "--namespaces", "default"}, flags...)...))
	at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "alcove_key_") })
	if at < 0 {
		s.t.Fatalf("a key is created with %q", words)
	}
	return words[at]
}

// bystander is a client beside an attack.
type bystander struct {
	name   string
	client *client.Client
	again  func() *client.Client // connects anew for each call; nil: one connection
}

func (s *testServer) bystanders(token string) []*bystander {
	s.t.Helper()
	dial := func(address string, key string) *client.Client {
		c, err := client.Dial(s.t.Context(), address, client.Options{Key: key, Wait: await.Limit})
		if err != nil {
			s.t.Error(err)
			return nil
		}
		return c
	}
	list := []*bystander{
		{name: "operations on the socket", client: dial(s.Socket, "")},
		{name: "operations over http", client: dial("http://"+s.HTTP, token)},
		{name: "operations on the socket, each on a new connection", again: func() *client.Client { return dial(s.Socket, "") }},
	}
	for _, v := range list[:2] {
		if v.client == nil {
			s.t.FailNow()
		}
		s.t.Cleanup(func() { v.client.Close() })
	}
	if _, err := list[0].client.Store(s.t.Context(), client.Memory{Key: "k", Value: "words"}); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// call makes a call, and returns how long it took.
func (v *bystander) call(t *testing.T) time.Duration {
	began, c := time.Now(), v.client
	if v.again != nil {
		if c = v.again(); c == nil {
			return 0
		}
		defer c.Close()
	}
	if _, err := c.Recall(t.Context(), "k"); err != nil {
		t.Errorf("Recall by %s: %v", v.name, err)
	}
	return time.Since(began)
}

func done(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// share returns the value below which a part of the values is.
func share(values []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(float64(len(sorted))*part), len(sorted)-1)].Round(10 * time.Microsecond)
}

// attack runs an attack in a process with one processor, and returns its outcomes.
func (s *testServer) attack(a attack) map[string]int {
	s.t.Helper()
	config, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asAttacker+"="+string(config), "GOMAXPROCS=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var counts map[string]int
	if err == nil {
		err = json.Unmarshal(out, &counts)
	}
	if err != nil {
		s.t.Fatalf("the attacker ended with %v: %s", err, said.Bytes())
	}
	return counts
}

// mustBeRefused checks the outcomes of an attack: each kind was refused at least once, and nothing was served.
func mustBeRefused(t *testing.T, counts map[string]int) {
	t.Helper()
	refused := map[string]bool{}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		kind, outcome, _ := strings.Cut(what, ": ")
		t.Logf("%s: %d", what, counts[what])
		refused[kind] = refused[kind] || outcome == "refused" || outcome == "answered alike"
		if strings.HasPrefix(outcome, "answered") && outcome != "answered alike" {
			t.Errorf("%s: %d times", what, counts[what])
		}
	}
	kinds := []string{"another host", "another origin", "half a frame", "a frame too big", "a replay"}
	for _, key := range []string{"forged", "revoked", "expired", "made up"} {
		for _, where := range []string{"over http", "on the socket"} {
			kinds = append(kinds, fmt.Sprintf("a key that is %s, %s", key, where))
		}
	}
	for _, kind := range kinds {
		if !refused[kind] {
			t.Errorf("%s was never refused", kind)
		}
	}
}
