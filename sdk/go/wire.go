package alcove

import (
	"encoding/json"

	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// envelope is a request of KindTool or KindHook. What is raw in it points into the request.
type envelope struct {
	tool, hook, job            string
	arguments, payload, config json.RawMessage
	entries                    []Entry
	context                    Context
}

// parseEnvelope reads a request. Fields that it does not know are passed over.
func parseEnvelope(request []byte) (*envelope, error) {
	s := scan.New(request)
	e := &envelope{}
	for key := range s.Fields() {
		e.field(s, key)
	}
	if err := s.End(); err != nil {
		return nil, Errorf(InvalidArgument, "read the request: %v", err)
	}
	return e, nil
}

func (e *envelope) field(s *scan.Scanner, key string) {
	switch key {
	case "tool":
		e.tool = s.String()
	case "hook":
		e.hook = s.String()
	case "job":
		e.job = s.String()
	case "arguments":
		e.arguments = s.Raw()
	case "payload":
		e.payload = s.Raw()
	case "config":
		e.config = s.Raw()
	case "context":
		e.context = readContext(s)
	case "entries":
		for range s.Elements() {
			e.entries = append(e.entries, readEntry(s))
		}
	default:
		s.Skip()
	}
}

func readContext(s *scan.Scanner) (c Context) {
	for key := range s.Fields() {
		switch key {
		case "caller":
			c.Caller = s.String()
		case "namespace":
			c.Namespace = s.String()
		case "branch":
			c.Branch = s.String()
		case "now":
			c.Now = s.String()
		case "request_id":
			c.RequestID = s.String()
		case "dry_run":
			c.DryRun = s.Bool()
		default:
			s.Skip()
		}
	}
	return c
}

func readEntry(s *scan.Scanner) (e Entry) {
	for key := range s.Fields() {
		switch key {
		case "namespace":
			e.Namespace = s.String()
		case "collection":
			e.Collection = s.String()
		case "key":
			e.Key = s.String()
		case "version":
			e.Version = s.Uint()
		case "deleted":
			e.Deleted = s.Bool()
		case "value":
			e.Value = s.Raw()
		case "tags":
			e.Tags = s.Strings()
		case "type":
			e.Type = s.String()
		case "importance":
			if !s.Null() {
				v := s.Number()
				e.Importance = &v
			}
		case "metadata":
			e.Metadata = readMetadata(s)
		default:
			s.Skip()
		}
	}
	return e
}

func readMetadata(s *scan.Scanner) Metadata {
	if s.Null() {
		return nil
	}
	m := Metadata{}
	for key := range s.Fields() {
		m[key] = s.Raw()
	}
	return m
}

// appendChanges appends the result of the store hook.
func appendChanges(dst []byte, changes []*Change) []byte {
	dst = append(dst, `{"entries":[`...)
	for i, c := range changes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendChange(dst, c)
	}
	return append(dst, "]}"...)
}

// appendRefusal appends the result of a store hook that refuses.
func appendRefusal(dst []byte, reason string) []byte {
	return append(scan.AppendString(scan.AppendKey(append(dst, '{'), "refuse"), reason), '}')
}

func appendChange(dst []byte, c *Change) []byte {
	if c == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	if len(c.Value) > 0 {
		dst = append(scan.AppendKey(dst, "value"), c.Value...)
	}
	if len(c.Tags) > 0 {
		dst = scan.AppendStrings(scan.AppendKey(dst, "tags"), c.Tags)
	}
	if c.Type != "" {
		dst = scan.AppendString(scan.AppendKey(dst, "type"), c.Type)
	}
	if c.Importance != nil {
		dst = scan.AppendNumber(scan.AppendKey(dst, "importance"), *c.Importance)
	}
	if len(c.Metadata) > 0 {
		dst = append(scan.AppendKey(dst, "metadata"), '{')
		for key, value := range c.Metadata {
			dst = append(scan.AppendKey(dst, key), value...)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}
