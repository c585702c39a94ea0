package abi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// CheckResult reports whether a result has the form of its kind, as an error of ClassAnswer. A caller that knows the manifest checks
// a tool's result against its schema, and the dimensions of vectors.
func CheckResult(kind Kind, request, result []byte) error {
	switch kind {
	case KindTool:
		return checkJSON(result)
	case KindHook:
		if len(result) == 0 {
			return nil // nothing to say
		}
		return checkJSON(result)
	case KindScore:
		if len(request) < scoreHead {
			return errors.New("the score request has no head")
		}
		return checkScores(result, int(u32(request)))
	case KindEmbed:
		if len(result) < vectorHead {
			return errors.New("the vectors have no head")
		}
		var asked EmbedRequest
		if err := json.Unmarshal(request, &asked); err != nil {
			return fmt.Errorf("read the embed request: %w", err)
		}
		dimensions := int64(u32(result[4:]))
		if most := MaxLimits().EmbedDimensions; dimensions > most {
			return fmt.Errorf("the vectors have %d dimensions; %s is %d", dimensions, LimitEmbedDimensions, most)
		}
		return checkVectors(result, len(asked.Texts), int(dimensions))
	}
	return fmt.Errorf("there is no kind %d", kind)
}

func checkJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("the result is not UTF-8")
	}
	if !json.Valid(data) {
		return errors.New("the result is not one JSON value")
	}
	return nil
}

// ParseStoreResult reads the result of the store hook about so many entries. An unreadable result is a failure of the
// hook, never a refusal.
func ParseStoreResult(data []byte, entries int) (StoreResult, error) {
	var r StoreResult
	if len(data) == 0 {
		return r, nil
	}
	var fields map[string]json.RawMessage // by their exact names: encoding/json takes those in capitals, too
	if err := json.Unmarshal(data, &fields); err != nil {
		return r, fmt.Errorf("read the result of the store hook: %w", err)
	}
	if refuse, ok := fields["refuse"]; ok {
		if err := json.Unmarshal(refuse, &r.Refuse); err != nil {
			return StoreResult{}, fmt.Errorf("read refuse in the result of the store hook: %w", err)
		}
	}
	if r.Refuse != nil {
		return r, nil
	}
	if propose, ok := fields["propose"]; ok {
		if err := json.Unmarshal(propose, &r.Propose); err != nil {
			return StoreResult{}, fmt.Errorf("read propose in the result of the store hook: %w", err)
		}
	}
	if changes, ok := fields["entries"]; ok {
		if err := json.Unmarshal(changes, &r.Entries); err != nil {
			return StoreResult{}, fmt.Errorf("read entries in the result of the store hook: %w", err)
		}
	}
	if err := r.Check(); err != nil {
		return StoreResult{}, fmt.Errorf("the result of the store hook: %w", err)
	}
	if n := len(r.Entries); n != 0 && n != entries {
		return StoreResult{}, fmt.Errorf("the result of the store hook has %d entries; the request has %d", n, entries)
	}
	return r, nil
}

// ParseError reads an error body. An invalid body is an error of ClassAnswer. Without a member retryable, the code decides whether the
// error is.
func ParseError(data []byte) (*Error, error) {
	if limit := DefaultLimits().ErrorBytes; int64(len(data)) > limit {
		return nil, fmt.Errorf("the error body has %d bytes; %s is %d", len(data), LimitErrorBytes, limit)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("the error body is not UTF-8")
	}
	var body struct {
		Error
		Retryable *bool `json:"retryable"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("read the error body: %w", err)
	}
	if !slices.Contains(Codes(), body.Code) {
		return nil, fmt.Errorf("the error body has the unknown code %q", body.Code)
	}
	if body.Message == "" {
		return nil, errors.New("the error body has no message")
	}
	e := body.Error
	e.Retryable = body.Code.Retryable()
	if body.Retryable != nil {
		e.Retryable = *body.Retryable
	}
	return &e, nil
}
