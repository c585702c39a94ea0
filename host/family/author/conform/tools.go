package conform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/author/conform/instance"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// muchText is how many bytes of text a tool is called with at once.
const muchText = 256 << 10

// answers checks that a tool's answers have the form that its manifest says, and what they cost.
func (t *test) answers(ctx context.Context, tool abi.Tool) error {
	var all []*sandbox.Result
	c := Check{Name: "answers", Subject: tool.Name}
	err := t.generate(&c, tool, t.Inputs, func(arguments []byte) {
		if r := t.call(ctx, &c, tool, arguments); r != nil {
			all = append(all, r)
		}
	})
	if err != nil {
		return err
	}
	t.done(c)
	t.report.Costs = append(t.report.Costs, costOf(tool.Name, all))
	return t.large(ctx, tool)
}

// large checks that a tool copes with much text.
func (t *test) large(ctx context.Context, tool abi.Tool) error {
	c := Check{Name: "much text", Subject: tool.Name}
	g, err := instance.New(tool.InputSchema, t.Seed)
	if err != nil {
		return err
	}
	arguments, err := g.Largest(muchText)
	switch {
	case err != nil:
		c.Reason = err.Error()
	case len(arguments) < muchText:
		c.Reason = "the schema allows no long text"
	default:
		t.call(ctx, &c, tool, arguments)
	}
	t.done(c)
	return nil
}

// generate does something with n generated arguments of a tool.
func (t *test) generate(c *Check, tool abi.Tool, n int, do func(arguments []byte)) error {
	g, err := instance.New(tool.InputSchema, t.Seed)
	if err != nil {
		return err
	}
	g.Names = seeded
	for range n {
		arguments, err := g.Next()
		if err != nil {
			c.Reason = err.Error()
			return nil
		}
		do(arguments)
	}
	return nil
}

// call calls a tool, and adds what is wrong with its answer to a check. It returns nil if the guest was not asked.
func (t *test) call(ctx context.Context, c *Check, tool abi.Tool, arguments []byte) (ended *sandbox.Result) {
	t.calls++
	found, err := t.world.Families.Find(tester(), tool.Name)
	if err == nil {
		_, err = t.world.Families.Call(family.WithEnded(ctx, func(r *sandbox.Result) { ended = r }), found, family.Call{
			Arguments: arguments, Location: memory.Location{Branch: memory.Default, Namespace: memory.Default}, Caller: tester(), RequestID: fmt.Sprintf("conform-%d", t.calls),
		})
	}
	if ended == nil {
		if err != nil {
			c.Reason = err.Error()
		}
		return nil
	}
	c.Cases++
	var known *memory.Error
	switch {
	case fault(ended) != "":
		c.problem(string(arguments), fault(ended))
	case err == nil || errors.As(err, &known) && known.Retryable:
	case ended.Class == abi.ClassOK: // the host refused the answer, or what it staged
		c.problem(string(arguments), err.Error())
	}
	return ended
}

// tester is the caller of all tests: the owner.
func tester() memory.Caller { return memory.Caller{Agent: "conform", Rights: memory.FullRights()} }

// seeded are the keys of memories that there are.
var seeded = []string{"tea", "plan", "harbour", "ann"}

// seed stores some memories, without hooks.
func (t *test) seed(ctx context.Context) error {
	var items []memory.Item
	for i, key := range seeded {
		value, _ := json.Marshal("what is known of " + key)
		items = append(items, memory.Item{Key: key, Value: value, Tags: []string{"seed"}, Type: []string{"fact", "task", "episodic", "note"}[i]})
	}
	_, err := t.world.Space.As(tester()).Store(ctx, memory.Location{Branch: memory.Default, Namespace: memory.Default}, items, memory.Write{Agent: "conform"})
	return err
}

func costOf(tool string, results []*sandbox.Result) Cost {
	c := Cost{Tool: tool, Calls: len(results)}
	if c.Calls == 0 {
		return c
	}
	for _, r := range results {
		c.MostFuel, c.Memory, c.HostCalls = max(c.MostFuel, r.Fuel), max(c.Memory, r.Memory), max(c.HostCalls, r.HostCalls)
	}
	c.Fuel = median(results, func(r *sandbox.Result) int64 { return r.Fuel })
	c.CPU = median(results, func(r *sandbox.Result) time.Duration { return r.CPU })
	return c
}

func median[T cmp.Ordered](results []*sandbox.Result, of func(*sandbox.Result) T) T {
	values := make([]T, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
