package family

import (
	"encoding/json"
)

// Arguments reads the arguments of calls that families make of each other's tools.
type Arguments interface {
	// Name is the tool that a spelling of its name means; the spelling itself when there is none.
	Name(spelling string) string
	// Prepare makes arguments what a tool's input schema asks for.
	Prepare(tool string, arguments json.RawMessage) (Prepared, error)
}

// Prepared is the arguments of a call, ready for the tool.
type Prepared struct {
	Arguments json.RawMessage
	Checked   json.RawMessage // the input schema that they fit; nil: they were not checked
	Notes     []string        // such as which parameters the tool does not know
}

// ReadArguments has the arguments of families' calls of each other's tools read by a. Until then they are only checked.
func (f *Families) ReadArguments(a Arguments) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arguments = a
}

func (f *Families) reader() Arguments {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.arguments
}

// Name implements ops.Tools.
func (r toolsOf) Name(spelling string) string {
	if reader := r.families.reader(); reader != nil {
		return reader.Name(spelling)
	}
	return spelling
}

// prepare reads the arguments with which a request's family calls another's tool. What there is to note goes to the log: the
// caller is a program.
func (r *request) prepare(tool string, arguments json.RawMessage) (Prepared, error) {
	reader := r.families.reader()
	if reader == nil {
		return Prepared{Arguments: arguments}, nil
	}
	p, err := reader.Prepare(tool, arguments)
	for _, note := range p.Notes {
		r.families.o.Logger.Warn("a family called a tool with something that it does not know", "family", r.family.name, "tool", tool, "note", note)
	}
	return p, err
}
