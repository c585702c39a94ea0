package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type m = map[string]any

// receiver is an endpoint.
type receiver struct {
	down bool
	got  []sentEvent
}

type sentEvent struct {
	ID, EventType, AgentID, ScopeID string
	Payload                         struct{ FactID string }
	Watermark                       uint64
	Attempt                         int
	Replayed                        bool
}

func (r *receiver) keys() (list []string) {
	for _, e := range r.got {
		list = append(list, alcove.ParseID(e.Payload.FactID).Key)
	}
	return list
}

func space(t testing.TB) (*alcovetest.Space, *receiver) {
	t.Helper()
	s, r := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json")), &receiver{}
	s.Ops["http.fetch"] = func(request []byte) (any, error) {
		var q struct {
			Endpoint, Method, Path, Body string
			Headers                      map[string]string
			Repeatable                   bool
		}
		if err := json.Unmarshal(request, &q); err != nil {
			return nil, err
		}
		if q.Endpoint != "hooks" || q.Method != "POST" || q.Path != "" || !q.Repeatable || s.DryRun {
			t.Errorf("sent %s", request)
		}
		if r.down {
			return nil, errors.Join(alcove.Errorf(alcove.Unavailable, "the endpoint cannot be reached"))
		}
		var e sentEvent
		if err := json.Unmarshal([]byte(q.Body), &e); err != nil || e.ID != q.Headers["Webhook-Id"] {
			t.Errorf("sent %s: %v", request, err)
		}
		r.got = append(r.got, e)
		return m{"status": 204, "headers": m{}, "body": ""}, nil
	}
	return s, r
}

func call[T any](t testing.TB, s *alcovetest.Space, tool string, arguments m) (out T) {
	t.Helper()
	if err := s.Tool(tool, arguments, &out); err != nil {
		t.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
	return out
}

func refused(t testing.TB, s *alcovetest.Space, code alcove.Code, tool string, arguments m) {
	t.Helper()
	if err := s.Tool(tool, arguments, nil); alcove.CodeOf(err) != code {
		t.Errorf("%s %v: %v; want %s", tool, arguments, err, code)
	}
}

func subscribe(t testing.TB, s *alcovetest.Space, arguments m) string {
	t.Helper()
	if arguments == nil {
		arguments = m{}
	}
	arguments["endpoint"] = "hooks"
	return call[struct{ SubscriptionID string }](t, s, "memory_subscribe", arguments).SubscriptionID
}

// tell runs the jobs that are due after some time.
func tell(t testing.TB, s *alcovetest.Space, after time.Duration) {
	t.Helper()
	s.Now = s.Now.Add(after)
	if err := s.Tell(); err != nil {
		t.Fatal(err)
	}
}

type listOut struct {
	Subscriptions []struct {
		ID, Owner, State, LastError string
		Delivered, Failed           int
		Watermark                   uint64
	}
}

func put(s *alcovetest.Space, keys ...string) {
	for _, key := range keys {
		s.Put(alcove.Memory{Key: key, Value: alcove.JSON(key)})
	}
}

func TestEventsAreSentInTheirOrderAsTheyHappen(t *testing.T) {
	s, r := space(t)
	put(s, "before")
	subscribe(t, s, nil)
	put(s, "a", "b")
	s.Put(alcove.Memory{Key: "c", Value: alcove.JSON(1)}, alcove.Memory{Key: "d", Value: alcove.JSON(2)})
	s.Forget("a")
	tell(t, s, 0)
	if got := r.keys(); !slices.Equal(got, []string{"a", "b", "c", "d", "a"}) || r.got[4].EventType != "memory_forgotten" || r.got[0].Payload.FactID != "default#a" || r.got[0].Attempt != 1 {
		t.Errorf("sent %+v", r.got)
	}
	tell(t, s, time.Minute)
	put(s, "e")
	tell(t, s, 0)
	if len(r.got) != 6 {
		t.Errorf("then sent %q", r.keys())
	}
	list := call[listOut](t, s, "memory_list_subscriptions", nil).Subscriptions
	if len(list) != 1 || list[0].State != "running" || list[0].Delivered != 6 || list[0].Owner != "tester" {
		t.Errorf("listed %+v", list)
	}
}

func TestAnEventIsTriedAgainUntilItIsGivenUpAndListed(t *testing.T) {
	s, r := space(t)
	id := subscribe(t, s, nil)
	r.down = true
	put(s, "a", "b")
	tell(t, s, 0)
	for i, d := range delays {
		if got := call[listOut](t, s, "memory_list_subscriptions", nil).Subscriptions[0]; got.State != "failing" || got.LastError == "" {
			t.Errorf("after %d failures it is %+v", i+1, got)
		}
		tell(t, s, time.Duration(d)*time.Microsecond-time.Millisecond)
		if i == 2 {
			r.down = false
			tell(t, s, time.Millisecond)
			if len(r.got) != 2 || r.got[0].Attempt != 4 || r.got[1].Attempt != 1 {
				t.Fatalf("after three failures sent %+v", r.got)
			}
			r.down = true
			put(s, "c", "d")
			break
		}
		tell(t, s, time.Millisecond)
	}
	tell(t, s, 0)
	for _, d := range delays {
		tell(t, s, time.Duration(d)*time.Microsecond)
	}
	r.down = false
	type out struct {
		Failures []struct {
			SubscriptionID string
			Attempts       int
			LastError      string
			Event          struct{ Payload struct{ FactID string } }
		}
	}
	for _, arguments := range []m{nil, {"subscription_id": id}} {
		got := call[out](t, s, "memory_subscription_failures", arguments).Failures
		if len(got) != 1 || got[0].Attempts != 9 || got[0].Event.Payload.FactID != "default#c" || got[0].SubscriptionID != id || !strings.Contains(got[0].LastError, "cannot be reached") {
			t.Errorf("given up %+v", got)
		}
	}
	tell(t, s, time.Hour)
	if got := r.keys(); !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("sent %q", got)
	}
}

func TestAReplaySendsAgainWhatWasSentWithTheSameIds(t *testing.T) {
	s, r := space(t)
	id := subscribe(t, s, nil)
	put(s, "a")
	tell(t, s, time.Hour)
	since := s.Now
	s.Now = s.Now.Add(time.Minute)
	put(s, "b", "c")
	tell(t, s, time.Hour)
	first := slices.Clone(r.got)
	if got := call[struct{ Queued int }](t, s, "memory_subscription_replay", m{"subscription_id": id, "since": since.Format(time.RFC3339)}); got.Queued != 2 {
		t.Errorf("queued %d", got.Queued)
	}
	put(s, "d")
	tell(t, s, 0)
	if got := r.keys(); !slices.Equal(got, []string{"a", "b", "c", "b", "c", "d"}) {
		t.Fatalf("sent %q", got)
	}
	if r.got[3].ID != first[1].ID || !r.got[3].Replayed || !r.got[4].Replayed || r.got[5].Replayed || first[1].Replayed {
		t.Errorf("sent again %+v", r.got[3:])
	}
	if got := call[struct{ Queued int }](t, s, "memory_subscription_replay", m{"subscription_id": id, "since": "2020-01-01"}); got.Queued != 4 {
		t.Errorf("all: queued %d", got.Queued)
	}
	tell(t, s, 0)
	if len(r.got) != 10 {
		t.Errorf("sent %q", r.keys())
	}
	refused(t, s, alcove.InvalidArgument, "memory_subscription_replay", m{"subscription_id": id, "since": "soon"})
	refused(t, s, alcove.InvalidArgument, "memory_subscription_replay", m{"subscription_id": id, "since": "2030-01-01"})
	refused(t, s, alcove.NotFound, "memory_subscription_replay", m{"subscription_id": "sub:none", "since": "1h ago"})
}

func TestASubscriptionSendsWhatItsFiltersSelect(t *testing.T) {
	s, r := space(t)
	subscribe(t, s, m{"events": "memory_stored", "namespace_filter": []string{"team/*", "home"}, "agent_filter": "tester"})
	s.Put(alcove.Memory{Namespace: "team/a", Key: "a", Value: alcove.JSON(1)}, alcove.Memory{Namespace: "teams", Key: "b", Value: alcove.JSON(1)}, alcove.Memory{Namespace: "home", Key: "c", Value: alcove.JSON(1)})
	s.Caller = "other"
	s.Put(alcove.Memory{Namespace: "home", Key: "d", Value: alcove.JSON(1)})
	s.Caller, s.Namespace = "tester", "home"
	s.Forget("c")
	s.Namespace = "default"
	tell(t, s, 0)
	if got := r.keys(); len(got) != 2 || !slices.Contains(got, "a") || !slices.Contains(got, "c") {
		t.Errorf("sent %q", got)
	}
}

func TestASubscriberIsSentNothingThatItMayNotRead(t *testing.T) {
	s, r := space(t)
	s.Write = []string{"mine", "default"}
	subscribe(t, s, nil)
	s.Put(alcove.Memory{Namespace: "mine", Key: "a", Value: alcove.JSON(1)}, alcove.Memory{Namespace: "theirs", Key: "b", Value: alcove.JSON(1)})
	tell(t, s, 0)
	if got := r.keys(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("sent %q", got)
	}
}

func TestDirectMessagesAreForTheirRecipientsAlone(t *testing.T) {
	owner := &subscription{Owner: "ann"}
	for payload, want := range map[string]bool{
		`{"recipients":"all"}`: true, `{"recipients":["bob"]}`: false, `{"recipients":["bob","ann"]}`: true, `{"recipients":"bob"}`: false, `{"recipients":"ann"}`: true, `{}`: true, `"x"`: false,
		`{"targetAgentId":"bob"}`: false, `{"targetAgentId":"ann"}`: true,
	} {
		n := &alcove.Notice{Kind: "message", Agent: "carl", Payload: alcove.Raw(payload)}
		if owner.wants(n) != want {
			t.Errorf("a message %s is sent: %v", payload, !want)
		}
		if n.Agent = "ann"; want && !owner.wants(n) {
			t.Errorf("ann's own message %s is not sent", payload)
		}
	}
}

func TestOfOthersSubscriptionsNothingIsSeen(t *testing.T) {
	s, r := space(t)
	id := subscribe(t, s, nil)
	s.Ops["caller.can"] = func([]byte) (any, error) { return m{"allowed": false}, nil }
	s.Caller = "eve"
	if got := call[listOut](t, s, "memory_list_subscriptions", nil).Subscriptions; len(got) != 0 {
		t.Errorf("eve sees %+v", got)
	}
	for tool, arguments := range map[string]m{"memory_unsubscribe": {"id": id}, "memory_subscription_replay": {"subscription_id": id, "since": "1h ago"}, "memory_subscription_failures": {"subscription_id": id}} {
		refused(t, s, alcove.NotFound, tool, arguments)
	}
	s.Caller = "tester"
	if got := call[struct{ Success bool }](t, s, "memory_unsubscribe", m{"id": id}); !got.Success {
		t.Error("unsubscribed without success")
	}
	put(s, "a")
	tell(t, s, 2*time.Hour)
	if len(r.got) != 0 || len(s.Queued()) != 0 {
		t.Errorf("after the end %q is sent, and %d jobs wait", r.keys(), len(s.Queued()))
	}
	refused(t, s, alcove.NotFound, "memory_unsubscribe", m{"id": id})
}

func TestEndpointsAreNamedAndSubscriptionsBounded(t *testing.T) {
	s, _ := space(t)
	refused(t, s, alcove.InvalidArgument, "memory_subscribe", m{"endpoint": "https://example.com/hook"})
	s.Revoke("http")
	refused(t, s, alcove.NotFound, "memory_subscribe", m{"endpoint": "hooks"})
	s, r := space(t)
	s.Config["subscriptions_max"] = 2
	for range 2 {
		subscribe(t, s, nil)
	}
	refused(t, s, alcove.Exhausted, "memory_subscribe", m{"endpoint": "hooks"})
	put(s, "a")
	tell(t, s, 0)
	if len(r.got) != 2 || r.got[0].ID == r.got[1].ID {
		t.Errorf("two subscriptions are sent %+v", r.got)
	}
}

// A commit of more events than a page is sent whole, though the receiver fails in the midst of it.
func TestALargeCommitIsSentOnceThoughTheReceiverFailsWithinIt(t *testing.T) {
	s, r := space(t)
	subscribe(t, s, nil)
	var list []alcove.Memory
	for i := range 300 {
		list = append(list, alcove.Memory{Key: fmt.Sprintf("k%03d", i), Value: alcove.JSON(i)})
	}
	s.Put(list...)
	fetch, n := s.Ops["http.fetch"], 0
	s.Ops["http.fetch"] = func(request []byte) (any, error) {
		if n++; n%7 == 0 {
			return nil, alcove.Errorf(alcove.Unavailable, "it is down")
		}
		return fetch(request)
	}
	for range 60 {
		tell(t, s, 200*time.Millisecond)
	}
	if keys := r.keys(); len(keys) != 300 || !slices.IsSorted(keys) || len(slices.Compact(keys)) != 300 {
		t.Errorf("%d events are sent", len(r.got))
	}
}

func TestTheStateOfEnrichmentNamesTheSteps(t *testing.T) {
	s, _ := space(t)
	s.Put(alcove.Memory{Key: "a", Value: alcove.JSON("x"), Metadata: alcove.Metadata{"observationTier": alcove.JSON("notable")}})
	type out struct {
		Pending, Failed, Done int
		SuccessRate           float64 `json:"success_rate"`
		Items                 []struct{ Step, State string }
	}
	got := call[out](t, s, "memory_get_enrichment_status", m{"factId": "a"})
	if got.SuccessRate != 1 || fmt.Sprint(got.Items) != "[{classification done} {tagging none}]" {
		t.Errorf("the state is %+v", got)
	}
	refused(t, s, alcove.NotFound, "memory_get_enrichment_status", m{"factId": "none"})
	s.Ops["status.get"] = func([]byte) (any, error) {
		return m{"branch": "default", "namespace": "default", "branches": 1, "memories": 1, "version": 2, "searchable": true,
			"embedders": []m{{"name": "e", "vectors": 98, "waiting": 3, "refused": 2}}}, nil
	}
	got = call[out](t, s, "memory_get_enrichment_status", nil)
	if got.Pending != 3 || got.Failed != 2 || got.Done != 98 || got.SuccessRate != .98 || fmt.Sprint(got.Items) != "[{embedding pending}]" {
		t.Errorf("the state is %+v", got)
	}
}
