package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

// directory is the data directory of a server that runs.
var directory string

// TestMain serves a data directory to the examples.
func TestMain(m *testing.M) {
	code, err := served(m.Run)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func served(run func() int) (code int, err error) {
	if directory, err = os.MkdirTemp("", "alcove-examples"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(directory)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	h, err := host.Open(ctx, host.Options{Dir: directory, Version: "test"})
	if err != nil {
		return 1, err
	}
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: "127.0.0.1:0", Started: func(owner.Record) { close(started) }})
	}()
	select {
	case <-started:
		code = run()
	case err := <-ended:
		return 1, errors.Join(err, h.Close())
	}
	stop()
	return code, errors.Join(<-ended, h.Close())
}

func Example() {
	ctx := context.Background()
	memory, err := client.Dial(ctx, directory, client.Options{Agent: "examples", Namespace: "examples"})
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	if _, err := memory.Store(ctx, client.Memory{Key: "editor", Value: "vim", Tags: []string{"tools"}}); err != nil {
		log.Fatal(err)
	}
	m, err := memory.Recall(ctx, "editor")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s by %s\n", m.Value, m.Agent)
	hits, err := memory.Search(ctx, "vim", 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(hits), hits[0].Key)
	_, err = memory.Recall(ctx, "no such key")
	fmt.Println(client.CodeOf(err))
	// Output:
	// "vim" by examples
	// 1 editor
	// E_NOT_FOUND
}

func ExampleClient_Batch() {
	ctx := context.Background()
	memory, err := client.Dial(ctx, directory, client.Options{Namespace: "batch"})
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	answers, err := memory.Batch(ctx,
		client.Operation{Method: "store", Params: map[string]any{"key": "a", "value": 1}},
		client.Operation{Method: "no_such_tool"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers[0].Err == nil, answers[1].Err.Code)
	// Output: true E_NOT_FOUND
}

func ExampleClient_Do() {
	ctx := context.Background()
	memory, err := client.Dial(ctx, directory, client.Options{Namespace: "chain"})
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Close()
	if _, err := memory.Store(ctx, client.Memory{Key: "tea", Value: "green"}); err != nil {
		log.Fatal(err)
	}
	// The second step uses a part of the first result.
	answer, err := memory.Do(ctx, client.Operation{
		Method: "search", Params: map[string]any{"query": "green"},
		Then: []client.Operation{{Method: "recall", Params: map[string]any{"key": client.Result("/results/0/key")}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	var found client.Stored
	if err := answer.Decode(&found); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s\n", found.Key, found.Value)
	// Output: tea "green"
}
