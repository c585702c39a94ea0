package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// DecodeRequest reads the request of an operation into a value of its type and checks it. Empty bytes stand for an empty
// object. A request that does not fit is an *Error of CodeInvalidArgument that names the field.
func DecodeRequest(request []byte, into interface{ Check() error }) error {
	if len(bytes.TrimSpace(request)) == 0 {
		return into.Check()
	}
	decoder := json.NewDecoder(bytes.NewReader(request))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return invalid("read the request: %s", plainDecodeError(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("read the request: something follows its JSON")
	}
	return into.Check()
}

// plainDecodeError says what is wrong with a request without the names of Go.
func plainDecodeError(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := wrong.Field
		if field == "" {
			return fmt.Sprintf("it is a JSON %s, not an object", wrong.Value)
		}
		return fmt.Sprintf("field %s cannot be a JSON %s", field, wrong.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func invalid(format string, args ...any) error {
	return &Error{Code: CodeInvalidArgument, Message: fmt.Sprintf(format, args...)}
}

func checkNumber(field string, value, least, most float64) error {
	if value >= least && value <= most {
		return nil
	}
	return invalid("%s is %s: it must be %s", field, number(value), within(least, most))
}

func checkLength(field string, length, least, most int) error {
	if length >= least && length <= most {
		return nil
	}
	limits := within(float64(least), float64(most))
	if most == math.MaxInt {
		limits = within(float64(least), math.Inf(1))
	}
	return invalid("%s has %d elements: give %s", field, length, limits)
}

// within is a range in words.
func within(least, most float64) string {
	switch {
	case math.IsInf(most, 1):
		return number(least) + " or more"
	case math.IsInf(least, -1):
		return number(most) + " or less"
	}
	return fmt.Sprintf("from %s to %s", number(least), number(most))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// checkEnum holds the values of a field to a list, in which the empty string stands for an absent field.
func checkEnum(field string, values []string, allowed ...string) error {
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			return invalid("%s is %q: it is one of %s", field, cut(v), strings.TrimPrefix(strings.Join(allowed, ", "), ", "))
		}
	}
	return nil
}

// cut shortens a value that an error quotes.
func cut(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// inElement says which element of a list an error is about.
func inElement(field string, i int, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Code: e.Code, Message: fmt.Sprintf("%s[%d]: %s", field, i, e.Message), Retryable: e.Retryable, Details: e.Details}
}
