package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

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

// asked is what a client asked about one key. An expect below 0 puts unconditionally.
type asked struct {
	kind   string // get, put, forget
	key    string
	value  string
	expect int64
}

// got is how it was answered.
type got struct {
	version  uint64 // 0: there was none
	value    string
	conflict bool
}

// held is what a key holds; newest is the highest version that it ever had.
type held struct {
	version, newest uint64
	value           string
}

// register is what a memory must behave like, whatever happens to the server: one copy of each key, on which operations
// take effect one at a time, each between its call and its return.
func register() porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return held{} },
		Step: func(state, input, output any) (bool, any) {
			return step(state.(held), input.(asked), output.(got))
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
	}
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, op := range history {
		key := op.Input.(asked).key
		parts[key] = append(parts[key], op)
	}
	var list [][]porcupine.Operation
	for _, part := range parts {
		list = append(list, part)
	}
	return list
}

func step(h held, in asked, out got) (bool, held) {
	switch {
	case in.kind == "get":
		return out.version == h.version && out.value == h.value, h
	case in.kind == "forget":
		return (h.version != 0) == (out.version != 0), held{newest: h.newest}
	case out.conflict:
		return in.expect >= 0 && uint64(in.expect) != h.version && out.version == h.version, h
	case in.expect >= 0 && uint64(in.expect) != h.version:
		return false, h
	}
	return out.version > h.newest, held{version: out.version, newest: out.version, value: in.value}
}

// race is the history of several clients that fight over keys.
type race struct {
	*crash
	began   time.Time
	count   atomic.Int64
	mu      sync.Mutex
	history []porcupine.Operation
	// careless clients compare and set in two steps.
	careless bool
}

func newRace(t *testing.T) *race { return &race{crash: newCrash(t), began: time.Now()} }

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
		in := asked{key: fmt.Sprintf("k%d/%d", r.count.Load()/linearEpoch, random.IntN(linearKeys)), expect: -1}
		switch random.IntN(10) {
		case 0:
			in.kind = "forget"
		case 1, 2, 3:
			in.kind = "get"
		case 4:
			in.kind, in.value = "put", fmt.Sprintf("%d-%d", id, n)
		default:
			in.kind, in.value, in.expect = "put", fmt.Sprintf("%d-%d", id, n), seen[in.key]
		}
		call := time.Since(r.began)
		out, err := r.ask(session, in)
		if err != nil {
			r.t.Errorf("client %d: %+v: %v", id, in, err)
			return
		}
		if in.kind != "forget" {
			seen[in.key] = int64(out.version)
		}
		r.note(id, in, out, call)
	}
}

func (r *race) note(id int, in asked, out got, call time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{ClientId: id, Input: in, Output: out, Call: int64(call), Return: int64(time.Since(r.began))})
	r.count.Add(1)
	r.ledger.acks.Add(1)
}

func (r *race) ask(session *client.Session, in asked) (got, error) {
	switch in.kind {
	case "get":
		return r.get(session, in.key)
	case "forget":
		var out struct{ Count int }
		answer, err := session.Call(context.Background(), "memory_forget", map[string]any{"key": in.key})
		err = errors.Join(err, server.Decode(answer, &out))
		return got{version: uint64(out.Count)}, err
	}
	args := map[string]any{"key": in.key, "value": in.value}
	if in.expect >= 0 && !r.careless {
		args["if_version"] = in.expect
	}
	if in.expect >= 0 && r.careless {
		have, err := r.get(session, in.key)
		if err != nil || have.version != uint64(in.expect) {
			return got{version: have.version, conflict: true}, err
		}
	}
	return r.put(session, args)
}

func (r *race) get(session *client.Session, key string) (got, error) {
	var out struct {
		Found   bool
		Value   string
		Version uint64
	}
	answer, err := session.Call(context.Background(), "memory_recall", map[string]any{"key": key})
	err = errors.Join(err, server.Decode(answer, &out))
	return got{version: out.Version, value: out.Value}, err
}

func (r *race) put(session *client.Session, args map[string]any) (got, error) {
	var out struct{ Version uint64 }
	answer, err := session.Call(context.Background(), "memory_store", args)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.Conflict {
		version, _ := refused.Details["version"].(float64)
		return got{version: uint64(version), conflict: true}, nil
	}
	err = errors.Join(err, server.Decode(answer, &out))
	return got{version: out.Version}, err
}

// judge says what is wrong with the history; empty when nothing is.
func (r *race) judge() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range byKey(r.history) {
		switch porcupine.CheckOperationsTimeout(register(), part, 30*time.Second) {
		case porcupine.Unknown:
			return fmt.Sprintf("the history of %s, %d operations, takes too long to judge", part[0].Input.(asked).key, len(part))
		case porcupine.Illegal:
			return "no order explains the history of " + describe(part)
		}
	}
	return ""
}

func describe(part []porcupine.Operation) string {
	var out strings.Builder
	fmt.Fprintln(&out, part[0].Input.(asked).key)
	for _, op := range part {
		fmt.Fprintf(&out, "%8d to %8d µs, client %d: %+v → %+v\n", op.Call/1000, op.Return/1000, op.ClientId, op.Input, op.Output)
	}
	return out.String()
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
	if wrong := r.judge(); wrong != "" {
		t.Errorf("the history is not linearizable: %s", wrong)
	}
	won, lost := 0, 0
	for _, op := range r.history {
		if op.Input.(asked).expect >= 0 {
			if op.Output.(got).conflict {
				lost++
			} else {
				won++
			}
		}
	}
	if won == 0 || lost == 0 {
		t.Errorf("of the compare-and-sets %d won and %d lost: both are needed", won, lost)
	}
	t.Logf("%d kills, %d operations, of which %d compare-and-sets won and %d lost: linearizable", len(rounds), len(r.history), won, lost)
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
	if r.judge() == "" {
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
	for wrong := ""; wrong == ""; wrong = r.judge() {
		if time.Now().After(deadline) {
			t.Fatal("compare and set in two steps was not noticed")
		}
		r.await(linearEpoch)
	}
	stop()
}
