package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is how many of /proc's units of CPU time are a second, on every Linux that Go runs on.
const ticks = 100

// caller sends one request and gives its answer.
type caller func(request []byte) ([]byte, error)

// run starts a build on a new data directory, makes the calls and measures them.
func run(ctx context.Context, binary string, o options) (m measurement, err error) {
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	f := figures{}
	m = measurement{f, map[string]string{}}
	if err := coldStart(ctx, binary, filepath.Join(dir, "cold"), f); err != nil {
		return m, err
	}
	s, err := start(ctx, binary, filepath.Join(dir, "data"))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	stdio, end, err := s.stdio(ctx)
	if err != nil {
		return m, err
	}
	defer end()
	if f["memory, idle (MiB)"], err = s.memory("VmRSS:"); err != nil {
		return m, err
	}
	if err := s.fill(stdio, o.memories); err != nil {
		return m, err
	}
	for _, front := range []struct {
		name string
		call caller
	}{{"stdio", stdio}, {"http", s.post}} {
		if err := s.measure(ctx, front.name, front.call, o.calls, m); err != nil {
			return m, fmt.Errorf("%s: %w", front.name, err)
		}
	}
	if f["memory, after the calls (MiB)"], err = s.memory("VmRSS:"); err != nil {
		return m, err
	}
	if f["memory, peak (MiB)"], err = s.memory("VmHWM:"); err != nil {
		return m, err
	}
	return m, s.measureFamilies(ctx, stdio, o.calls, o.family, m)
}

// coldStart measures from the start of a client's process in an empty directory to the first answer.
func coldStart(ctx context.Context, binary, dir string, f figures) error {
	began := time.Now()
	s, err := start(ctx, binary, dir)
	if err != nil {
		return err
	}
	_, end, err := s.stdio(ctx)
	if err == nil {
		f["cold start to first answer (ms)"] = ms(time.Since(began))
		end()
	}
	return errors.Join(err, s.stop())
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// server is a running build.
type server struct {
	binary, dir string
	command     *exec.Cmd
	url, token  string
	asked       int // requests so far
}

func start(ctx context.Context, binary, dir string) (*server, error) {
	s := &server{binary: binary, dir: dir}
	s.command = exec.CommandContext(ctx, binary, "serve", "--data", dir, "--listen", "127.0.0.1:0")
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for range 2000 {
		var record struct {
			HTTP string `json:"http"`
		}
		data, err := os.ReadFile(filepath.Join(dir, "owner.json"))
		if err == nil && json.Unmarshal(data, &record) == nil && record.HTTP != "" {
			token, err := os.ReadFile(filepath.Join(dir, "token"))
			s.url, s.token = "http://"+record.HTTP+"/mcp", strings.TrimSpace(string(token))
			return s, err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server did not start"), s.stop())
}

func (s *server) stop() error {
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.command.Wait()
}

// stdio starts a client's bridge and makes the protocol's handshake.
func (s *server) stdio(ctx context.Context) (caller, func(), error) {
	bridge := exec.CommandContext(ctx, s.binary, "mcp", "--data", s.dir)
	in, err := bridge.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := bridge.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := bridge.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReaderSize(out, 1<<20)
	call := func(request []byte) ([]byte, error) {
		if _, err := in.Write(append(request, '\n')); err != nil {
			return nil, err
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil || bytes.Contains(line, []byte(`"id":`)) { // else a notification
				return line, err
			}
		}
	}
	end := func() {
		in.Close()
		bridge.Wait() // its exit says nothing about the calls, which were checked
	}
	_, err = call([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"pairs","version":"1"}}}`))
	if err == nil {
		_, err = in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	}
	return call, end, err
}

// post sends a request of the stateless protocol.
func (s *server) post(body []byte) ([]byte, error) {
	var call map[string]any
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, err
	}
	params, _ := call["params"].(map[string]any)
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "pairs", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	body, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	tool, _ := params["name"].(string)
	for name, value := range map[string]string{"Authorization": "Bearer " + s.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// measure makes calls of each kind, and notes the median latency and the server's CPU time per call.
func (s *server) measure(ctx context.Context, front string, call caller, calls int, m measurement) error {
	for _, kind := range []struct {
		name, tool string
		arguments  func(n int) map[string]any
	}{
		{"store", "memory_store", func(n int) map[string]any {
			return map[string]any{"key": fmt.Sprintf("%s/note-%d", front, n), "value": fmt.Sprintf("Note %d: tea grows in rows on hill %d, and the %s pot holds it.", n, n%17, front), "tags": []string{"tea", fmt.Sprint("hill", n%17)}}
		}},
		{"recall", "memory_recall", func(n int) map[string]any { return map[string]any{"key": fmt.Sprintf("%s/note-%d", front, n)} }},
		{"search", "memory_search", func(n int) map[string]any {
			return map[string]any{"query": fmt.Sprintf("which tea grows on hill %d", n%17)}
		}},
		{"load by intent", "memory_load_family", func(n int) map[string]any {
			return map[string]any{"intent": []string{"tag my notes", "who works on what", "plan what to do next"}[n%3]}
		}},
		{"family call", "memory_suggest_tags", func(n int) map[string]any { return map[string]any{"text": fmt.Sprintf("tea from hill %d", n%17)} }},
	} {
		if kind.name == "family call" { // the first loads the family
			if err := s.load(ctx, call, kind.tool, kind.arguments(0)); err != nil {
				m.missing[kind.name+", "+front] = err.Error()
				continue
			}
		}
		kindFigures := figures{}
		err := s.timed("", calls, kindFigures, func(n int) error {
			_, err := s.one(call, kind.tool, kind.arguments(n))
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		m.figures[kind.name+", "+front+", p50 (ms)"] = kindFigures[", p50 (ms)"]
		m.figures[kind.name+", "+front+", CPU of the server (ms)"] = kindFigures[", CPU of the server (ms)"]
		m.figures["all calls, CPU of the server (ms)"] += kindFigures[", CPU of the server (ms)"] * float64(calls)
	}
	return nil
}

// fill stores memories that no call asks for, 100 at once.
func (s *server) fill(call caller, memories int) error {
	const batch = 100
	for from := 0; from < memories; from += batch {
		items := make([]map[string]any, 0, batch)
		for n := from; n < min(memories, from+batch); n++ {
			items = append(items, map[string]any{"key": fmt.Sprintf("filling/%d", n), "value": fmt.Sprintf("Entry %d: the ferry to island %d leaves from pier %d, on hill or shore.", n, n%997, n%31)})
		}
		if _, err := s.one(call, "memory_store", map[string]any{"items": items}); err != nil {
			return fmt.Errorf("fill the server: %w", err)
		}
	}
	return nil
}

// one calls a tool.
func (s *server) one(call caller, tool string, arguments map[string]any) ([]byte, error) {
	s.asked++
	body, err := request(s.asked, tool, arguments)
	if err != nil {
		return nil, err
	}
	answer, err := call(body)
	if err != nil {
		return nil, err
	}
	return answer, checkAnswer(answer)
}

// cpu is the user and system time that the server has used.
func (s *server) cpu() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	system, other := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticks, errors.Join(err, other)
}

// memory is what a line of the server's status says, in MiB: VmRSS is what it holds, VmHWM the most that it has held.
func (s *server) memory(line string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(data), line)
	if !found {
		return 0, syscall.ENOTSUP
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err
}
