package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

// A program opens a directory, stores a memory and asks for it in plain words.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "alcove-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := storeAndSearch(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// release: Grace approves each release.
}

func storeAndSearch(ctx context.Context, dir string) error {
	h, err := host.Open(ctx, host.Options{Dir: dir, Version: "1.0.0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer h.Close()
	c, err := client.NewSession(ctx, h.Dial(ctx, owner.Hello{Agent: "example"}), client.Program{Name: "example", Version: "1.0.0"})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Call(ctx, "memory_store", map[string]any{"key": "release", "value": "Grace approves each release."}); err != nil {
		return err
	}
	found, err := c.Call(ctx, "memory_search", map[string]any{"query": "who has to sign off a release?"})
	if err != nil {
		return err
	}
	var answer struct {
		Results []struct{ Key, Value string }
	}
	if err := json.Unmarshal(found.Structured, &answer); err != nil {
		return err
	}
	for _, hit := range answer.Results {
		fmt.Printf("%s: %s\n", hit.Key, hit.Value)
	}
	return nil
}
