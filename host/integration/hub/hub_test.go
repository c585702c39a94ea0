// Package hub has several people share a whole server: certificates, invitations and groups.
package hub

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/certificate"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{})) }

func invite(s *server.Server, r operator.InvitationRequest) operator.IssuedInvitation {
	s.T.Helper()
	invited, err := operator.Call(s.T.Context(), s.Acts, operator.InvitePerson, r)
	if err != nil {
		s.T.Fatalf("invite %s: %v", r.Agent, err)
	}
	return invited
}

// member is what a person gets who joins.
type member struct {
	Key        string
	Agent      string
	Device     string
	Namespaces []string
	Rights     []string
	Error      *struct{ Code, Message string }
}

func joins(s *server.Server, code, device string) (status int, m member) {
	s.T.Helper()
	body, err := json.Marshal(map[string]string{"code": code, "device": device})
	if err != nil {
		s.T.Fatal(err)
	}
	answer, err := http.Post(s.URL()+"/join", "application/json", bytes.NewReader(body))
	if err != nil {
		s.T.Fatalf("join: %v", err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&m); err != nil {
		s.T.Fatalf("join: status %d: %v", answer.StatusCode, err)
	}
	return answer.StatusCode, m
}

func stored(s *server.Server, key, namespace string) bool {
	s.T.Helper()
	status, body := s.Post(key, "", "memory_store", `{"key":"k","value":"v","namespace":"`+namespace+`"}`)
	return status == http.StatusOK && !strings.Contains(body, `"isError":true`)
}

func TestAnInvitationIsAcceptedOnceAndMakesAKeyOfThePerson(t *testing.T) {
	s := server.Start(t, host.Options{})
	invited := invite(s, operator.InvitationRequest{Agent: "ann"})
	if invited.Address.URL != s.URL() || invited.Address.Pin != "" {
		t.Errorf("the invitation is to %+v, want %s", invited.Address, s.URL())
	}
	written := strings.ReplaceAll(strings.ToUpper(invited.Code), "-", " ") // as a person reads it out
	status, ann := joins(s, written, "laptop")
	if status != http.StatusOK || ann.Agent != "ann" || ann.Device != "laptop" || !slices.Equal(ann.Namespaces, []string{"ann", "ann/*", "group/*"}) {
		t.Fatalf("ann joins: got %d %+v, want a key of ann for her laptop and her namespaces", status, ann)
	}
	for namespace, want := range map[string]bool{"ann": true, "ann/notes": true, "bob": false, "default": false} {
		if got := stored(s, ann.Key, namespace); got != want {
			t.Errorf("ann stores in %s: %t, want %t", namespace, got, want)
		}
	}
	again, other := joins(s, invited.Code, "phone")
	unknown, third := joins(s, strings.Repeat("0", 25), "phone")
	if again != http.StatusUnauthorized || unknown != again || other.Error == nil || third.Error == nil || *other.Error != *third.Error {
		t.Errorf("a used and an unknown code: got %d %+v and %d %+v, want the same refusal", again, other.Error, unknown, third.Error)
	}
	file, err := os.ReadFile(owner.KeysPath(s.Dir))
	if err != nil || bytes.Contains(file, []byte(strings.ReplaceAll(invited.Code, "-", ""))) || bytes.Contains(file, []byte(invited.Code)) {
		t.Errorf("the file of the keys has the code, or cannot be read: %v", err)
	}
}

func TestAPersonsNextDeviceHasTheSameRights(t *testing.T) {
	s := server.Start(t, host.Options{})
	first := invite(s, operator.InvitationRequest{Agent: "ann", Namespaces: []string{"team/*"}, Rights: []operator.Right{"read"}})
	if waiting := invite(s, operator.InvitationRequest{Agent: "ann"}); !slices.Equal(waiting.Namespaces, []string{"team/*"}) {
		t.Errorf("an invitation while the first waits: got %+v, want the same rights", waiting.Grant)
	}
	if status, _ := joins(s, first.Code, "laptop"); status != http.StatusOK {
		t.Fatalf("the first device: got %d, want 200", status)
	}
	_, phone := joins(s, invite(s, operator.InvitationRequest{Agent: "ann", Device: "phone"}).Code, "")
	if phone.Device != "phone" || !slices.Equal(phone.Namespaces, []string{"team/*"}) || !slices.Equal(phone.Rights, []string{"read"}) {
		t.Errorf("the second device: got %+v, want the rights of the first", phone)
	}
}

func TestACodeThatManyPresentAtOnceMakesOneKey(t *testing.T) {
	s := server.Start(t, host.Options{})
	code := invite(s, operator.InvitationRequest{Agent: "ann"}).Code
	var all sync.WaitGroup
	statuses := make([]int, 12)
	for i := range statuses {
		all.Go(func() { statuses[i], _ = joins(s, code, "laptop") })
	}
	all.Wait()
	list, err := operator.Query(t.Context(), s.Acts, operator.ListKeys)
	if accepted := len(slices.DeleteFunc(statuses, func(status int) bool { return status != http.StatusOK })); err != nil || accepted != 1 || len(list.Keys) != 1 {
		t.Errorf("%d of 12 were let in, and there are %d keys, %v, want one", accepted, len(list.Keys), err)
	}
}

func TestAnInvitationEnds(t *testing.T) {
	clock := testclock.At(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	s := server.StartOn(t, host.Options{Clock: clock.Now}, host.Listen{HTTP: "127.0.0.1:0"})
	usual, short := invite(s, operator.InvitationRequest{Agent: "ann"}), invite(s, operator.InvitationRequest{Agent: "bob", Expires: "1h"})
	withdrawn := invite(s, operator.InvitationRequest{Agent: "eve"})
	if _, err := operator.Call(t.Context(), s.Acts, operator.WithdrawInvitation, operator.InvitationID{ID: withdrawn.ID}); err != nil {
		t.Fatal(err)
	}
	if status, _ := joins(s, withdrawn.Code, ""); status != http.StatusUnauthorized {
		t.Errorf("an invitation that was withdrawn: got %d, want 401", status)
	}
	clock.Add(time.Hour)
	if status, _ := joins(s, short.Code, ""); status != http.StatusUnauthorized {
		t.Errorf("an invitation for an hour, after it: got %d, want 401", status)
	}
	s.Restart()
	clock.Add(3*24*time.Hour - time.Hour - time.Second)
	if status, m := joins(s, usual.Code, ""); status != http.StatusOK {
		t.Errorf("an invitation for three days, a second before and after a restart: got %d %+v, want 200", status, m.Error)
	}
	list, err := operator.Query(t.Context(), s.Acts, operator.ListInvitations)
	if err != nil || len(list) != 0 {
		t.Errorf("the invitations: got %+v, %v, want none", list, err)
	}
	for what, r := range map[string]operator.InvitationRequest{
		"for two months": {Agent: "ann", Expires: "60d"}, "in the past": {Agent: "ann", Expires: "2020-01-01"}, "of nobody": {}, "with a bad device": {Agent: "ann", Device: "a b"},
	} {
		if _, err := operator.Call(t.Context(), s.Acts, operator.InvitePerson, r); err == nil {
			t.Errorf("an invitation %s is made, want it refused", what)
		}
	}
}

func TestWrongCodesAreThrottledAndBounded(t *testing.T) {
	s := server.Start(t, host.Options{})
	code := invite(s, operator.InvitationRequest{Agent: "ann"}).Code
	statuses := map[int]int{}
	for range 25 {
		status, _ := joins(s, "wrong", "")
		statuses[status]++
	}
	if statuses[http.StatusUnauthorized] != 20 || statuses[http.StatusTooManyRequests] != 5 {
		t.Errorf("25 wrong codes: got the statuses %v, want 20 times 401 and 5 times 429", statuses)
	}
	if status, _ := joins(s, code, "a device"); status != http.StatusUnprocessableEntity {
		t.Errorf("a device with a space: got %d, want 422, and the invitation kept", status)
	}
	if status, _ := joins(s, code, "laptop"); status != http.StatusOK {
		t.Errorf("the code itself after that: got %d, want 200", status)
	}
	answer, err := http.Post(s.URL()+"/join", "application/json", strings.NewReader(`{"code":"`+strings.Repeat("x", 5<<10)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a request of 5 KiB: got %d, want 413", answer.StatusCode)
	}
	for i := range 500 {
		if _, err := operator.Call(t.Context(), s.Acts, operator.InvitePerson, operator.InvitationRequest{Agent: "ann"}); err != nil {
			t.Fatalf("invitation %d: %v", i, err)
		}
	}
	if _, err := operator.Call(t.Context(), s.Acts, operator.InvitePerson, operator.InvitationRequest{Agent: "ann"}); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("the 501st invitation: %v, want the limit named", err)
	}
}

func TestAGroupIsSharedByItsMembersFromTheNextCallOn(t *testing.T) {
	s := server.Start(t, host.Options{})
	_, ann := joins(s, invite(s, operator.InvitationRequest{Agent: "ann"}).Code, "")
	_, bob := joins(s, invite(s, operator.InvitationRequest{Agent: "bob"}).Code, "")
	group := func(members ...string) {
		t.Helper()
		if _, err := operator.Call(t.Context(), s.Acts, operator.SetGroup, operator.Group{Name: "crew", Members: members}); err != nil {
			t.Fatalf("set the group: %v", err)
		}
	}
	group("ann", "bob")
	if !stored(s, ann.Key, "group/crew") || !stored(s, bob.Key, "group/crew") {
		t.Error("a member cannot store in the group's namespace")
	}
	group("ann")
	if stored(s, bob.Key, "group/crew") {
		t.Error("who is no member any more stores in the group's namespace")
	}
	if _, body := s.Post(bob.Key, "", "memory_recall", `{"key":"k","namespace":"group/crew"}`); !strings.Contains(body, `"isError":true`) {
		t.Errorf("who is no member any more reads %s, want it refused", body)
	}
	list, err := operator.Query(t.Context(), s.Acts, operator.ListGroups)
	if err != nil || len(list) != 1 || list[0].Name != "crew" || !slices.Equal(list[0].Members, []string{"ann"}) {
		t.Errorf("the groups: got %+v, %v, want crew with ann", list, err)
	}
}

func TestAServersOwnCertificateIsByAnAuthorityThatThePinNames(t *testing.T) {
	requires := true
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", TLSOwn: []string{"memory.example.org", "127.0.0.1"}, RequireKeys: &requires})
	invited := invite(s, operator.InvitationRequest{Agent: "ann"})
	var authority *x509.Certificate
	conn, err := tls.Dial("tcp", s.At.HTTP, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	chain := conn.ConnectionState().PeerCertificates
	conn.Close()
	for _, c := range chain {
		if certificate.Pin(c) == invited.Address.Pin {
			authority = c
		}
	}
	if authority == nil || len(chain) != 2 {
		t.Fatalf("the chain has %d certificates, and none with the pin %s of the invitation", len(chain), invited.Address.Pin)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "memory.example.org"}}}
	answer, err := c.Get("https://" + s.At.HTTP + "/healthz")
	if err != nil {
		t.Fatalf("a client that trusts the authority: %v", err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("a client that trusts the authority: got %d %s, want 200", answer.StatusCode, text)
	}
}
