package alcove

import "github.com/alcove-memory/alcove/sdk/go/scan"

// The most that is sent in one operation: elements as the host takes them, and bytes that are well below what it takes by default.
const (
	mostItems = 1000
	mostBytes = 1 << 20
)

// parts cuts a list into parts that one operation takes. An element that is too large alone is a part of its own: the host says so.
func parts[T any](list []T, size func(*T) int, do func([]T) error) error {
	from, bytes := 0, 0
	for i := range list {
		n := size(&list[i])
		if i > from && (i-from == mostItems || bytes+n > mostBytes) {
			if err := do(list[from:i]); err != nil {
				return err
			}
			from, bytes = i, 0
		}
		bytes += n
	}
	if from == len(list) {
		return nil
	}
	return do(list[from:])
}

// overhead is about what an element takes beside its text.
const overhead = 64

func sizeOfKey(key *string) int { return len(*key) + 3 }

// SetConfig stages a change of the family's own configuration. A nil value goes back to the default.
func (c *Call) SetConfig(values map[string]any) error {
	raw, err := marshalMap(values)
	if err != nil {
		return Errorf(InvalidArgument, "set the configuration: %v", err)
	}
	_, err = c.ConfigSet(ConfigSetRequest{Values: raw})
	return err
}

// Progress reports how far the call, or the job, has come. A total of 0 is unknown.
func (c *Call) Progress(done, total int, message string) error {
	return c.CallerProgress(CallerProgressRequest{Done: float64(done), Total: float64(total), Message: message})
}

// Job is a job of the family, as a struct of its payload.
type Job interface {
	Part
	scan.Encoder
}

// Enqueue queues a job of the family's own that may begin after some time, and returns its id.
func (c *Call) Enqueue(job Job, after Duration) (id string, err error) {
	h := job.AlcovePart()
	payload, err := scan.Encode(job)
	if err != nil {
		return "", Errorf(InvalidArgument, "queue the job %s: %v", h.Job, err)
	}
	out, err := c.JobEnqueue(JobEnqueueRequest{Job: h.Job, Payload: payload, AfterS: after.Seconds()})
	return out.ID, err
}

// CallTool calls a tool of another family inside of the same stage, and reads its result into result unless that is nil. Arguments
// are what JSON takes; nil omits them.
func (c *Call) CallTool(tool string, arguments any, result scan.Decoder) error {
	r := ToolsCallRequest{Tool: tool}
	if arguments != nil {
		raw, err := marshal(arguments)
		if err != nil {
			return Errorf(InvalidArgument, "call %s: %v", tool, err)
		}
		r.Arguments = raw
	}
	out, err := c.ToolsCall(r)
	if err != nil || result == nil {
		return err
	}
	if err := scan.Decode(out.Result, result); err != nil {
		return Errorf(Internal, "read the result of %s: %v", tool, err)
	}
	return nil
}

// On reports whether a hook of the family is on.
func (r CallerGetResponse) On(hook string) bool {
	for _, on := range r.Hooks {
		if on == hook {
			return true
		}
	}
	return false
}

// Can reports whether the call has a capability, whatever its scope.
func (r CallerGetResponse) Can(capability string) bool {
	for _, p := range r.Capabilities {
		if p.Name == capability {
			return true
		}
	}
	return false
}
