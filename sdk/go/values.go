package alcove

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// JSON encodes a Go value for a field that holds any JSON. It panics where json.Marshal fails: on a channel, a function or a number
// that is not finite. The changes that a panicking handler staged are thrown away.
func JSON(v any) json.RawMessage {
	data, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("alcove.JSON: %v", err))
	}
	return data
}

// marshal encodes a value, strings without reflection.
func marshal(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case string:
		return scan.AppendString(nil, v), nil
	case json.RawMessage:
		return v, nil // the writer of the request checks it
	}
	return json.Marshal(v)
}

// optional encodes the value of an optional field, which nil omits.
func optional(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return marshal(v)
}

func marshalMap(values map[string]any) (map[string]json.RawMessage, error) {
	raw := make(map[string]json.RawMessage, len(values))
	for key, v := range values {
		data, err := marshal(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		raw[key] = data
	}
	return raw, nil
}

// mostItems is the number of records that the host takes in one operation.
const mostItems = 1000

// PutRecords stages any number of records, by their keys. An empty namespace is the call's own.
func (c *Call) PutRecords(collection, namespace string, values map[string]any) error {
	raw, err := marshalMap(values)
	if err != nil {
		return fmt.Errorf("put records of %s: %w", collection, err)
	}
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(raw)), mostItems) {
		items := make([]RecordItem, len(keys))
		for i, key := range keys {
			items[i] = RecordItem{Key: key, Value: raw[key]}
		}
		if _, err := c.RecordPut(RecordPutRequest{Collection: collection, Namespace: namespace, Items: items}); err != nil {
			return err
		}
	}
	return nil
}

// AppendRecords stages any number of records with the next sequence numbers as their keys, and returns the numbers. An empty
// namespace is the call's own.
func (c *Call) AppendRecords(collection, namespace string, values ...any) (sequences []uint64, err error) {
	raw := make([]json.RawMessage, len(values))
	for i, v := range values {
		if raw[i], err = marshal(v); err != nil {
			return nil, fmt.Errorf("append record %d to %s: %w", i, collection, err)
		}
	}
	for part := range slices.Chunk(raw, mostItems) {
		out, err := c.RecordAppend(RecordAppendRequest{Collection: collection, Namespace: namespace, Values: part})
		if err != nil {
			return nil, err
		}
		sequences = append(sequences, out.Sequences...)
	}
	return sequences, nil
}

// SetConfig stages a change of the family's own configuration. A nil value goes back to the default.
func (c *Call) SetConfig(values map[string]any) error {
	raw, err := marshalMap(values)
	if err != nil {
		return fmt.Errorf("set the configuration: %w", err)
	}
	_, err = c.ConfigSet(ConfigSetRequest{Values: raw})
	return err
}

// Progress reports how far the call, or the job, has come. A total of 0 is unknown.
func (c *Call) Progress(done, total int, message string) error {
	return c.CallerProgress(CallerProgressRequest{Done: float64(done), Total: float64(total), Message: message})
}

// Enqueue queues a job of the family's own that may begin after some time, and returns its id. A nil payload is omitted.
func (c *Call) Enqueue(job string, payload any, after time.Duration) (id string, err error) {
	raw, err := optional(payload)
	if err != nil {
		return "", fmt.Errorf("queue the job %s: %w", job, err)
	}
	out, err := c.JobEnqueue(JobEnqueueRequest{Job: job, Payload: raw, AfterS: after.Seconds()})
	return out.ID, err
}

// CallTool calls a tool of another family inside of the same stage, and reads its result into result unless that is nil. Nil
// arguments are omitted.
func (c *Call) CallTool(tool string, arguments, result any) error {
	raw, err := optional(arguments)
	if err != nil {
		return fmt.Errorf("call %s: %w", tool, err)
	}
	out, err := c.ToolsCall(ToolsCallRequest{Tool: tool, Arguments: raw})
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(out.Result, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", tool, err)
	}
	return nil
}

// Can reports whether the call has a capability, whatever its scope.
func (r CallerGetResponse) Can(capability string) bool {
	return slices.ContainsFunc(r.Capabilities, func(p Power) bool { return p.Name == capability })
}
