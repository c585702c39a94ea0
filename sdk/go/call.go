package alcove

import (
	"encoding/json"
	"fmt"
	"time"
)

// Call is one request and the host that it came from. It must not be kept.
type Call struct {
	Context
	Config json.RawMessage // an object with every key of the manifest's config
	host   Host
}

// ReadConfig reads the configuration.
func (c *Call) ReadConfig(into any) error {
	if len(c.Config) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.Config, into); err != nil {
		return Errorf(InvalidArgument, "read the configuration: %v", err)
	}
	return nil
}

// Time is when the request was made; zero when the host did not say.
func (c *Call) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, c.Now)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Log writes one line to the log.
func (c *Call) Log(format string, arguments ...any) { c.host.Log(fmt.Sprintf(format, arguments...)) }

// Ask runs an operation that Call has no method for, such as one of a later version, and reads its response into response unless
// that is nil.
func (c *Call) Ask(op Op, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write the request of %s: %w", op, err)
	}
	answer, err := c.host.Call(op, body)
	if err != nil || response == nil {
		return err
	}
	if err := json.Unmarshal(answer, response); err != nil {
		return fmt.Errorf("read the response of %s: %w", op, err)
	}
	return nil
}
