package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// The names of budgets: what a grant's Limits may say about requests to endpoints. A family without one has the program's bounds alone.
const (
	HTTPCallsMinute   = "http_calls_minute"   // requests by http.fetch in a minute, repeated attempts included
	HTTPRequestBytes  = "http_request_bytes"  // of path, query, headers and body of one request
	HTTPResponseBytes = "http_response_bytes" // of the body of one answer
	HTTPMS            = "http_ms"             // milliseconds of one call
	LLMCallsMinute    = "llm_calls_minute"    // requests by llm.complete in a minute, repeated attempts included
	LLMRequestBytes   = "llm_request_bytes"   // of prompt and system text of one request
	LLMResponseBytes  = "llm_response_bytes"  // of the body of one answer
	LLMMS             = "llm_ms"              // milliseconds of one call, repeated attempts included
	LLMTokensDay      = "llm_tokens_day"      // tokens, in and out, in 24 hours
)

// Budgets returns the names of all budgets.
func Budgets() []string {
	return []string{HTTPCallsMinute, HTTPRequestBytes, HTTPResponseBytes, HTTPMS, LLMCallsMinute, LLMRequestBytes, LLMResponseBytes, LLMMS, LLMTokensDay}
}

// isBudget reports whether a limit is a budget.
func isBudget(limit string) bool { return slices.Contains(Budgets(), limit) }

// methods returns the methods of requests to endpoints.
func methods() []string { return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} }

// NormalMethods returns the methods of a list, each once and in the order of Methods. A method that is not one of them is an error.
func NormalMethods(list []string) ([]string, error) {
	for _, m := range list {
		if !slices.Contains(methods(), m) {
			return nil, fmt.Errorf("method %.32q is not one of %s", m, strings.Join(methods(), ", "))
		}
	}
	return slices.DeleteFunc(methods(), func(m string) bool { return !slices.Contains(list, m) }), nil
}

func checkMethods(list []string) error {
	if len(list) > len(methods()) {
		return fmt.Errorf("it has %d methods: give each once", len(list))
	}
	_, err := NormalMethods(list)
	return err
}

// IsLimit reports whether a grant may have a limit of that name.
func IsLimit(name string) bool {
	return abi.InManifest(name) || abi.DefaultQuota(name) != 0 || isBudget(name)
}
