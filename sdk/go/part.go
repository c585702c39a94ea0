package alcove

import "github.com/alcove-memory/alcove/sdk/go/scan"

// Code that alcove family gen writes calls the functions of this file.

// Request is a request to a part that is a tool or a job.
type Request struct {
	*Call
	data   Raw
	what   string // the data are, in errors
	result Raw
	err    error
}

// ToolPart is a part that is a tool.
func ToolPart(family, name string, serve func(*Request)) Handlers {
	return Handlers{Family: family, Tool: name, Handle: func(c *Call, data Raw) (Raw, error) { return answer(c, data, "arguments", serve) }}
}

// JobPart is a part that is a job.
func JobPart(family, name string, serve func(*Request)) Handlers {
	return Handlers{Family: family, Job: name, Handle: func(c *Call, data Raw) (Raw, error) { return answer(c, data, "payload", serve) }}
}

func answer(c *Call, data Raw, what string, serve func(*Request)) (Raw, error) {
	r := &Request{Call: c, data: data, what: what}
	serve(r)
	return r.result, r.err
}

// Read reads the arguments or the payload, by the method CodeJSON of the part. If they cannot be read, that is the answer.
func (r *Request) Read(part func(*scan.Coder)) bool {
	r.err = r.Call.readData(r.data, r.what, part)
	return r.err == nil
}

// ReadConfig reads the configuration. If it cannot be read, that is the answer.
func (r *Request) ReadConfig(settings func(*scan.Coder)) bool {
	r.err = r.Call.ReadConfig(settings)
	return r.err == nil
}

// Answer answers with an error, or with a result, which is written by its method CodeJSON; a nil one is an empty object.
func (r *Request) Answer(result func(*scan.Coder), err error) {
	if r.err = err; err == nil {
		r.result, r.err = r.json.encode(result)
	}
}

// ReadConfig reads the configuration of the call, by the method CodeSettings of its type.
func (c *Call) ReadConfig(settings func(*scan.Coder)) error {
	return c.readData(c.Config, "configuration", settings)
}

// ReadArguments reads the arguments of a tool, by the method CodeJSON of their type.
func (c *Call) ReadArguments(arguments Raw, into func(*scan.Coder)) error {
	return c.readData(arguments, "arguments", into)
}

// readData reads data of a request; empty ones are an empty object.
func (c *Call) readData(data Raw, what string, into coding) error {
	if len(data) == 0 {
		data = Raw("{}")
	}
	if err := c.json.decode(data, into); err != nil {
		return Errorf(InvalidArgument, "read the %s: %v", what, err)
	}
	return nil
}
