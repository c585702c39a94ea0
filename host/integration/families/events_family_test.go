//go:build guests

package families_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
)

// receiver is an endpoint that checks the signature of each request, and is down now and then.
type receiver struct {
	t      *testing.T
	secret string
	server *httptest.Server

	hangs <-chan struct{} // nil: it does not hang

	mu       sync.Mutex
	down     func(requests int) bool // nil: it never is
	requests int
	refused  int
	seen     map[string]bool     // ids
	repeated int                 // requests with an id that was seen
	order    map[string][]string // subscription → keys of memories, as they came first
	last     map[string]uint64   // subscription → watermark
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, secret: "a secret of more than sixteen bytes", seen: map[string]bool{}, order: map[string][]string{}, last: map[string]uint64{}}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	id := q.Header.Get("Webhook-Id")
	mac := hmac.New(sha256.New, []byte(r.secret))
	fmt.Fprintf(mac, "%s.%s.%s", id, q.Header.Get("Webhook-Timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); err != nil || q.Header.Get("Webhook-Signature") != want || q.Method != http.MethodPost {
		r.t.Errorf("%s %s is not signed: %v", q.Method, id, err)
	}
	var e struct {
		ID, SubscriptionID, EventType string
		Payload                       struct{ FactID string }
		Watermark                     uint64
	}
	if err := json.Unmarshal(body, &e); err != nil || e.ID != id {
		r.t.Errorf("%s sent %s: %v", id, body, err)
	}
	if r.hangs != nil {
		select {
		case <-r.hangs:
		case <-q.Context().Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests++; r.down != nil && r.down(r.requests) {
		r.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.seen[id] {
		r.repeated++
		return
	}
	if e.Watermark < r.last[e.SubscriptionID] {
		r.t.Errorf("%s came after watermark %d", id, r.last[e.SubscriptionID])
	}
	r.seen[id], r.last[e.SubscriptionID] = true, e.Watermark
	r.order[e.SubscriptionID] = append(r.order[e.SubscriptionID], e.Payload.FactID)
}

func (r *receiver) count(subscription string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order[subscription])
}

func (r *receiver) keysOf(subscription string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.order[subscription], " ")
}

// endpoint names the receiver, and grants it to the family events.
func (r *receiver) endpoint(k *server.Server) {
	r.t.Helper()
	r.named(k, "hooks", "hooks")
}

// named names the receiver, and grants the endpoints of some names to the family events.
func (r *receiver) named(k *server.Server, name string, granted ...string) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "secret")
	must.Do(r.t, os.WriteFile(file, []byte(r.secret), 0o600))
	must.Do(r.t, operator.Command(r.t.Context(), k.Acts, operator.SetEndpoint, operator.EndpointRequest{Name: name, Endpoint: &operator.Endpoint{Kind: "http", URL: r.server.URL, KeyFile: file, Auth: registry.HMAC}}))
	_, err := operator.Call(r.t.Context(), k.Acts, operator.GrantFamily, operator.GrantRequest{Family: "events", Capabilities: []registry.Capability{{Name: abi.CanHTTP, Scope: granted}}})
	must.Do(r.t, err)
}

// storeNumbered stores n memories in a namespace, in commits of 100.
func storeNumbered(t *testing.T, k *server.Server, namespace, prefix string, n int) {
	t.Helper()
	var items []memory.Item
	for i := range n {
		items = append(items, memory.Item{Key: fmt.Sprintf("%s%05d", prefix, i), Value: json.RawMessage("1")})
		if len(items) == 100 || i == n-1 {
			_, err := server.Owner(k.Host, "").Store(t.Context(), memory.Location{Namespace: namespace}, items, memory.Write{})
			must.Do(t, err)
			items = nil
		}
	}
}

type subscribedTo struct{ SubscriptionID string }

// A receiver is down while events come, and the server is stopped and started in between. Each event arrives, in order, and none twice without
// its id saying so. ALCOVE_EVENTS=1 has 10,000 events, and a receiver that is down for a minute.
func TestEventsReachAReceiverThatWasDown(t *testing.T) {
	t.Parallel()
	n := 400
	r, dir := newReceiver(t), t.TempDir()
	k := server.Carrying(t, host.Options{Dir: dir})
	r.endpoint(k)
	c, err := k.Connect(owner.Hello{Agent: "ann", Namespace: "team/a"})
	must.Do(t, err)
	id := server.Answered[subscribedTo](t, c, "memory_subscribe", map[string]any{"endpoint": "hooks", "namespace_filter": "team/*"}).SubscriptionID
	storeNumbered(t, k, "team/a", "first", 50)
	await.That(t, "the first events arrive", func() bool { return r.count(id) == 50 })
	began := time.Now()
	r.mu.Lock()
	r.down = func(requests int) bool { return requests > 100 && requests <= 102 } // for two attempts
	if os.Getenv("ALCOVE_EVENTS") != "" {
		n, r.down = 10_000, func(int) bool { return time.Since(began) < time.Minute }
	}
	r.mu.Unlock()
	storeNumbered(t, k, "team/a", "more", n)
	storeNumbered(t, k, "home", "other", 1)
	await.That(t, "the receiver refused an event", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.refused > 0 })
	k.Stop()
	k.Restart()
	await.That(t, "all events arrive", func() bool { return r.count(id) >= 50+n })
	want := &strings.Builder{}
	for _, part := range []struct {
		prefix string
		n      int
	}{{"first", 50}, {"more", n}} {
		for i := range part.n {
			fmt.Fprintf(want, " team/a#%s%05d", part.prefix, i)
		}
	}
	if got := r.keysOf(id); got != want.String()[1:] {
		t.Errorf("%d events arrived, of %d, or in another order", r.count(id), 50+n)
	}
	r.mu.Lock()
	t.Logf("%d events arrived within %v: %d requests, of which the receiver refused %d, and %d repeated an event that it had accepted", n, time.Since(began).Round(time.Millisecond), r.requests, r.refused, r.repeated)
	r.mu.Unlock()
	c, err = k.Connect(owner.Hello{Agent: "ann", Namespace: "team/a"})
	must.Do(t, err)
	if failures := server.Answered[struct{ Failures []any }](t, c, "memory_subscription_failures", nil).Failures; len(failures) != 0 {
		t.Errorf("given up: %v", failures)
	}
}

// Ann subscribes to everything. What bob keeps in a scope is sent while she is a member, and nothing once her key is revoked.
func TestASubscriptionSendsWhatItsOwnerMayReadWhenItIsSent(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	k := server.Carrying(t, host.Options{})
	r.endpoint(k)
	k.Asking(abi.CanScopeWrite, map[string]string{
		"opens":  `scope.put {"namespace":"team/a","create":true,"members":["ann"]}`,
		"closes": `scope.members {"namespace":"team/a","remove":["ann"]}`,
	})
	all := []operator.Right{"read", "write", "family:*"}
	annKey, bobKey := k.Issue("ann", all, "*"), k.Issue("bob", all, "*")
	ann, err := k.Connect(owner.Hello{Key: annKey.Secret, Namespace: "home"})
	must.Do(t, err)
	bob, err := k.Connect(owner.Hello{Key: bobKey.Secret, Namespace: "home"})
	must.Do(t, err)
	server.Answered[any](t, bob, "opens_ask", nil)
	anns := server.Answered[subscribedTo](t, ann, "memory_subscribe", map[string]any{"endpoint": "hooks", "events": "memory_stored"}).SubscriptionID
	bobs := server.Answered[subscribedTo](t, bob, "memory_subscribe", map[string]any{"endpoint": "hooks", "events": "memory_stored"}).SubscriptionID
	say := func(namespace, key string) {
		t.Helper()
		server.Answered[any](t, bob, "memory_store", map[string]any{"namespace": namespace, "key": key, "value": "said"})
	}
	say("team/a", "while")
	await.That(t, "ann is sent what she may read", func() bool { return r.count(anns) == 1 })
	server.Answered[any](t, bob, "closes_ask", nil)
	say("team/a", "after")
	say("home", "open")
	await.That(t, "ann is sent what is open", func() bool { return strings.HasSuffix(r.keysOf(anns), "home#open") })
	if got := r.keysOf(anns); got != "team/a#while home#open" {
		t.Errorf("ann is sent %s", got)
	}
	if text := server.AnswerText(bob, "memory_list_subscriptions", nil); strings.Contains(text, anns) || !strings.Contains(text, bobs) {
		t.Errorf("bob sees %s", text)
	}
	for _, tool := range []string{"memory_unsubscribe", "memory_subscription_failures"} {
		if text := server.AnswerText(bob, tool, map[string]any{"id": anns, "subscription_id": anns}); !strings.HasPrefix(text, "error: ") {
			t.Errorf("bob calls %s for ann: %s", tool, text)
		}
	}
	_, err = operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: annKey.ID})
	must.Do(t, err)
	say("home", "late")
	await.That(t, "bob is sent everything", func() bool { return r.count(bobs) == 4 })
	await.That(t, "ann's job ended", func() bool {
		list, err := operator.Query(t.Context(), k.Acts, operator.ListFamilyJobs)
		must.Do(t, err)
		for _, j := range list {
			if j.Family == "events" && j.Agent == "ann" && j.State == jobs.Failed {
				return true
			}
		}
		return false
	})
	if got := r.keysOf(anns); got != "team/a#while home#open" {
		t.Errorf("after the end of her key ann is sent %s", got)
	}
}

// The feed goes as far back as feed_retention_days says, from the next second on, and is crowded beyond feed_alert_rows.
func TestTheFeedKeepsWhatItsSettingsSay(t *testing.T) {
	t.Parallel()
	now := testclock.At(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
	k := server.Carrying(t, host.Options{Clock: now.Now})
	c, err := k.Connect(owner.Hello{Agent: "ann"})
	must.Do(t, err)
	oldest := func() string { return server.AnswerText(c, "memory_poll_events", map[string]any{"lastWatermark": 2}) }
	set := func(key, value string) {
		t.Helper()
		_, err := operator.Call(t.Context(), k.Acts, operator.ChangeSettings, operator.SettingChanges{Scope: config.Scope{Kind: config.System}, Changes: []config.Change{{Key: key, Value: json.RawMessage(value)}}})
		must.Do(t, err)
		now.Add(2 * time.Second)
	}
	storeNumbered(t, k, "default", "k", 1200)
	now.Add(3 * 24 * time.Hour)
	storeNumbered(t, k, "default", "late", 1)
	if text := oldest(); strings.HasPrefix(text, "error: ") {
		t.Errorf("after three days of seven: %s", text)
	}
	set("feed_retention_days", "1")
	if text := oldest(); !strings.Contains(text, "no longer kept") {
		t.Errorf("after three days of one: %.200s", text)
	}
	crowded := func() []feed.Crowded {
		t.Helper()
		list, err := k.Host.Memory().CrowdedFeeds(t.Context())
		must.Do(t, err)
		return list
	}
	set("feed_alert_rows", "1000")
	if list := crowded(); len(list) != 0 {
		t.Errorf("one event is crowded: %+v", list)
	}
	set("feed_retention_days", "30")
	if text := oldest(); strings.HasPrefix(text, "error: ") {
		t.Errorf("after three days of thirty: %s", text)
	}
	if list := crowded(); len(list) != 1 || list[0].Branch != memory.Default || list[0].Rows < 1201 || list[0].Limit != 1000 {
		t.Errorf("1,201 events are crowded: %+v", list)
	}
	storeNumbered(t, k, "default", "more", 100)
	if list := crowded(); len(list) != 1 || list[0].Rows < 1301 || list[0].Rows > 1310 {
		t.Errorf("1,301 events are crowded: %+v", list)
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.ChangeSettings, operator.SettingChanges{Scope: config.Scope{Kind: config.System}, Changes: []config.Change{{Key: "feed_retention_days", Value: json.RawMessage("0")}}}); err == nil {
		t.Error("a feed is kept for no day")
	}
}

// One receiver does not answer. Another one, of another agent, is sent everything meanwhile.
func TestAReceiverThatHangsDelaysNoOther(t *testing.T) {
	t.Parallel()
	stuck, r := newReceiver(t), newReceiver(t)
	release := make(chan struct{})
	defer close(release)
	stuck.hangs = release
	k := server.Carrying(t, host.Options{})
	stuck.named(k, "stuck", "stuck", "hooks")
	r.named(k, "hooks", "stuck", "hooks")
	ann, err := k.Connect(owner.Hello{Agent: "ann"})
	must.Do(t, err)
	bob, err := k.Connect(owner.Hello{Agent: "bob"})
	must.Do(t, err)
	for range 3 {
		server.Answered[subscribedTo](t, ann, "memory_subscribe", map[string]any{"endpoint": "stuck"})
	}
	id := server.Answered[subscribedTo](t, bob, "memory_subscribe", map[string]any{"endpoint": "hooks"}).SubscriptionID
	for i := range 3 {
		storeNumbered(t, k, "default", fmt.Sprint("k", i, "-"), 30)
		await.That(t, "bob is sent all events", func() bool { return r.count(id) == 30*(i+1) })
	}
	if n := stuck.count(id); n != 0 {
		t.Errorf("the other receiver was sent %d of them", n)
	}
}

// The server stops and goes on with another version of the family events. A subscription and a stream go on where they were: each event
// arrives once and in order, or says that it is repeated.
func TestASubscriptionAndAStreamOutliveAnUpgradeOfTheirFamily(t *testing.T) {
	t.Parallel()
	r, dir := newReceiver(t), t.TempDir()
	k := server.Carrying(t, host.Options{Dir: dir})
	r.endpoint(k)
	c, err := k.Connect(owner.Hello{Agent: "ann"})
	must.Do(t, err)
	id := server.Answered[subscribedTo](t, c, "memory_subscribe", map[string]any{"endpoint": "hooks", "events": "memory_stored"}).SubscriptionID
	before := digestIn(t, k, "events")
	key := k.Issue("bob", server.EveryRight, "*")
	p := k.Stream(key)
	p.Subscribe(map[string]any{"kinds": []string{"memory_stored"}})
	var streamed []string
	var last uint64
	read := func(p *server.Stream, n int) {
		t.Helper()
		for range n {
			m := p.Next()
			var e struct{ FactID string }
			must.Do(t, json.Unmarshal(m.Payload, &e))
			if m.Watermark < last {
				t.Errorf("%s came after watermark %d", m.Text, last)
			}
			streamed, last = append(streamed, e.FactID), m.Watermark
		}
	}
	storeNumbered(t, k, "default", "a", 20)
	await.That(t, "the first events arrive", func() bool { return r.count(id) == 20 })
	read(p, 20)
	r.mu.Lock()
	r.down = func(int) bool { return true }
	r.mu.Unlock()
	storeNumbered(t, k, "default", "b", 20)
	await.That(t, "the receiver refused an event", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.refused > 0 })
	k.Stop()

	k.Restart(func(o *host.Options) { o.Families = upgraded(t, "events") })
	if after := digestIn(t, k, "events"); after == before {
		t.Fatal("the family is the same")
	}
	r.mu.Lock()
	r.down = nil
	r.mu.Unlock()
	storeNumbered(t, k, "default", "c", 20)
	again := k.Stream(key)
	again.Subscribe(map[string]any{"kinds": []string{"memory_stored"}, "watermark": last})
	read(again, 40)
	await.That(t, "all events arrive", func() bool { return r.count(id) >= 60 })
	var want []string
	for _, prefix := range []string{"a", "b", "c"} {
		for i := range 20 {
			want = append(want, fmt.Sprintf("default#%s%05d", prefix, i))
		}
	}
	if got := r.keysOf(id); got != strings.Join(want, " ") {
		t.Errorf("the receiver got %s", got)
	}
	if !slices.Equal(streamed, want) {
		t.Errorf("the stream had %q", streamed)
	}
}

// upgraded are the families that the program carries, one of them as another version.
func upgraded(t *testing.T, name string) (list []host.FamilyModule) {
	t.Helper()
	for _, m := range server.Families() {
		if !strings.Contains(string(m.Manifest), `"name":"`+name+`"`) && !strings.Contains(string(m.Manifest), `"name": "`+name+`"`) {
			list = append(list, m)
			continue
		}
		packed, err := m.Read()
		must.Do(t, err)
		packed = append(bytes.Clone(packed), 0, 5, 1, 'x', 'n', 'e', 'w') // a custom section
		m, err = modules.Of(packed)
		must.Do(t, err)
		list = append(list, m)
	}
	return list
}

// digestIn is the digest of a family of a server.
func digestIn(t *testing.T, k *server.Server, name string) string {
	t.Helper()
	list, err := operator.Query(t.Context(), k.Acts, operator.ListFamilies)
	must.Do(t, err)
	for _, d := range list {
		if d.Manifest.Name == name {
			return d.Digest
		}
	}
	t.Fatalf("there is no family %s", name)
	return ""
}
