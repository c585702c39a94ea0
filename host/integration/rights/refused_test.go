package rights_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// refusals are the audit log's entries of what clients were refused, as text.
func refusals(t *testing.T, k *server.Server) (list []string) {
	t.Helper()
	if _, err := operator.Query(t.Context(), k.Acts, operator.GetAuditHead); err != nil { // which writes what is in memory
		t.Fatal(err)
	}
	for _, e := range entries(t, k.Dir, audit.Denied) {
		list = append(list, fmt.Sprintf("key=%s agent=%s from=%s namespace=%s family=%s work=%s %s %q ×%d", e.Key, e.Agent, e.Client, e.Namespace, e.Family, e.Work, e.Denied[0].Op, e.Denied[0].Rule, e.Denied[0].Count))
	}
	return list
}

func TestWhatClientsAreRefusedIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	server.Install(t, k.Acts, abi.Manifest{Name: "ledger", Tools: []abi.Tool{guest.Tool("ledger_read", `{}`)}}, guest.Relay())
	if err := operator.Command(t.Context(), k.Acts, operator.SetQuota, operator.QuotaRequest{Namespace: "team/a", Quota: memory.Allowance{Memories: 1}}); err != nil {
		t.Fatal(err)
	}
	ann := k.Issue("ann", append(slices.Clone(server.ReadWrite), "family:none"), "team/a")
	gone := k.Issue("gone", server.ReadWrite, "team/a")
	if _, err := operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: gone.ID}); err != nil {
		t.Fatal(err)
	}
	slow, err := operator.Call(t.Context(), k.Acts, operator.CreateKey, operator.KeyRequest{Agent: "slow", Namespaces: []string{"team/a"}, Rights: server.ReadWrite, Limits: operator.KeyLimits{CallsPerSecond: .01, Burst: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		do   func()
		want string
	}{
		{"a key is denied a namespace", func() { k.Post(ann.Secret, "", "memory_recall", `{"key":"k","namespace":"home"}`) },
			`key=` + ann.ID + ` agent=ann from= namespace=home family= work=tool memory_recall call "read namespace" ×1`},
		{"within an operation", func() {
			k.Post(ann.Secret, "", "memory_operation", `{"method":"store","params":{"key":"k","value":"v","namespace":"home"}}`)
		},
			`key=` + ann.ID + ` agent=ann from= namespace=home family= work=tool memory_store call "write namespace" ×1`},
		{"a key is denied a family", func() { k.Post(ann.Secret, "", "ledger_read", `{}`) },
			`key=` + ann.ID + ` agent=ann from= namespace= family= work=tool ledger_read call "use family ledger" ×1`},
		{"a key may not load it", func() { k.Post(ann.Secret, "", "memory_load_family", `{"family":"ledger"}`) },
			`key=` + ann.ID + ` agent=ann from= namespace= family= work=tool memory_load_family call "use family ledger" ×1`},
		{"a quota is used up", func() {
			k.Post(ann.Secret, "", "memory_store", `{"key":"a","value":"v"}`)
			k.Post(ann.Secret, "", "memory_store", `{"key":"b","value":"v"}`)
		},
			`key=` + ann.ID + ` agent=ann from= namespace=team/a family= work=tool memory_store call "quota memories_a_day" ×1`},
		{"a key calls too often", func() {
			k.Post(slow.Secret, "", "memory_status", `{}`)
			k.Post(slow.Secret, "", "memory_status", `{}`)
		},
			`key=` + slow.ID + ` agent=slow from= namespace= family= work= call "limit calls_per_second" ×1`},
		{"a subscription", func() {
			ws, _, err := server.DialStream(t.Context(), "http://"+k.At.HTTP, ann.Secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer ws.CloseNow()
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","id":1,"namespaces":["home"]}`)); err != nil {
				t.Fatal(err)
			}
			if p, err := server.ReadStream(t.Context(), ws); err != nil || p.Type != "error" {
				t.Fatalf("got %+v, %v, want an error", p, err)
			}
		},
			`key=` + ann.ID + ` agent=ann from= namespace=home family= work=tool subscribe call "read namespace" ×1`},
		{"a revoked key", func() { k.Post(gone.Secret, "", "memory_status", `{}`) },
			`key=` + gone.ID + ` agent=gone from=127.0.0.1 namespace= family= work= connect "the key ` + gone.ID + ` was revoked" ×1`},
		{"a key that was never issued", func() { k.Post("alcove_key_000000000000_secret", "", "memory_status", `{}`) },
			`key= agent= from=127.0.0.1 namespace= family= work= connect "the key is not known here" ×1`},
		{"no key", func() { k.Post("", "", "memory_status", `{}`) },
			`key= agent= from=127.0.0.1 namespace= family= work= connect "no API key or token" ×1`},
		{"a token that is not the owner's", func() { k.Post("wrong", "", "memory_status", `{}`) },
			`key= agent= from=127.0.0.1 namespace= family= work= connect "unknown token" ×1`},
		{"a key in _meta that was never issued", func() { k.Post(k.Host.Token(), "alcove_key_0_x", "memory_status", `{}`) },
			`key= agent= from=_meta namespace= family= work= connect "the key is not known here" ×1`},
		{"one on the socket", func() { k.Connect(owner.Hello{Key: "alcove_key_0_x"}) },
			`key= agent= from=socket namespace= family= work= connect "the key is not known here" ×1`},
	} {
		before := refusals(t, k)
		c.do()
		if got := refusals(t, k)[len(before):]; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: recorded %q, want %q", c.what, got, []string{c.want})
		}
		for range 3 {
			c.do()
		}
		if again := refusals(t, k)[len(before):]; len(again) != 1 {
			t.Errorf("%s: three repetitions are recorded one by one: %q", c.what, again[1:])
		}
	}
	got := metrics(t, k)
	for _, want := range []string{`{reason="denied"} 20`, `{reason="quota"} 4`, `{reason="rate"} 7`, `{reason="not_admitted"} `} {
		if want = "\nalcove_refusals_total" + want; !strings.Contains(got, want) {
			t.Errorf("the metrics have %q, want %q", alcoveLines(got, "alcove_refusals_total"), want)
		}
	}
}

// alcoveLines are the lines of metrics that have a name.
func alcoveLines(text, name string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			list = append(list, line)
		}
	}
	return list
}

func metrics(t *testing.T, k *server.Server) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+k.At.HTTP+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+k.Host.Token())
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
