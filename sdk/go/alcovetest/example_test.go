package alcovetest_test

import (
	"fmt"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// A test stores memories, calls a tool, and looks at what it left.
func Example() {
	type in struct{ Key, Tag string }
	f := alcove.New()
	reflected.Tool(f, "tag_memory", func(c *alcove.Call, in in) (out struct{ Patched int }, err error) {
		done, err := c.MemoryPatch(alcove.MemoryPatchRequest{Patches: []alcove.MemoryPatch{{Key: in.Key, AddTags: []string{in.Tag}}}})
		out.Patched = done.Patched
		return out, err
	})
	s := alcovetest.New(&testing.T{}, f, []byte(`{"name":"tags","tools":[{"name":"tag_memory"}]}`)) // t, in a test
	s.Put(alcove.Memory{Key: "tea", Value: alcove.JSON("green"), Tags: []string{"drink"}})

	var out struct{ Patched int }
	err := s.Tool("tag_memory", in{"tea", "hot"}, &out)
	fmt.Println(out.Patched, err, s.Memory("tea").Tags)

	s.Ops[alcove.OpMemoryPatch] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Denied, "not granted") }
	fmt.Println(s.Tool("tag_memory", in{"tea", "cold"}, nil), s.Calls)
	// Output:
	// 1 <nil> [drink hot]
	// denied: not granted [memory.patch memory.patch]
}
