package alcove

import (
	"encoding/json"
	"errors"
)

// Host is what carries operations out. A guest has one; tests make their own.
type Host interface {
	// Call runs an operation. An error that is an *Error is the host's answer.
	Call(op Op, request []byte) ([]byte, error)
	// Log takes one line.
	Log(line string)
}

// Handle serves one request. The result is what the host is to be given when there is no error.
func (f *Family) Handle(host Host, kind Kind, request []byte) ([]byte, error) {
	switch kind {
	case KindTool, KindHook:
		return f.handleJSON(host, kind, request)
	case KindScore:
		return f.handleScore(host, request)
	case KindEmbed:
		return f.handleEmbed(host, request)
	}
	return nil, Errorf(InvalidArgument, "this family serves no requests of kind %d", kind)
}

func (f *Family) handleJSON(host Host, kind Kind, request []byte) ([]byte, error) {
	e, err := parseEnvelope(request)
	if err != nil {
		return nil, err
	}
	c := &Call{Context: e.context, Config: e.config, host: host}
	if kind == KindHook && e.hook == hookStore && f.store != nil {
		return f.handleStore(c, e.entries)
	}
	answer, err := f.answer(c, kind, e)
	if err != nil || answer == nil {
		return nil, err
	}
	return json.Marshal(answer)
}

func (f *Family) handleStore(c *Call, entries []Entry) ([]byte, error) {
	changes, err := f.store(c, entries)
	var refused *Refusal
	if errors.As(err, &refused) {
		return appendRefusal(nil, refused.Reason), nil
	}
	if err != nil || changes == nil {
		return nil, err
	}
	return appendChanges(nil, changes), nil
}

// answer is what a handler answers; nil for nothing.
func (f *Family) answer(c *Call, kind Kind, e *envelope) (any, error) {
	switch {
	case kind == KindTool:
		handle, ok := f.tools[e.tool]
		if !ok {
			return nil, Errorf(NotFound, "this family has no tool %q", e.tool)
		}
		return handle(c, e.arguments)
	case e.hook == hookStored && f.stored != nil:
		return nil, f.stored(c, e.entries)
	case e.hook == hookJob && f.jobs[e.job] != nil:
		return f.jobs[e.job](c, e.payload)
	}
	return nil, Errorf(NotFound, "this family has no hook %q for %q", e.hook, e.job)
}

func (f *Family) handleEmbed(host Host, request []byte) ([]byte, error) {
	texts := &Texts{Call: &Call{host: host}}
	if f.embed == nil {
		return nil, Errorf(NotFound, "this family has no hook %q", hookEmbed)
	}
	if err := json.Unmarshal(request, texts); err != nil {
		return nil, Errorf(InvalidArgument, "read the request: %v", err)
	}
	vectors, err := f.embed(texts)
	if err != nil {
		return nil, err
	}
	return appendVectors(nil, vectors), nil
}

func (f *Family) handleScore(host Host, request []byte) ([]byte, error) {
	if f.rank == nil {
		return nil, Errorf(NotFound, "this family has no hook %q", hookRank)
	}
	r, err := parseScoring(request)
	if err != nil {
		return nil, err
	}
	r.Call = &Call{host: host}
	if err := f.rank(r); err != nil {
		return nil, err
	}
	return appendFloats(make([]byte, 0, 4*len(r.Scores)), r.Scores), nil
}

// port is a guest's side of the three imports.
type port interface {
	read(channel int32, to []byte) int
	write(channel int32, data []byte)
	// call answers the length of the response, or minus that of an error body.
	call(op Op, request []byte) int
}

// serve serves the request of some length that waits on the port, and answers a status.
func (f *Family) serve(p port, kind Kind, length int) int32 {
	request := receive(p, readRequest, length)
	result, err := f.Handle(portHost{p}, kind, request)
	if err == nil {
		p.write(writeResult, result)
		return statusOK
	}
	body, failed := json.Marshal(asError(err))
	if failed != nil { // details that are no JSON
		body = []byte(`{"code":"internal","message":"the guest's error is no JSON"}`)
	}
	p.write(writeResult, body)
	return statusError
}

func receive(p port, channel int32, length int) []byte {
	buffer := make([]byte, length)
	done := 0
	for done < length {
		n := p.read(channel, buffer[done:])
		if n <= 0 {
			break
		}
		done += n
	}
	return buffer[:done]
}

// portHost is the host on the other side of a port.
type portHost struct{ port port }

func (h portHost) Call(op Op, request []byte) ([]byte, error) {
	length := h.port.call(op, request)
	if length >= 0 {
		return receive(h.port, readResponse, length), nil
	}
	body := receive(h.port, readResponse, -length)
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, Errorf(Internal, "read the host's error: %v", err)
	}
	return nil, e
}

func (h portHost) Log(line string) { h.port.write(writeLog, []byte(line)) }
