package alcove

// Host is what carries operations out. A guest has one; tests make their own.
type Host interface {
	// Call runs an operation. An error that is an *Error is the host's answer.
	Call(op Op, request []byte) ([]byte, error)
	// Log takes one line.
	Log(line string)
}

// Handle serves one request. The result is what the host is to be given when there is no error.
// A handler that panics has failed: the error has the text and the place.
func (f *Family) Handle(host Host, kind Kind, request []byte) ([]byte, error) {
	return recovered(host, func() ([]byte, error) { return f.handle(host, kind, request) })
}

func (f *Family) handle(host Host, kind Kind, request []byte) ([]byte, error) {
	switch kind {
	case KindTool:
		return f.handleTool(host, request)
	case KindHook:
		return f.handleHook(host, request)
	case KindScore:
		return f.handleScore(host, request)
	case KindEmbed:
		return f.handleEmbed(host, request)
	}
	return nil, Errorf(InvalidArgument, "this family serves no requests of kind %d", kind)
}

// read decodes a request of the host. What is raw in it points into the request.
func (c *Call) read(request []byte, into coding) error {
	if err := c.json.decode(request, into); err != nil {
		return Errorf(InvalidArgument, "read the request: %v", err)
	}
	return nil
}

func (f *Family) handleTool(host Host, request []byte) ([]byte, error) {
	c, r := &Call{host: host}, toolRequest{}
	if err := c.read(request, r.CodeJSON); err != nil {
		return nil, err
	}
	f, err := f.of(r.Context)
	if err != nil {
		return nil, err
	}
	c.Context, c.Config, c.input = r.Context, r.Config, r.Input
	if handle, ok := f.tools[r.Tool]; ok {
		return handle(c, r.Arguments)
	}
	if f.rest != nil {
		return f.rest(c, r.Tool, r.Arguments)
	}
	return nil, Errorf(NotFound, "this family has no tool %q", r.Tool)
}

func (f *Family) handleHook(host Host, request []byte) ([]byte, error) {
	c, r := &Call{host: host}, hookRequest{}
	if err := c.read(request, r.CodeJSON); err != nil {
		return nil, err
	}
	f, err := f.of(r.Context)
	if err != nil {
		return nil, err
	}
	c.Context, c.Config = r.Context, r.Config
	switch {
	case r.Hook == hookStore && f.store != nil:
		return f.handleStore(c, r.Entries)
	case r.Hook == hookStored && f.stored != nil:
		return nil, f.stored(c, r.Entries)
	case r.Hook == hookMerged && f.merged != nil && r.Merge != nil:
		return nil, f.merged(c, *r.Merge)
	case r.Hook == hookSessionEnd && f.ended != nil && r.Session != nil:
		return nil, f.ended(c, *r.Session)
	case r.Hook == hookJob && f.jobs[r.Job] != nil:
		return f.jobs[r.Job](c, r.Payload)
	case r.Hook == hookJob:
		return nil, Errorf(NotFound, "this family has no job %q", r.Job)
	}
	return nil, Errorf(NotFound, "this family has no hook %q", r.Hook)
}

func (f *Family) handleStore(c *Call, entries []Entry) ([]byte, error) {
	changes, err := f.store(c, entries)
	if refused, ok := find[*Refusal](err); ok {
		return c.json.encode((&storeResult{Refuse: &refused.Reason}).CodeJSON)
	}
	if proposed, ok := find[*Proposal](err); ok {
		return c.json.encode((&storeResult{Entries: changes, Propose: &proposed.Reason}).CodeJSON)
	}
	switch {
	case err != nil || changes == nil:
		return nil, err
	}
	return c.json.encode((&storeResult{Entries: changes}).CodeJSON)
}

// GuardAll asks a guard about each entry. A refusal and a failure end it; of proposals the first counts, where nothing is refused.
// Code that alcove family gen writes calls it.
func GuardAll(entries []Entry, guard func(*Entry) error) (decision error) {
	for i := range entries {
		err := guard(&entries[i])
		if _, proposed := find[*Proposal](err); err != nil && !proposed {
			return err
		}
		if decision == nil {
			decision = err
		}
	}
	return decision
}

func (f *Family) handleEmbed(host Host, request []byte) ([]byte, error) {
	c, r := &Call{host: host}, embedRequest{}
	if err := c.read(request, r.CodeJSON); err != nil {
		return nil, err
	}
	f, err := f.of(r.Context)
	if err != nil {
		return nil, err
	}
	if f.embed == nil {
		return nil, Errorf(NotFound, "this family has no hook %q", hookEmbed)
	}
	c.Context, c.Config = r.Context, r.Config
	vectors, err := f.embed(&Texts{Call: c, Texts: r.Texts, Purpose: r.Purpose})
	if err != nil {
		return nil, err
	}
	return appendVectors(nil, vectors), nil
}

func (f *Family) handleScore(host Host, request []byte) ([]byte, error) {
	params, r, err := parseScoring(request)
	if err != nil {
		return nil, err
	}
	c, p := &Call{host: host}, scoreParams{}
	if err := c.read(params, p.CodeJSON); err != nil {
		return nil, err
	}
	if f, err = f.of(p.Context); err != nil {
		return nil, err
	}
	if f.rank == nil {
		return nil, Errorf(NotFound, "this family has no hook %q", hookRank)
	}
	c.Context, c.Config = p.Context, p.Config
	r.Call, r.Query, r.Instant = c, p.Query, p.Now
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
	body, failed := encode(asError(err).told().CodeJSON)
	if failed != nil { // details that JSON does not have
		body = []byte(`{"code":"internal","message":"the details of the guest's error cannot be written as JSON"}`)
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
	if err := decode(body, e.CodeJSON); err != nil {
		return nil, Errorf(Internal, "read the host's error: %v", err)
	}
	return nil, e
}

func (h portHost) Log(line string) { h.port.write(writeLog, []byte(line)) }
