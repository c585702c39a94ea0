package memory

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// TestAPlaceInAnExchangeNamesNoKeyThatTheCallerMayNotRead lists versions and counters page by page, most of which are of another namespace, for a
// caller who may read one.
func TestAPlaceInAnExchangeNamesNoKeyThatTheCallerMayNotRead(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	for i := range 60 {
		namespace, key := "open", fmt.Sprint("shown", i)
		if i%10 != 0 {
			namespace, key = "secret", fmt.Sprint("hidden", i)
		}
		place := Location{Namespace: namespace}
		if _, err := s.Store(t.Context(), place, []Item{{Key: key, Value: json.RawMessage(`"x"`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recall(t.Context(), place, key, AsOf{}); err != nil {
			t.Fatal(err)
		}
	}
	guest := s.As(Caller{Key: "k1", Rights: RightsTo([]string{"open"}, nil)})
	peer, err := guest.Peer(t.Context(), Default, 0, provenance.Scope{}, ToRead)
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	q := ExchangeQuery{Peer: peer, From: ExchangePlace{Scan: true}, Limit: 1}
	for more := true; more; {
		page, err := guest.Versions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Versions {
			sent = append(sent, v.Key)
		}
		if more = page.Next != nil; more {
			q.From = *page.Next
			hides(t, q.From.Cursor, q.From.Last)
		}
	}
	if want := []string{"shown0", "shown10", "shown20", "shown30", "shown40", "shown50"}; !slices.Equal(sent, want) {
		t.Errorf("versions of %q were sent, want %q", sent, want)
	}
	for from, more := CountMark(""), true; more; {
		_, next, err := guest.Counted(t.Context(), CountQuery{Scope: provenance.Scope{}, From: from, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		hides(t, string(next))
		from, more = next, next != ""
	}
	q.From = ExchangePlace{Scan: true, Cursor: base64.RawURLEncoding.EncodeToString([]byte("a place that nobody sealed, and that is long enough"))}
	var refused *Error
	if _, err := guest.Versions(t.Context(), q); !errors.As(err, &refused) || refused.Code != InvalidArgument {
		t.Errorf("a place that the server did not give is answered with %v, want %s", err, InvalidArgument)
	}
}

// hides makes sure that no text has a hidden key, plainly or encoded.
func hides(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		raw, _ := base64.RawURLEncoding.DecodeString(text)
		if strings.Contains(text, "hidden") || strings.Contains(string(raw), "hidden") || strings.Contains(text, "secret") || strings.Contains(string(raw), "secret") {
			t.Errorf("a place is %q, %q, want none that names a hidden key", text, raw)
		}
	}
}

// A receiver takes pages of a bounded size, whatever the lengths of the values are.
func TestAPageOfAnExchangeIsBoundedInBytes(t *testing.T) {
	s, done := openSpace(t, t.TempDir(), nil)
	defer done()
	const memories, length = 40, 900_000
	value := json.RawMessage(`"` + strings.Repeat("x", length) + `"`)
	for i := range memories {
		if _, err := s.Store(t.Context(), Location{}, []Item{{Key: fmt.Sprint("long", i), Value: value}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	owner := s.owner("")
	peer, err := owner.Peer(t.Context(), Default, 0, provenance.Scope{}, ToRead)
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func(context.Context, ExchangeQuery) (ExchangePage, error){"newest": owner.Versions, "all": owner.Histories} {
		for _, scan := range []bool{false, true} {
			sent := map[string]bool{}
			q := ExchangeQuery{Peer: peer, From: ExchangePlace{Scan: scan}, Bytes: length, Limit: memories}
			for more := true; more; {
				page, err := list(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if got, most := len(page.Versions)*length, exchangeBytes+length; got > most {
					t.Errorf("%s, scan %v: a page has %d bytes of values, want at most %d", name, scan, got, most)
				}
				for _, v := range page.Versions {
					if sent[v.Key] {
						t.Errorf("%s, scan %v: %s was sent twice, want once", name, scan, v.Key)
					}
					sent[v.Key] = true
				}
				if more = page.Next != nil; more {
					q.From = *page.Next
				}
			}
			if len(sent) != memories {
				t.Errorf("%s, scan %v: %d memories were sent, want %d", name, scan, len(sent), memories)
			}
		}
	}
}
