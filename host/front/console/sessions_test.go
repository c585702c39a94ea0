package console

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestASessionEndsTwelveHoursAfterItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sessionsOf(t, nil, nil)
		secret := s.begin("k")
		time.Sleep(idle - time.Second)
		found := s.find(secret)
		if found == nil {
			t.Fatal("a session is gone before it was unused for 12 hours")
		}
		time.Sleep(idle - time.Second)
		synctest.Wait()
		if found.ended.Err() != nil {
			t.Error("a session ended though it was used 12 hours ago or less")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.find(secret) != nil || found.ended.Err() == nil {
			t.Error("a session goes on though it was unused for 12 hours")
		}
		if why := context.Cause(found.ended); !strings.Contains(why.Error(), "12 hours") {
			t.Errorf("a session that was unused ends with %q, want why", why)
		}
	})
}

func TestATicketHoldsForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := newTickets()
		first, second := list.issue(), list.issue()
		time.Sleep(ticketHolds - time.Second)
		if !list.use(first) || list.use(first) {
			t.Error("a ticket does not open once within its minute")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if list.use(second) || len(list.waiting) != 0 {
			t.Error("a ticket opens after its minute")
		}
	})
}

func TestTicketsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := newTickets()
		for range mostTickets {
			list.issue()
		}
		if list.use(list.issue()) {
			t.Errorf("a ticket holds beyond the limit of %d", mostTickets)
		}
		time.Sleep(ticketHolds + time.Second)
		synctest.Wait()
		if !list.use(list.issue()) {
			t.Error("a ticket does not hold once others expired")
		}
	})
}

func TestWhoHasMostSessionsLosesTheOldest(t *testing.T) {
	s := sessionsOf(t, nil, nil)
	defer s.close()
	operator, greedy := s.begin(""), []string{}
	for range mostSessions + 50 {
		greedy = append(greedy, s.begin("greedy"))
	}
	if len(s.open) != mostSessions {
		t.Errorf("there are %d sessions, want at most %d", len(s.open), mostSessions)
	}
	if s.find(operator) == nil {
		t.Error("the operator lost a session to the holder of a key")
	}
	if s.find(greedy[50]) != nil || s.find(greedy[51]) == nil {
		t.Error("other sessions than the oldest ended")
	}
}

func TestOnlyADigestOfASessionsSecretIsKept(t *testing.T) {
	s := sessionsOf(t, nil, nil)
	defer s.close()
	secret := s.begin("k")
	if kept := fmt.Sprintf("%+v", s.find(secret)); strings.Contains(kept, secret) || strings.Contains(kept, tokenOf(secret)) {
		t.Errorf("a session keeps its secret or token: %s", kept)
	}
	if tokenOf(secret) == tokenOf(newSecret()) || strings.Contains(tokenOf(secret), secret[:8]) {
		t.Error("the token of a session does not depend on its secret, or tells it")
	}
}

func sessionsOf(t *testing.T, kept []byte, keep func([]byte)) *sessions {
	t.Helper()
	s, err := newSessions(kept, keep)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSessionsGoOnWithTheNextServerUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept []byte
		keep := func(data []byte) { kept = data }
		first := sessionsOf(t, nil, keep)
		ann, out, idled := first.begin("ann"), first.begin(""), first.begin("eve")
		first.drop(first.find(out), over("it was ended"))
		time.Sleep(idle / 2)
		if first.find(ann) == nil {
			t.Error("a session after half its time: got none, want it")
		}
		first.close()
		if strings.Contains(string(kept), ann) {
			t.Error("what is kept has the secret of a session")
		}
		next := sessionsOf(t, kept, keep)
		defer next.close()
		for name, c := range map[string]struct {
			secret string
			want   bool
		}{"in use": {ann, true}, "ended": {out, false}, "idle for a while": {idled, true}} {
			next.mu.Lock()
			got := next.open[digestOf(c.secret)] != nil
			next.mu.Unlock()
			if got != c.want {
				t.Errorf("the session that was %s with the next server: got it is there: %t, want %t", name, got, c.want)
			}
		}
		time.Sleep(idle/2 + time.Second)
		synctest.Wait()
		if next.find(idled) != nil || next.find(ann) == nil {
			t.Errorf("12 hours after its last request a session is there: %t; one that was used later: %t, want only that", next.find(idled) != nil, next.find(ann) != nil)
		}
		if _, err := newSessions([]byte("{"), keep); err == nil {
			t.Error("damaged sessions: got no error, want one")
		}
	})
}
