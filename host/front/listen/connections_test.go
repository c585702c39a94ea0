package listen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// dialHTTP connects to a server and sends text, which may be half a request.
func dialHTTP(t *testing.T, url, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(await.Deadline())
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

const unfinishedBody = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nContent-Length: 1000\r\n\r\n{"

func TestAWrongTokenIsAnsweredWithoutReadingTheBody(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) {
		h.Routes["/mcp"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was served") })
	})
	for name, text := range map[string]string{
		"unfinished":       unfinishedBody,
		"of any length":    strings.Replace(unfinishedBody, "Content-Length: 1000", "Transfer-Encoding: chunked", 1),
		"much too long":    strings.Replace(unfinishedBody, "Content-Length: 1000", "Content-Length: 99999999999", 1),
		"to nowhere":       strings.Replace(unfinishedBody, "/mcp", "/nowhere", 1),
		"for another host": strings.Replace(unfinishedBody, "localhost", "evil.example", 1),
		"to the health":    strings.Replace(unfinishedBody, "POST /mcp", "GET /healthz", 1),
	} {
		all, err := io.ReadAll(dialHTTP(t, url, text)) // which ends because the server closes the connection
		if err != nil && !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix(string(all), "HTTP/1.1 ") || !strings.Contains(string(all), "Connection: close") {
			t.Errorf("%s: answered %q, %v", name, all, err)
		}
	}
}

func TestASmallBodyWithAWrongTokenDoesNotHideTheAnswer(t *testing.T) {
	url := newHTTP(t, nil) + "/mcp"
	for range 50 {
		if got, text := request(t, "POST", url, strings.Repeat("x", 100<<10), withToken("Bearer wrong")); got != 401 {
			t.Fatalf("answered %d %s", got, text)
		}
	}
}

func TestConnectionsWithoutATokenMakeRoomForNewOnes(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) { h.Limit = ConnectionLimit{Connections: 16, Unidentified: 4} })
	oldest := dialHTTP(t, url, "")
	var rest []net.Conn
	for i := range 20 {
		rest = append(rest, dialHTTP(t, url, []string{"", "POST /mcp HTTP/1.1\r\nHost:", unfinishedBody}[i%3]))
	}
	answer, err := io.ReadAll(oldest)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503") || !strings.Contains(string(answer), "4 connections are open whose peers have not said who they are") {
		t.Errorf("the oldest is told %q, %v", answer, err)
	}
	if got, text := request(t, "POST", url+"/mcp", "hi", withToken("Bearer "+testToken)); got != 200 || text != "hi" {
		t.Errorf("a client with the token is answered %d %s", got, text)
	}
	for _, conn := range rest {
		conn.Close()
	}
}

// held is a connection over which one request was answered, that stays open.
func held(t *testing.T, url string) (conn net.Conn, r *bufio.Reader) {
	t.Helper()
	conn = dialHTTP(t, url, "")
	r = bufio.NewReader(conn)
	if status, err := ask(conn, r); err != nil || status != 200 {
		t.Fatalf("answered %d, %v", status, err)
	}
	return conn, r
}

func ask(conn net.Conn, r *bufio.Reader) (status int, err error) {
	if _, err := io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+testToken+"\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func TestClientsWithATokenStayWhateverOthersOpen(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) { h.Limit = ConnectionLimit{Connections: 16, Unidentified: 4} })
	conn, r := held(t, url)
	for range 100 {
		dialHTTP(t, url, "GET")
	}
	if status, err := ask(conn, r); err != nil || status != 200 {
		t.Errorf("answered %d, %v", status, err)
	}
}

func TestAnIdleConnectionMakesRoomForANewOne(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) { h.Limit = ConnectionLimit{Connections: 4, Unidentified: 2} })
	ended := make(chan error, 4)
	for range 4 {
		conn, _ := held(t, url)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			ended <- err
		}()
	}
	held(t, url) // which is answered, although there were as many as there may be
	if err := await.Value(t, "an idle connection is closed", ended); !errors.Is(err, io.EOF) {
		t.Errorf("the one that made room: %v", err)
	}
}

func TestMoreHTTPConnectionsThanTheLimitAreToldSo(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 4)
	url := newHTTP(t, func(h *HTTP) {
		h.Limit = ConnectionLimit{Connections: 4, Unidentified: 4}
		h.Routes["/mcp"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-release })
	})
	var serving sync.WaitGroup
	defer serving.Wait()
	defer close(release)
	for range 4 {
		conn := dialHTTP(t, url, "")
		serving.Go(func() {
			if status, err := ask(conn, bufio.NewReader(conn)); err != nil || status != 200 {
				t.Errorf("a client that was served is answered %d, %v", status, err)
			}
		})
		<-begun
	}
	answer, err := io.ReadAll(dialHTTP(t, url, ""))
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503") || !strings.Contains(string(answer), "4 clients are connected, which is the limit") || !strings.Contains(string(answer), "ulimit") {
		t.Errorf("one more is told %q, %v", answer, err)
	}
}

func TestConnectionsThatNeverSayHelloMakeRoomForNewOnes(t *testing.T) {
	path, _ := newSocket(t, Socket{Limit: ConnectionLimit{Connections: 8, Unidentified: 4}})
	known := connect(t, path, owner.Hello{})
	var silent []net.Conn
	for i := range 50 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, []string{"", `{"alcove":1`}[i%2])
		silent = append(silent, conn)
	}
	say(t, connect(t, path, owner.Hello{}), "a new client is served")
	say(t, known, "the one before, too")
	silent[0].SetDeadline(await.Deadline())
	answer, err := io.ReadAll(silent[0])
	if err != nil || !strings.Contains(string(answer), "4 connections are open whose peers have not said who they are") || !strings.Contains(string(answer), `"retryable":true`) {
		t.Errorf("the oldest is told %s, %v", answer, err)
	}
}

func TestDescriptorsStayForTheStore(t *testing.T) {
	for n, want := range map[int][2]int{24: {8, 4}, 64: {22, 10}, 256: {128, 64}, 1024: {512, 256}, 4096: {1024, 1024}, 1 << 30: {1024, 1024}} {
		socket, http := share(n)
		if got := [2]int{socket.Connections, http.Connections}; got != want {
			t.Errorf("of %d: %v, not %v", n, got, want)
		}
		if n-socket.Connections-http.Connections < n/4 || socket.Unidentified >= socket.Connections || http.Unidentified >= http.Connections {
			t.Errorf("of %d: %+v and %+v", n, socket, http)
		}
	}
	if n := Descriptors(); n < 64 {
		t.Errorf("this process may open %d files", n)
	}
}

// failing is a listener whose first accepts fail.
type failing struct {
	net.Listener
	failures int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.failures--; f.failures >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: syscall.EMFILE}
	}
	client, server := net.Pipe()
	client.Close()
	return server, nil
}

func (f *failing) Addr() net.Addr { return &net.UnixAddr{Name: "s", Net: "unix"} }

func TestAcceptingGoesOnAfterFailuresWithoutSpinning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		g := newGate(&failing{failures: 250}, ConnectionLimit{4, 2}, slog.New(slog.NewTextHandler(&log, nil)), refuseOne)
		began := time.Now()
		conn, err := g.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if paused := time.Since(began); paused != 250*acceptPause {
			t.Errorf("it paused for %v", paused)
		}
		if n := strings.Count(log.String(), "\n"); n != 3 {
			t.Errorf("%d lines were logged: %s", n, log.String())
		}
	})
}

func TestAClientThatTakesNoAnswerIsCutOff(t *testing.T) {
	ended := make(chan error, 1)
	deadlines := make(chan time.Time, 10_000)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 1<<20))
		}
		ended <- err
	})
	h := withPartDeadlines(next)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&earlyDeadline{w, deadlines}, r)
	})}
	go server.Serve(l)
	defer server.Close()
	dialHTTP(t, "http://"+l.Addr().String(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	await.Value(t, "the answer ends", ended)
	if at := time.Until(<-deadlines); at < writeWithin/2 || at > writeWithin {
		t.Errorf("the deadline of a write is in %v", at)
	}
}

// earlyDeadline notes deadlines, and makes them come at once.
type earlyDeadline struct {
	http.ResponseWriter
	set chan time.Time
}

func (e *earlyDeadline) SetWriteDeadline(at time.Time) error {
	e.set <- at
	return http.NewResponseController(e.ResponseWriter).SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
}

func TestManyClientsThatBeginAtOnceAreAllServed(t *testing.T) {
	url := newHTTP(t, func(h *HTTP) { h.Limit = ConnectionLimit{Connections: 64, Unidentified: 32} })
	path, _ := newSocket(t, Socket{Limit: ConnectionLimit{Connections: 64, Unidentified: 32}})
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			conn := dialHTTP(t, url, "")
			if status, err := ask(conn, bufio.NewReader(conn)); err != nil || status != 200 {
				t.Errorf("over HTTP: %d, %v", status, err)
			}
		})
		all.Go(func() {
			c, err := owner.Connect(context.Background(), path, owner.Hello{})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "%d\n", i)
			if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != fmt.Sprintf("%d\n", i) {
				t.Errorf("on the socket: %q, %v", line, err)
			}
		})
	}
	all.Wait()
}

func TestRequestsThatLastAreNotCounted(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var h *HTTP
	newHTTP(t, func(made *HTTP) {
		h = made
		h.Lasting = map[string]http.Handler{"/stream": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			entered <- struct{}{}
			<-leave
		})}
	})
	handler := h.handler()
	ask := func(path, token string) int {
		r := httptest.NewRequest("POST", "http://127.0.0.1"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	var lasting sync.WaitGroup
	for range httpClients + 10 {
		lasting.Go(func() { ask("/stream", testToken) })
	}
	for range httpClients + 10 {
		<-entered
	}
	if got := ask("/mcp", testToken); got != http.StatusOK {
		t.Errorf("a request beside them is answered with %d", got)
	}
	if got := ask("/stream", "forged"); got != http.StatusUnauthorized {
		t.Errorf("one without the token is answered with %d", got)
	}
	close(leave)
	lasting.Wait()
}

func TestStreamsHaveAPartOfTheDescriptors(t *testing.T) {
	for _, files := range []int{16, 64, 256, 1024, 4096, 1 << 20} {
		socket, http := share(files)
		streams := Streams(files)
		if all := socket.Connections + http.Connections + streams; streams < 2 || files >= 64 && all > files-files/8 {
			t.Errorf("of %d files %d are for streams, %d in all", files, streams, all)
		}
	}
}
