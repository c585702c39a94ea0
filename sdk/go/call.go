package alcove

import "github.com/alcove-memory/alcove/sdk/go/scan"

// Call is one request and the host that it came from. It must not be kept.
type Call struct {
	Context
	Config Raw // an object with every key of the manifest's config
	input  *Input
	host   Host
	ids    uint64 // how many NewID made
	json   codec
}

// Time is when the request was made; zero when the host did not say.
func (c *Call) Time() Time {
	t, _ := parseTime(c.Now)
	return t
}

// Log writes one line to the log. It knows the verbs of Errorf.
func (c *Call) Log(format string, arguments ...any) { c.host.Log(sprintf(format, arguments)) }

// Do runs an operation that Call has no method for, such as one of a later version.
func (c *Call) Do(op Op, request Raw) (response Raw, err error) {
	w := &scan.Writer{}
	w.Raw(request)
	body, err := w.Bytes()
	if err != nil {
		return nil, Errorf(InvalidArgument, "write the request of %s: %v", op, err)
	}
	return c.host.Call(op, body)
}

// exchange runs an operation. A nil request is an empty object; with a nil response, the host's answer is ignored.
func (c *Call) exchange(op Op, request, response coding) error {
	body, err := c.json.encode(request)
	if err != nil {
		return Errorf(InvalidArgument, "write the request of %s: %v", op, err)
	}
	answer, err := c.host.Call(op, body)
	if err != nil || response == nil {
		return err
	}
	if err := c.json.decode(answer, response); err != nil {
		return Errorf(Internal, "read the response of %s: %v", op, err)
	}
	return nil
}

// coding reads or writes a value: it is the method CodeJSON of a message.
type coding func(*scan.Coder)

// codec writes and reads one value after the other, without a new writer and scanner for each.
type codec struct {
	writer  scan.Writer
	scanner scan.Scanner
}

// encode writes a message; nil is an empty object.
func (x *codec) encode(message coding) ([]byte, error) {
	if message == nil {
		return []byte("{}"), nil
	}
	x.writer = scan.Writer{}
	message(x.writer.Coder())
	return x.writer.Bytes()
}

func (x *codec) decode(data []byte, into coding) error {
	x.scanner.Reset(data)
	into(x.scanner.Coder())
	return x.scanner.End()
}

func encode(message coding) ([]byte, error) { return new(codec).encode(message) }

func decode(data []byte, into coding) error { return new(codec).decode(data, into) }
