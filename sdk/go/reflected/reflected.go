// Package reflected serves tools and jobs of a family whose types encoding/json reads and writes, by a manifest that is written by
// hand. What alcove family gen writes is smaller and faster.
package reflected

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Tool adds a tool, by its name in the manifest. In is what its arguments are read into; Out becomes the result, which
// has to fit the tool's output schema.
func Tool[In, Out any](f *alcove.Family, name string, handle func(*alcove.Call, In) (Out, error)) {
	f.HandleTool(name, adapt("arguments", handle))
}

// Job adds a job, by its name in the manifest. In is what the payload is read into; without a payload it is zero.
func Job[In, Out any](f *alcove.Family, name string, handle func(*alcove.Call, In) (Out, error)) {
	f.HandleJob(name, adapt("payload", handle))
}

func adapt[In, Out any](what string, handle func(*alcove.Call, In) (Out, error)) alcove.Handler {
	Meet(*new(In), *new(Out))
	return func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		var in In
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, alcove.Errorf(alcove.InvalidArgument, "read the %s: %v", what, err)
			}
		}
		out, err := handle(c, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// Meet shows types to encoding/json before the first request: the first time that it sees one takes many times as long as all
// others. What Tool and Job take and answer is met without it.
func Meet(values ...any) {
	var types []reflect.Type
	for _, v := range values {
		types = append(types, reflect.TypeOf(v))
	}
	meet(types)
}

// JSON encodes a Go value for a field that holds any JSON. It panics where json.Marshal fails: on a channel, a function or a number
// that is not finite. The changes that a panicking handler staged are thrown away.
func JSON(v any) alcove.Raw {
	data, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("reflected.JSON: %v", err))
	}
	return data
}

func marshal(v any) (alcove.Raw, error) {
	if text, ok := v.(string); ok {
		return alcove.JSON(text), nil
	}
	return json.Marshal(v)
}

// optional encodes the value of an optional field, which nil omits.
func optional(v any) (alcove.Raw, error) {
	if v == nil {
		return nil, nil
	}
	return marshal(v)
}

// mostItems is the number of records that the host takes in one operation.
const mostItems = 1000

// PutRecords stages any number of records, by their keys. An empty namespace is the call's own.
func PutRecords(c *alcove.Call, collection, namespace string, values map[string]any) error {
	items := make([]alcove.RecordItem, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		raw, err := marshal(values[key])
		if err != nil {
			return fmt.Errorf("put records of %s: %s: %w", collection, key, err)
		}
		items = append(items, alcove.RecordItem{Key: key, Value: raw})
	}
	for part := range slices.Chunk(items, mostItems) {
		if _, err := c.RecordPut(alcove.RecordPutRequest{Collection: collection, Namespace: namespace, Items: part}); err != nil {
			return err
		}
	}
	return nil
}

// AppendRecords stages any number of records with the next sequence numbers as their keys, and returns the numbers. An empty
// namespace is the call's own.
func AppendRecords(c *alcove.Call, collection, namespace string, values ...any) (sequences []uint64, err error) {
	raw := make([]alcove.Raw, len(values))
	for i, v := range values {
		if raw[i], err = marshal(v); err != nil {
			return nil, fmt.Errorf("append record %d to %s: %w", i, collection, err)
		}
	}
	for part := range slices.Chunk(raw, mostItems) {
		out, err := c.RecordAppend(alcove.RecordAppendRequest{Collection: collection, Namespace: namespace, Values: part})
		if err != nil {
			return nil, err
		}
		sequences = append(sequences, out.Sequences...)
	}
	return sequences, nil
}

// SetConfig stages a change of the family's own configuration. A nil value goes back to the default.
func SetConfig(c *alcove.Call, values map[string]any) error {
	raw := make(map[string]alcove.Raw, len(values))
	for key, v := range values {
		data, err := marshal(v)
		if err != nil {
			return fmt.Errorf("set the configuration: %s: %w", key, err)
		}
		raw[key] = data
	}
	_, err := c.ConfigSet(alcove.ConfigSetRequest{Values: raw})
	return err
}

// Enqueue queues a job of the family's own that may begin after some time, and returns its id. A nil payload is omitted.
func Enqueue(c *alcove.Call, job string, payload any, after time.Duration) (id string, err error) {
	raw, err := optional(payload)
	if err != nil {
		return "", fmt.Errorf("queue the job %s: %w", job, err)
	}
	out, err := c.JobEnqueue(alcove.JobEnqueueRequest{Job: job, Payload: raw, AfterS: after.Seconds()})
	return out.ID, err
}

// CallTool calls a tool of another family inside of the same stage, and reads its result into result unless that is nil. Nil
// arguments are omitted.
func CallTool(c *alcove.Call, tool string, arguments, result any) error {
	raw, err := optional(arguments)
	if err != nil {
		return fmt.Errorf("call %s: %w", tool, err)
	}
	out, err := c.ToolsCall(alcove.ToolsCallRequest{Tool: tool, Arguments: raw})
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(out.Result, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", tool, err)
	}
	return nil
}

// Ask runs an operation that Call has no method for, such as one of a later version, and reads its response into response unless
// that is nil.
func Ask(c *alcove.Call, op alcove.Op, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write the request of %s: %w", op, err)
	}
	answer, err := c.Do(op, body)
	if err != nil || response == nil {
		return err
	}
	if err := json.Unmarshal(answer, response); err != nil {
		return fmt.Errorf("read the response of %s: %w", op, err)
	}
	return nil
}

// Time is when the request was made; zero when the host did not say.
func Time(c *alcove.Call) time.Time {
	t, err := time.Parse(time.RFC3339Nano, c.Now)
	if err != nil {
		return time.Time{}
	}
	return t
}
