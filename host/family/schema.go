package family

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/internal/schema"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// mostSchemas bounds the cache of compiled schemas; a full one is emptied.
const mostSchemas = 2000

// schemas compiles and caches schemas.
type schemas struct {
	mu   sync.Mutex
	kept map[string]*schema.Schema // by their text
}

func (s *schemas) compiled(text json.RawMessage) (*schema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.kept[string(text)]; known != nil {
		return known, nil
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	if s.kept == nil || len(s.kept) >= mostSchemas {
		s.kept = map[string]*schema.Schema{}
	}
	s.kept[string(text)] = compiled
	return compiled, nil
}

// checkArguments refuses arguments that violate a tool's input schema. Arguments checked against the same schema are not
// checked again: it differs only if another version of the family came meanwhile.
func (x *family) checkArguments(t *abi.Tool, p Prepared) error {
	if len(p.Checked) > 0 && bytes.Equal(p.Checked, t.InputSchema) {
		return nil
	}
	arguments := p.Arguments
	input, err := x.schemas.compiled(t.InputSchema)
	if err != nil {
		return fmt.Errorf("the input schema of %s: %w", t.Name, err)
	}
	if depth := jsontext.Depth(arguments); depth > ops.LongestNesting {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the arguments of %s are nested %d deep: at most %d are allowed", t.Name, depth, ops.LongestNesting)}
	}
	if err := input.Check(arguments); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the arguments of %s are not valid: %v", t.Name, err),
			Details: map[string]any{"input_schema": t.InputSchema}}
	}
	return nil
}

// checkOutput refuses a result that violates the tool's output schema.
func (x *family) checkOutput(t *abi.Tool, output json.RawMessage) error {
	if len(t.OutputSchema) == 0 {
		return nil
	}
	promised, err := x.schemas.compiled(t.OutputSchema)
	if err != nil {
		return fmt.Errorf("the output schema: %w", err)
	}
	if depth := jsontext.Depth(output); depth > ops.LongestNesting {
		return fmt.Errorf("it is nested %d deep", depth)
	}
	return promised.Check(output)
}

// checkManifest refuses a malformed manifest.
func checkManifest(data []byte) error {
	_, err := sandbox.ParseManifest(data)
	return err
}
