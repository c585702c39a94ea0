package alcovetest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

const manifest = `{
	"abi": 1, "name": "tags", "version": "1.0.0", "description": "Tags memories.",
	"tools": [{"name": "tag_memory", "description": "Tag a memory.", "input_schema": {"type": "object", "properties": {"key": {"type": "string"}, "tags": {"type": "array"}}, "required": ["key"]}}],
	"hooks": {"store": {"on_failure": "refuse"}, "stored": {}, "rank": {"features": ["score", "importance"]}, "embed": {"model": "m", "dimensions": 2}, "jobs": [{"name": "tidy", "every": "1d"}]},
	"capabilities": [{"name": "memory.read", "scope": ["*"], "reason": "r"}, {"name": "memory.write", "scope": ["*"], "reason": "r"}, {"name": "record", "scope": ["seen"], "reason": "r"},
		{"name": "config.write", "reason": "r"}, {"name": "job", "reason": "r"}, {"name": "log.append", "scope": ["*"], "reason": "r"}],
	"config": [{"key": "volume", "schema": {"type": "integer", "maximum": 10}, "default": 5}],
	"collections": [{"name": "seen"}]
}`

// A test stores memories, calls a tool, and looks at what it left.
func TestATestOfAFamily(t *testing.T) {
	type in struct {
		Key  string   `json:"key"`
		Tags []string `json:"tags"`
	}
	type out struct{ Patched int }
	f := alcove.New()
	f.HandleTool("tag_memory", func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		var in in
		if err := json.Unmarshal(arguments, &in); err != nil {
			return nil, err
		}
		done, err := c.MemoryPatch(alcove.MemoryPatchRequest{Patches: []alcove.MemoryPatch{{Key: in.Key, AddTags: in.Tags}}})
		return alcove.JSON(map[string]any{"patched": done.Patched}), err
	})
	s := alcovetest.New(t, f, []byte(manifest))
	s.Revoke("store")
	s.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("green"), Tags: []string{"drink"}})

	var got out
	err := s.Tool("tag_memory", map[string]any{"key": "tea", "tags": "hot"}, &got) // one will do, as with any client
	if err != nil || got.Patched != 1 || fmt.Sprint(s.Memory("tea").Tags) != "[drink hot]" {
		t.Errorf("tag_memory = %+v (%v) and the tags are %q, want one memory with drink and hot", got, err, s.Memory("tea").Tags)
	}
	s.Revoke("memory.write")
	if err := s.Tool("tag_memory", in{"tea", []string{"cold"}}, nil); alcove.CodeOf(err) != alcove.Denied {
		t.Errorf("without the right to: %v", err)
	}
	if err := s.Tool("tag_memory", map[string]any{}, nil); alcove.CodeOf(err) != alcove.InvalidArgument || len(s.Calls) != 2 {
		t.Errorf("without a key: %v, after %v", err, s.Calls)
	}
}
