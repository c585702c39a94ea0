package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// client drives a bridge as an MCP client would, against owners that are functions.
type client struct {
	t       *testing.T
	in      *io.PipeWriter
	out     *bufio.Reader
	ended   chan error
	cancel  context.CancelFunc
	mu      sync.Mutex
	dials   []SessionState
	refused error // what Dial answers, when set
}

// owner handles one connection: it answers each line with what it returns; nil closes the connection.
type owner func(line jsonrpc.Message) []byte

// start runs a bridge; the n-th dial reaches the n-th owner, the last one serves all later dials.
func start(t *testing.T, owners ...owner) *client {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{t: t, in: inWrite, out: bufio.NewReaderSize(outRead, 1<<20), ended: make(chan error, 1), cancel: cancel}
	n := 0
	go func() {
		c.ended <- Run(ctx, Options{In: inRead, Out: outWrite, NewID: func() string { n++; return fmt.Sprintf("R%d", n) },
			Dial: func(_ context.Context, at SessionState) (io.ReadWriteCloser, error) {
				return c.dial(owners, at)
			},
			Fatal: func(err error) bool { return errors.Is(err, errFatal) },
			Drain: 5 * time.Second})
		outWrite.Close()
	}()
	t.Cleanup(func() { cancel(); inWrite.Close(); outRead.Close() })
	return c
}

var errFatal = errors.New("no such profile")

func (c *client) dial(owners []owner, at SessionState) (io.ReadWriteCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dials = append(c.dials, at)
	if c.refused != nil {
		return nil, c.refused
	}
	near, far := net.Pipe()
	go serve(far, owners[min(len(c.dials), len(owners))-1])
	return near, nil
}

func serve(conn net.Conn, o owner) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		m, _ := jsonrpc.Parse(line)
		answer := o(m)
		if answer == nil {
			return
		}
		if m.IsRequest() && len(answer) > 0 {
			conn.Write(answer)
		}
	}
}

// result answers a message.
func result(m jsonrpc.Message, value string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.RawID(), value)
}

// ok answers everything with the branch of the answer's own making.
func ok(m jsonrpc.Message) []byte { return result(m, `{}`) }

// dies ends the connection when it gets this method, and answers all else.
func dies(method string) owner {
	return func(m jsonrpc.Message) []byte {
		if m.Method == method {
			return nil
		}
		return ok(m)
	}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("read an answer: %v", err)
	}
	return strings.TrimSpace(line)
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.read(); !strings.Contains(got, want) {
		c.t.Errorf("got %s\nwant %s", got, want)
	}
}

// places are the states of the dials, of which none has a project.
func (c *client) places() string {
	type place struct {
		branch, namespace string
		families          []string
	}
	list := make([]place, len(c.dials))
	for i, at := range c.dials {
		list[i] = place{at.Branch, at.Namespace, at.Families}
		if at.Project != nil {
			c.t.Errorf("dial %d: got the project %q, want none", i, *at.Project)
		}
	}
	return fmt.Sprint(list)
}

// end closes the client's side and waits for the bridge.
func (c *client) end() error {
	c.in.Close()
	return <-c.ended
}

func TestMessagesPassBothWaysUnchanged(t *testing.T) {
	const value = `{"n":12345678901234567890.10,"s":"\u00e9","deep":[[{}]]}`
	c := start(t, func(m jsonrpc.Message) []byte { return result(m, string(m.Params.Of(m.Line))) })
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":%s}`, value)
	c.expect(`"result":` + value)
	if err := c.end(); err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
}

func TestARequestThatTheOwnerDiedOnIsSentToTheNext(t *testing.T) {
	var ids []string
	note := func(next owner) owner {
		return func(m jsonrpc.Message) []byte {
			if m.Method == "tools/call" {
				ids = append(ids, jsonrpc.Text(m.Field(m.Field(m.Params, "_meta"), requestID).Of(m.Line)))
			}
			return next(m)
		}
	}
	c := start(t, note(dies("tools/call")), note(ok))
	c.send(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"memory_store"}}`)
	c.expect(`"id":"a","result"`)
	c.end()
	if len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
		t.Errorf("the request ids were %q", ids)
	}
}

func TestANewOwnerIsToldWhoTheClientIsAndTheClientHearsNothingOfIt(t *testing.T) {
	var second []string
	c := start(t, dies("tools/call"), func(m jsonrpc.Message) []byte {
		second = append(second, m.Method)
		return ok(m)
	})
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"t"}}}`)
	c.expect(`"id":0`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
	c.expect(`"id":1`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2`)
	c.end()
	if got := strings.Join(second, " "); got != "initialize notifications/initialized tools/call ping" {
		t.Errorf("the second owner heard: %s", got)
	}
}

func TestAnOwnerThatDiesWhileItIsToldWhoTheClientIsIsReplaced(t *testing.T) {
	for name, dying := range map[string]owner{"at once": dies("initialize"), "a little later": dies("notifications/initialized")} {
		c := start(t, dies("tools/call"), dying, ok)
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"t"}}}`)
		c.expect(`"id":0`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		c.expect(`"id":1,"result"`)
		if err := c.end(); err != nil || len(c.dials) != 3 {
			t.Errorf("%s: the bridge ended with %v after %d dials", name, err, len(c.dials))
		}
	}
}

func TestOwnersThatAllDieWhenTheyAreToldWhoTheClientIsAreGivenUp(t *testing.T) {
	c := start(t, dies("tools/call"), dies("initialize"))
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"t"}}}`)
	c.expect(`"id":0`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
	c.expect(`introduce the client`)
	c.end()
}

// afterMove gives the places dialled, and the answer, when a session began, got an answer to a call, and lost its owner.
func afterMove(t *testing.T, initialize bool, answered string) (dials, answer string) {
	t.Helper()
	var began string
	c := start(t, func(m jsonrpc.Message) []byte {
		switch m.Method {
		case "ping":
			return nil
		case "initialize":
			began = string(m.Params.Of(m.Line))
		case "tools/call":
			return result(m, answered)
		}
		return ok(m)
	}, ok)
	if initialize {
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`)
		c.expect(`"id":0`)
		if want := `{"_meta":{"alcove/bridge":true},"capabilities":{}}`; began != want {
			t.Errorf("the owner is told %s, want %s", began, want)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whatever"}}`)
	answer = strings.TrimSuffix(strings.TrimPrefix(c.read(), `{"jsonrpc":"2.0","id":1,"result":`), "}")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2`)
	c.end()
	return c.places(), answer
}

func TestTheStateInAnAnswerIsKeptForTheNextOwnerAndFromTheClient(t *testing.T) {
	const state = `"alcove/session":{"branch":"idea","namespace":"n","families":["a","b"]}`
	const moved = "[{  []} {idea n [a b]}]"
	for _, c := range []struct{ name, answered, dials, answer string }{
		{"alone", `{"_meta":{` + state + `},"content":[]}`, moved, `{"content":[]}`},
		{"the last member", `{"content":[],"_meta":{` + state + `}}`, moved, `{"content":[]}`},
		{"in an error", `{"_meta":{` + state + `},"content":[],"isError":true}`, moved, `{"content":[],"isError":true}`},
		{"before others", `{"_meta":{` + state + `,"alcove/version":7},"content":[]}`, moved, `{"_meta":{"alcove/version":7},"content":[]}`},
		{"between others", `{"_meta":{"alcove/notes":[], ` + state + ` , "alcove/version":7}}`, moved, `{"_meta":{"alcove/notes":[] , "alcove/version":7}}`},
		{"after others", `{"_meta":{"alcove/notes":[],` + state + `}}`, moved, `{"_meta":{"alcove/notes":[]}}`},
		{"no families", `{"_meta":{"alcove/session":{"branch":"idea","namespace":"n","families":[]}}}`, "[{  []} {idea n []}]", `{}`},
		{"none", `{"_meta":{"alcove/version":7},"structuredContent":{"current":"idea"}}`, "[{  []} {  []}]", `{"_meta":{"alcove/version":7},"structuredContent":{"current":"idea"}}`},
		{"elsewhere", `{"structuredContent":{` + state + `}}`, "[{  []} {  []}]", `{"structuredContent":{` + state + `}}`},
		{"of a wrong type", `{"_meta":{"alcove/session":7}}`, "[{  []} {  []}]", `{"_meta":{"alcove/session":7}}`},
		{"null", `{"_meta":{"alcove/session":null}}`, "[{  []} {  []}]", `{"_meta":{"alcove/session":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dials, answer := afterMove(t, true, c.answered)
			if dials != c.dials || answer != c.answer {
				t.Errorf("dialled for %s, the client got %s; want %s, %s", dials, answer, c.dials, c.answer)
			}
		})
	}
}

func TestTheLatestStateIsKeptInWhateverOrderAnswersCome(t *testing.T) {
	n := 0
	c := start(t, func(m jsonrpc.Message) []byte {
		if m.Method == "ping" {
			return nil
		}
		n++
		return result(m, fmt.Sprintf(`{"_meta":{"alcove/session":{"branch":"b%d","namespace":"n","families":[],"changes":%d}}}`, n, max(0, 4-n)))
	}, func(m jsonrpc.Message) []byte {
		if m.Method == "die" {
			return nil
		}
		return result(m, `{"_meta":{"alcove/session":{"branch":"new","namespace":"n","families":[],"changes":1}}}`)
	}, ok)
	for id, method := range []string{"initialize", "tools/call", "tools/call", "ping", "tools/call", "die"} {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, id, method)
		c.expect(fmt.Sprintf(`"id":%d`, id))
	}
	c.end()
	if got := c.places(); got != "[{  []} {b2 n []} {new n []}]" {
		t.Errorf("dialled for %s", got)
	}
}

func TestTheStateOfAClientWithoutASessionIsNotKept(t *testing.T) {
	dials, answer := afterMove(t, false, `{"_meta":{"alcove/session":{"branch":"idea","namespace":"n","families":[]}}}`)
	if dials != "[{  []} {  []}]" || answer != "{}" {
		t.Errorf("dialled for %s, the client got %s", dials, answer)
	}
}

func TestARequestThatKillsEveryOwnerIsGivenUp(t *testing.T) {
	c := start(t, dies("bomb"))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"bomb"}`)
	c.expect("stopped each time")
	if len(c.dials) > sendLimit+2 {
		t.Errorf("%d owners died of it", len(c.dials))
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2,"result"`)
	c.end()
}

func TestWithoutAnOwnerRequestsAreAnsweredWithTheReason(t *testing.T) {
	c := start(t, dies("bomb"))
	c.refuse(errors.New("the disk is on fire"))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	for got := c.read(); !strings.Contains(got, "the disk is on fire"); got = c.read() {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"bomb"}`) // the first owner was faster than the fire
	}
	c.refuse(nil)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2,"result"`)
	c.end()
}

// refuse makes Dial fail, or work again, and ends what was connected by asking for it.
func (c *client) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = err
}

func TestARefusedSessionEndsTheBridge(t *testing.T) {
	inRead, inWrite := io.Pipe()
	defer inWrite.Close()
	err := Run(t.Context(), Options{In: inRead, Out: io.Discard,
		Dial:  func(context.Context, SessionState) (io.ReadWriteCloser, error) { return nil, errFatal },
		Fatal: func(err error) bool { return errors.Is(err, errFatal) }})
	if !errors.Is(err, errFatal) {
		t.Errorf("got %v", err)
	}
}

func TestAnswersAreDrainedWhenTheClientLeaves(t *testing.T) {
	release := make(chan struct{})
	c := start(t, func(m jsonrpc.Message) []byte { <-release; return ok(m) })
	go func() {
		for id := range 20 {
			c.send(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id)
			if id == 0 {
				close(release)
			}
		}
		c.in.Close()
	}()
	seen := 0
	for {
		if _, err := c.out.ReadString('\n'); err != nil {
			break
		}
		seen++
	}
	if err := <-c.ended; err != nil || seen != 20 {
		t.Errorf("%d answers, %v", seen, err)
	}
}

func TestALongLivedSubscriptionDoesNotHoldUpTheEnd(t *testing.T) {
	c := start(t, func(m jsonrpc.Message) []byte {
		if m.Method == "subscriptions/listen" {
			return []byte{}
		}
		return ok(m)
	})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.expect(`"id":2`)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestACancelledRequestIsNotSentAgain(t *testing.T) {
	var second []string
	c := start(t, func(m jsonrpc.Message) []byte {
		switch m.Method {
		case "slow":
			return []byte{}
		case "die":
			return nil
		}
		return ok(m)
	}, func(m jsonrpc.Message) []byte { second = append(second, m.Method); return ok(m) })
	c.send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"die"}`)
	c.expect(`"id":2`)
	c.end()
	if fmt.Sprint(second) != "[die]" {
		t.Errorf("the second owner heard %v", second)
	}
}

func TestLinesThatAreNoRequestsAreAnsweredWithWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,`:                       "not valid JSON",
		`[{"id":1,"method":"ping"}]`:     "no batches",
		`"hello"`:                        "not a JSON object",
		strings.Repeat("x", LineLimit+1): "longer than 16777216 bytes",
	} {
		c := start(t, ok)
		go fmt.Fprintf(c.in, "%s\n", line)
		c.expect(want)
		c.cancel()
	}
}

func TestTooManyRequestsAtOnceAreRefused(t *testing.T) {
	c := start(t, func(m jsonrpc.Message) []byte { return []byte{} })
	go func() {
		for id := range pendingLimit + 1 {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id)
		}
	}()
	c.expect("more than 1024 requests")
}

func TestAnIDThatIsStillInUseIsRefused(t *testing.T) {
	c := start(t, func(m jsonrpc.Message) []byte { return []byte{} })
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.send(`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`)
	c.expect("use each id once")
}

func TestManyRequestsAcrossManyDeathsAreEachAnsweredOnce(t *testing.T) {
	count := 0
	var mu sync.Mutex
	c := start(t, func(m jsonrpc.Message) []byte {
		mu.Lock()
		defer mu.Unlock()
		if count++; count%50 == 0 {
			return nil
		}
		return ok(m)
	})
	const requests = 1000
	go func() {
		for id := range requests {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id)
		}
		c.in.Close()
	}()
	seen := map[int]int{}
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			break
		}
		var answer struct {
			ID    int
			Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Error != nil && !strings.Contains(line, "stopped each time") {
			t.Errorf("answer %s (%v), want a result, or the error that it stopped each time", line, err)
		}
		seen[answer.ID]++
	}
	for id := range requests {
		if seen[id] != 1 {
			t.Errorf("request %d was answered %d times", id, seen[id])
		}
	}
}
