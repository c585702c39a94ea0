package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

func TestAnotherUserOfTheMachineCannotBeTheOperator(t *testing.T) {
	other, counted := false, 0
	s, err := New(Options{
		Files: fstest.MapFS{"index.html": {}}, Acts: &admin.Server{}, State: func() State { return State{} },
		CheckPeer: func(*http.Request) error {
			if other {
				return errors.New("user 1001")
			}
			return nil
		},
		As:      func(ctx context.Context, _ string) (context.Context, func(), error) { return ctx, func() {}, nil },
		Enter:   func(string) (string, error) { return "key", nil },
		Client:  func(*http.Request) connection.Client { return connection.Client{} },
		Refused: func(*http.Request, error) { counted++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	logIn := func(login string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/console/api/session", strings.NewReader(login))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.session(w, r)
		return w
	}
	ticket := s.Ticket()
	other = true
	if w := logIn(`{"ticket":"` + ticket + `"}`); w.Code != http.StatusForbidden || counted != 1 {
		t.Errorf("a ticket of another user is answered with %d %s, counted %d times, want 403, once", w.Code, w.Body, counted)
	}
	if w := logIn(`{"key":"k"}`); w.Code != http.StatusOK {
		t.Errorf("a key of another user is answered with %d %s, want a session", w.Code, w.Body)
	}
	other = false
	w := logIn(`{"ticket":"` + ticket + `"}`)
	if w.Code != http.StatusOK {
		t.Fatalf("the ticket is answered with %d %s, want that it still holds", w.Code, w.Body)
	}
	r := httptest.NewRequest("GET", "/console/api/session", nil)
	cookie := w.Result().Cookies()[0]
	r.AddCookie(cookie)
	r.Header.Set(tokenHeader, tokenOf(cookie.Value))
	if _, stop, err := s.admit(r); err != nil {
		t.Errorf("a request of the operator is refused: %v", err)
	} else {
		stop()
	}
	other = true
	if _, _, err := s.admit(r); err == nil {
		t.Error("a request with the operator's cookie is admitted from another user")
	}
	w = httptest.NewRecorder()
	if s.session(w, r); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), tokenOf(cookie.Value)) {
		t.Errorf("another user with the operator's cookie is told %d %s, want 403 without the token", w.Code, w.Body)
	}
}
