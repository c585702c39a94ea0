package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// asAttacker makes the test binary attack a server: it has the attack as JSON.
const asAttacker = "ALCOVE_TEST_ATTACK"

// attack is what a process does to a server, from one processor.
type attack struct {
	HTTP, Socket string
	Connections  int               // that are opened and held
	Slow         int               // peers that send a byte now and then
	Rounds       int               // of each of the other attacks; 0: as long as Lasting
	Lasting      time.Duration     // of the connections and the slow peers
	Keys         map[string]string // that must be refused, by what is wrong with them
	Valid        string            // a key with which frames are sent
	Token        string            // which requests to another host have
}

// outcomes counts what became of attacks.
type outcomes struct {
	mu     sync.Mutex
	Counts map[string]int
}

func (o *outcomes) add(format string, values ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Counts[fmt.Sprintf(format, values...)]++
}

// attacker carries out an attack.
type attacker struct {
	attack
	outcomes
	until time.Time
}

// runAttacker attacks, and writes the outcomes to standard output.
func runAttacker(config string) int {
	a := &attacker{outcomes: outcomes{Counts: map[string]int{}}}
	if err := json.Unmarshal([]byte(config), &a.attack); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	a.until = time.Now().Add(a.Lasting)
	var all sync.WaitGroup
	for i := range a.Connections {
		all.Go(func() { a.hold(i) })
	}
	for i := range a.Slow {
		all.Go(func() { a.dawdle(i) })
	}
	for _, repeat := range []func(){a.rebind, a.forge, a.frame} {
		all.Go(func() {
			for n := 0; n < a.Rounds || a.Rounds == 0 && time.Now().Before(a.until); n++ {
				repeat()
			}
		})
	}
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(a.Counts)
	return 0
}

// dial connects to HTTP or to the socket, in turn.
func (a *attacker) dial(i int) (net.Conn, string, error) {
	if i%2 == 0 {
		conn, err := net.Dial("tcp", a.HTTP)
		return conn, "http", err
	}
	conn, err := net.Dial("unix", a.Socket)
	return conn, "socket", err
}

// hold opens a connection and says nothing.
func (a *attacker) hold(i int) {
	conn, kind, err := a.dial(i)
	if err != nil {
		a.add("idle %s connection: not accepted", kind)
		return
	}
	defer conn.Close()
	conn.SetDeadline(a.until)
	a.add("idle %s connection: %s", kind, ending(conn))
}

// ending waits for the end of a connection, and returns what was said.
func ending(conn net.Conn) string {
	said, err := io.ReadAll(io.LimitReader(conn, 64<<10))
	timeout, _ := err.(net.Error)
	switch {
	case strings.Contains(string(said), `"exhausted"`):
		return "closed with the reason"
	case strings.Contains(string(said), `"error"`) || strings.Contains(string(said), " 408 ") || strings.Contains(string(said), " 400 "):
		return "refused"
	case len(said) > 0:
		return "answered"
	case timeout != nil && timeout.Timeout():
		return "left open"
	default:
		return "closed"
	}
}

// dawdle sends a byte now and then: of a header, or of a hello.
func (a *attacker) dawdle(i int) {
	conn, kind, err := a.dial(i)
	if err != nil {
		a.add("slow %s peer: not accepted", kind)
		return
	}
	defer conn.Close()
	conn.SetDeadline(a.until)
	begin := `{"alcove":1,"agent":"`
	if kind == "http" {
		begin = "POST /operation HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
	}
	ended := make(chan string, 1)
	go func() { ended <- ending(conn) }()
	_, err = io.WriteString(conn, begin)
	for err == nil && time.Now().Before(a.until) {
		time.Sleep(50 * time.Millisecond)
		_, err = io.WriteString(conn, "x")
	}
	a.add("slow %s peer: %s", kind, <-ended)
}

// client is an HTTP client whose connections are its own.
func (a *attacker) send(key string, edit func(*http.Request)) (status int, body string) {
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: stopWithin}
	r, err := http.NewRequest(http.MethodPost, "http://"+a.HTTP+"/operation", strings.NewReader(`{"method":"status"}`))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+key)
	edit(r)
	answer, err := web.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// rebind sends what a browser sends whose page has pointed its own name, or a foreign one, to this machine.
func (a *attacker) rebind() {
	for what, edit := range map[string]func(*http.Request){
		"another host":   func(r *http.Request) { r.Host = "evil.example:9742" },
		"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		status, body := a.send(a.Token, edit)
		a.add("%s: %s", what, verdict(status, body, http.StatusForbidden))
	}
}

// verdict is what became of a request that must be refused.
func verdict(status int, body string, due int) string {
	switch {
	case status == due && strings.Contains(body, `"denied"`):
		return "refused"
	case status == http.StatusServiceUnavailable && strings.Contains(body, `"exhausted"`):
		return "turned away, as there are too many"
	case status == 0:
		return "no answer"
	default:
		return fmt.Sprintf("answered %d %.100s", status, body)
	}
}

// forge presents keys that are no good.
func (a *attacker) forge() {
	for what, key := range a.Keys {
		status, body := a.send(key, func(*http.Request) {})
		a.add("a key that is %s, over http: %s", what, verdict(status, body, http.StatusUnauthorized))
		for _, protocol := range []string{"mcp", "operations"} {
			_, welcome := a.greet(protocol, key)
			if welcome == "" {
				a.add("a key that is %s, on the socket: no answer", what)
			} else if strings.Contains(welcome, `"denied"`) {
				a.add("a key that is %s, on the socket: refused", what)
			} else {
				a.add("a key that is %s, on the socket: answered %.100s", what, welcome)
			}
		}
	}
}

// greet says hello. The connection is nil unless the client is welcome.
func (a *attacker) greet(protocol, key string) (net.Conn, string) {
	conn, err := net.Dial("unix", a.Socket)
	if err != nil {
		return nil, ""
	}
	conn.SetDeadline(time.Now().Add(stopWithin))
	fmt.Fprintf(conn, `{"alcove":1,"protocol":%q,"key":%q}`+"\n", protocol, key)
	welcome, _ := bufio.NewReader(conn).ReadString('\n')
	if !strings.Contains(welcome, `"pid"`) {
		conn.Close()
		return nil, welcome
	}
	return conn, welcome
}

// frame sends half frames and oversized ones with a key that is good, and the same write again and again.
func (a *attacker) frame() {
	for what, sent := range map[string]string{
		"half a frame":    `{"id":1,"method":"store","params":{"key":"half","value":`,
		"a frame too big": `{"id":1,"method":"store","params":{"key":"big","value":"` + strings.Repeat("x", 17<<20) + `"}}` + "\n",
		"a replay":        strings.Repeat(`{"id":1,"method":"log","params":{"event":"replayed","data":1},"metadata":{"request_id":"replayed"}}`+"\n", 20),
	} {
		conn, _ := a.greet("operations", a.Valid)
		if conn == nil {
			a.add("%s: not welcome", what)
			continue
		}
		go func() {
			io.WriteString(conn, sent)
			conn.(*net.UnixConn).CloseWrite()
		}()
		said, _ := io.ReadAll(conn)
		conn.Close()
		a.add("%s: %s", what, frameVerdict(what, string(said)))
	}
}

func frameVerdict(what, said string) string {
	switch {
	case said == "":
		return "no answer"
	case what == "half a frame" && strings.Contains(said, "not valid JSON"), what == "a frame too big" && strings.Contains(said, "is longer than"):
		return "refused"
	case what == "a replay" && strings.Count(said, `"sequence":`) == 20:
		return "answered alike"
	default:
		return fmt.Sprintf("answered %.200s", said)
	}
}
