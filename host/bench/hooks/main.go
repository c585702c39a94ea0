// Command hooks measures what "alcove hook" takes beyond the server's own time, at the start of sessions and at prompts.
//
//	go build -o bin/alcove ./cmd/alcove && go run ./host/bench/hooks -memories 100000 -runs 300
//
// Each run asks the server as the hook does, over a connection that is open, and then runs the hook as a client does. The difference is what
// the hook takes beyond the server: the start of its process, its connection, its journal and its answer. Beside it stands how long the
// program takes to do nothing, in the same run: on a busy machine all of them grow.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/sdk/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := bench{}
	flag.StringVar(&b.program, "alcove", "bin/alcove", "the program")
	flag.IntVar(&b.memories, "memories", 100_000, "memories of the project")
	flag.IntVar(&b.runs, "runs", 300, "hooks of each event")
	flag.Parse()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hooks:", err)
		os.Exit(1)
	}
}

const namespace = "project/acme/bench"

// bench is a measurement.
type bench struct {
	program        string
	memories, runs int

	dir   string // of the data
	texts []string
	asked time.Duration // by the hook in hand
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "alcove-hooks-")
	if err != nil {
		return err
	}
	b.dir = filepath.Join(home, "data")
	defer func() {
		_, stopped := b.alcove(context.Background(), "", "stop")
		err = errors.Join(err, stopped, os.RemoveAll(home))
	}()
	if _, err := b.alcove(ctx, "", "status"); err != nil { // starts the server
		return err
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "ms, of %d\thook p50\tp99\tserver p50\tp99\tbeyond p50\tp99\tCPU p50\tp99\tnothing p50\tp99\n", b.runs)
	for _, e := range []hook.Event{hook.UserPrompt, hook.SessionStart} {
		if err := b.measure(ctx, e, w); err != nil {
			return err
		}
	}
	return w.Flush()
}

// alcove runs the program.
func (b *bench) alcove(ctx context.Context, in string, args ...string) (*os.ProcessState, error) {
	c := exec.CommandContext(ctx, b.program, append(args, "--data", b.dir)...)
	c.Env = append(os.Environ(), "ALCOVE_LISTEN=off")
	c.Stdin = strings.NewReader(in)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("alcove %s: %w: %s", args[0], err, said.String())
	}
	return c.ProcessState, nil
}

// load stores memories, of which every hundredth is a decision.
func (b *bench) load(ctx context.Context) error {
	acts := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, b.dir) })
	defer acts.Close()
	texts := measure.NewTexts(1)
	for done := 0; done < b.memories; {
		var batch []operator.Memory
		for range min(500, b.memories-done) {
			text := texts.Text(10, 40)
			value, err := json.Marshal(text)
			if err != nil {
				return err
			}
			m := operator.Memory{Namespace: namespace, Key: fmt.Sprintf("m/%06d", done), Value: value}
			if done%100 == 0 {
				m.Type = "decision"
				b.texts = append(b.texts, text)
			}
			batch = append(batch, m)
			done++
		}
		if _, err := operator.Call(ctx, acts, operator.Import, operator.ImportRequest{Memories: batch}); err != nil {
			return fmt.Errorf("store %d memories: %w", b.memories, err)
		}
	}
	return nil
}

// measure runs the hooks of an event, and prints a line.
func (b *bench) measure(ctx context.Context, e hook.Event, w *tabwriter.Writer) error {
	h, end, err := b.asking(ctx)
	if err != nil {
		return err
	}
	defer end()
	var whole, server, beyond, cpu, nothing []time.Duration
	for i := range b.runs {
		prompt := "please look at this: " + firstWords(b.texts[i%len(b.texts)], 8)
		b.asked = 0
		if _, err := h.Answer(ctx, hook.Message{Client: hook.ClaudeCode, Event: e, Session: fmt.Sprint("asks ", e, i), Prompt: prompt}); err != nil {
			return err
		}
		message := fmt.Sprintf(`{"session_id":"runs %s %d","cwd":"/nowhere","prompt":%q}`, e, i, prompt)
		began := time.Now()
		state, err := b.alcove(ctx, message, "hook", string(e), "--client", string(hook.ClaudeCode), "--namespace", namespace)
		if err != nil {
			return err
		}
		took := time.Since(began)
		whole, server, beyond = append(whole, took), append(server, b.asked), append(beyond, took-b.asked)
		cpu = append(cpu, state.UserTime()+state.SystemTime())
		began = time.Now()
		if _, err := b.alcove(ctx, "", "version"); err != nil {
			return err
		}
		nothing = append(nothing, time.Since(began))
	}
	_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e, spread(whole), spread(server), spread(beyond), spread(cpu), spread(nothing))
	return err
}

// asking is a hook that asks over an open connection, and counts how long the server takes.
func (b *bench) asking(ctx context.Context) (h hook.Hook, end func(), err error) {
	dial := func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return owner.Dial(ctx, owner.Options{Dir: b.dir, Hello: owner.Hello{Agent: string(hook.ClaudeCode)}})
	}
	s, err := client.NewSession(ctx, bridge.Connect(ctx, dial), client.Program{Name: "bench"})
	if err != nil {
		return h, nil, err
	}
	ask := func(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
		began := time.Now()
		r, err := s.Call(ctx, tool, arguments)
		b.asked += time.Since(began)
		return r.Structured, err
	}
	journal := &hook.Journal{Dir: filepath.Join(filepath.Dir(b.dir), "asks"), Clock: time.Now}
	return hook.Hook{Ask: ask, Journal: journal, Clock: time.Now, Options: hook.Options{Namespace: namespace}}, func() { _ = s.Close() }, nil
}

func firstWords(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(n, len(words))], " ")
}

func spread(times []time.Duration) string {
	slices.Sort(times)
	at := func(part float64) float64 {
		return float64(times[min(int(part*float64(len(times))), len(times)-1)].Microseconds()) / 1e3
	}
	return fmt.Sprintf("%.1f\t%.1f", at(.5), at(.99))
}
