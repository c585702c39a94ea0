package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/linear"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	linearClients = 4
	linearKeys    = 2   // that are fought over at a time
	linearRounds  = 12  // kills that are told apart by when they come, without ALCOVE_KILLS
	linearEpoch   = 100 // operations after which the clients go on to other keys
)

// race is the history of several clients that fight over keys.
type race struct {
	*crash
	count   atomic.Int64
	history *linear.History
	// careless clients compare and set in two steps.
	careless bool
}

func newRace(t *testing.T) *race { return &race{crash: newCrash(t), history: linear.New()} }

// run lets the clients race until stop is called.
func (r *race) run() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var clients sync.WaitGroup
	for i := range linearClients {
		clients.Go(func() { r.client(ctx, i) })
	}
	return func() { cancel(); clients.Wait() }
}

func (r *race) client(ctx context.Context, id int) {
	session, err := server.Session(context.WithoutCancel(ctx), r.Dial)
	if err != nil {
		r.t.Errorf("client %d: %v", id, err)
		return
	}
	defer session.Close()
	random := rand.New(rand.NewPCG(uint64(id), 1))
	seen := map[string]int64{} // versions, as this client last saw them
	for n := 0; ctx.Err() == nil; n++ {
		in := linear.Asked{Key: fmt.Sprintf("k%d/%d", r.count.Load()/linearEpoch, random.IntN(linearKeys)), Expect: -1}
		switch random.IntN(10) {
		case 0:
			in.Kind = "forget"
		case 1, 2, 3:
			in.Kind = "get"
		case 4:
			in.Kind, in.Value = "put", fmt.Sprintf("%d-%d", id, n)
		default:
			in.Kind, in.Value, in.Expect = "put", fmt.Sprintf("%d-%d", id, n), seen[in.Key]
		}
		call := r.history.Now()
		out, err := r.ask(session, in)
		if err != nil {
			r.t.Errorf("client %d: %+v: %v", id, in, err)
			return
		}
		if in.Kind != "forget" {
			seen[in.Key] = int64(out.Version)
		}
		r.note(id, in, out, call)
	}
}

func (r *race) note(id int, in linear.Asked, out linear.Got, call time.Duration) {
	r.history.Add(id, in, out, call)
	r.count.Add(1)
	r.ledger.acks.Add(1)
}

func (r *race) ask(session *client.Session, in linear.Asked) (linear.Got, error) {
	switch in.Kind {
	case "get":
		return r.get(session, in.Key)
	case "forget":
		var out struct{ Count int }
		answer, err := session.Call(context.Background(), "memory_forget", map[string]any{"key": in.Key})
		err = errors.Join(err, server.Decode(answer, &out))
		return linear.Got{Version: uint64(out.Count)}, err
	}
	args := map[string]any{"key": in.Key, "value": in.Value}
	if in.Expect >= 0 && !r.careless {
		args["if_version"] = in.Expect
	}
	if in.Expect >= 0 && r.careless {
		have, err := r.get(session, in.Key)
		if err != nil || have.Version != uint64(in.Expect) {
			return linear.Got{Version: have.Version, Conflict: true}, err
		}
	}
	return r.put(session, args)
}

func (r *race) get(session *client.Session, key string) (linear.Got, error) {
	var out struct {
		Found   bool
		Value   string
		Version uint64
	}
	answer, err := session.Call(context.Background(), "memory_recall", map[string]any{"key": key})
	err = errors.Join(err, server.Decode(answer, &out))
	return linear.Got{Version: out.Version, Value: out.Value}, err
}

func (r *race) put(session *client.Session, args map[string]any) (linear.Got, error) {
	var out struct{ Version uint64 }
	answer, err := session.Call(context.Background(), "memory_store", args)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.Conflict {
		version, _ := refused.Details["version"].(float64)
		return linear.Got{Version: uint64(version), Conflict: true}, nil
	}
	err = errors.Join(err, server.Decode(answer, &out))
	return linear.Got{Version: out.Version}, err
}

// kills are the numbers of the kills of an owner: so many as ALCOVE_KILLS says, or as today's part of the rounds has.
func kills(t *testing.T, today, rounds int) []int {
	t.Helper()
	if text := os.Getenv("ALCOVE_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("ALCOVE_KILLS: %v", err)
		}
		today, rounds = n, n
	}
	return stress.Seeds(t, today, rounds)
}

// killAndOpen kills the owner, lets do look at what is left, and lets the clients go on.
func (r *race) killAndOpen(do func()) {
	r.t.Helper()
	r.Gate.Lock()
	defer r.Gate.Unlock()
	h, _ := r.Kill()
	if err := h.Close(); err != nil {
		r.t.Fatal(err)
	}
	if do != nil {
		do()
	}
}

func TestGetPutAndCompareAndSetAreLinearizableWhileTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	linearizable(t, kills(t, 3, linearRounds))
}

// TestOperationsOnPostgreSQLAreLinearizableWhileTheOwnerIsKilled kills servers whose store is a database, which goes on: what they had sent
// there may be done after their end.
func TestOperationsOnPostgreSQLAreLinearizableWhileTheOwnerIsKilled(t *testing.T) {
	url, err := postgres.Start(t).Database()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(server.Stored, url)
	linearizable(t, kills(t, 2, linearRounds))
}

// linearizable races while owners are killed, and judges the history.
func linearizable(t *testing.T, rounds []int) {
	t.Helper()
	r := newRace(t)
	stop := r.run()
	for _, round := range rounds {
		r.await(linearEpoch)
		time.Sleep(time.Duration(round*7919%5000) * time.Microsecond) // kill at another point of the work each time
		r.killAndOpen(nil)
	}
	r.await(linearEpoch)
	stop()
	if wrong := r.history.Judge(); wrong != "" {
		t.Errorf("the history is not linearizable: %s", wrong)
	}
	won, lost := r.history.Wins()
	if won == 0 || lost == 0 {
		t.Errorf("of the compare-and-sets %d won and %d lost: both are needed", won, lost)
	}
	t.Logf("%d kills, %d operations, of which %d compare-and-sets won and %d lost: linearizable", len(rounds), r.history.Len(), won, lost)
}

// TestTheLinearizabilityTestNoticesLosses takes acknowledged writes away.
func TestTheLinearizabilityTestNoticesLosses(t *testing.T) {
	t.Setenv(server.NoSync, "1")
	r := newRace(t)
	stop := r.run()
	r.await(linearEpoch / 3)
	var synced map[string][]byte
	r.killAndOpen(func() { synced = r.files() })
	r.await(linearEpoch / 3)
	r.killAndOpen(func() { r.loseAllBut(synced) })
	r.await(linearEpoch / 6)
	stop()
	if r.history.Judge() == "" {
		t.Error("the loss of acknowledged writes was not noticed")
	}
}

// TestTheLinearizabilityTestNoticesCarelessClients compares and sets in two steps, between which others get.
func TestTheLinearizabilityTestNoticesCarelessClients(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.careless = true
	stop := r.run()
	deadline := time.Now().Add(30 * time.Second)
	for wrong := ""; wrong == ""; wrong = r.history.Judge() {
		if time.Now().After(deadline) {
			t.Fatal("compare and set in two steps was not noticed")
		}
		r.await(linearEpoch)
	}
	stop()
}
