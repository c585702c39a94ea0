package fronts_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// described loads the server's OpenAPI document and validates it.
func described(t *testing.T, s *server.Server) *openapi3.T {
	t.Helper()
	status, text := s.Send("GET", "/openapi.json", "", nil)
	if status != http.StatusOK {
		t.Fatalf("the document is %d %s", status, text)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// examples are bodies by operation. An operation that is not here has none.
func examples() map[string]string {
	return map[string]string{
		"operate": `{"batch":[{"method":"store","params":{"key":"k","value":1},"then":[{"method":"recall"}]},{"method":"status","options":{"timeout_ms":60000}}],
			"metadata":{"request_id":"r"},"then":{"method":"recall","params":{"key":{"$result":"/0/result/key"}}}}`,
		"memory_store": `{"key":"tea","value":"green","tags":["drink"]}`, "memory_recall": `{"key":"k"}`, "memory_search": `{"query":"tea","k":3}`,
		"memory_forget": `{"key":"k"}`, "memory_log": `{"event":"e","data":{"n":1}}`, "memory_branch": `{"action":"list"}`,
		"memory_history": `{"key":"k"}`, "memory_status": `{}`, "memory_capabilities": `{"verbose":true}`, "memory_load_family": `{"intent":"tag"}`,
		"memory_poll_events": `{"agentId":"me","eventTypes":["memory_stored"]}`,
		"odd_echo":           `{"tree":{"children":[{"children":[]}]},"kind":"a"}`,
	}
}

func TestEachOperationOfTheOpenAPIDocumentCanBeCalledAsDescribed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := server.Start(t, host.Options{Dir: dir})
	server.Install(t, server.Operator(t, dir), abi.Manifest{Name: "odd", Tools: []abi.Tool{{
		Name: "odd_echo", Description: "Echoes.",
		InputSchema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/odd","type":"object",
			"$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}},"$ref":{"type":"string"}}}},
			"properties":{"tree":{"$ref":"#/$defs/node"},"kind":{"enum":["a",{"$ref":"#/none"}]}},"required":["tree"]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"self":{"$ref":"#"}}}`),
	}}}, guest.Echo)
	doc := described(t, s)
	doc.Servers = openapi3.Servers{{URL: s.URL()}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			example, known := examples()[operation.OperationID]
			if operation.RequestBody != nil && !known {
				t.Errorf("%s has no example here", operation.OperationID)
			}
			for _, query := range queries(operation) {
				called++
				callAsDescribed(t, s, router.FindRoute, method, path+query, example)
			}
		}
	}
	if called < 25 {
		t.Errorf("%d operations were called", called)
	}
}

// queries are the queries with which an operation is called: without, and a dry run with all options.
func queries(o *openapi3.Operation) []string {
	if len(o.Parameters) < 6 {
		return []string{""}
	}
	return []string{"?dry_run=true&timeout_ms=60000&namespace=default&branch=default", ""}
}

func callAsDescribed(t *testing.T, s *server.Server, route func(*http.Request) (*routers.Route, map[string]string, error), method, path, body string) {
	t.Helper()
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Token())
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return r
	}
	r := request()
	found, variables, err := route(r)
	if err != nil {
		t.Errorf("route of %s %s: %v", method, path, err)
		return
	}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: variables, Route: found,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
		t.Errorf("%s %s %s is no request as described: %v", method, path, body, err)
	}
	answer, err := http.DefaultClient.Do(request())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var failed struct{ Error any }
	json.Unmarshal(text, &failed) // or it is not JSON, and no operation's
	if answer.StatusCode != http.StatusOK || failed.Error != nil {
		t.Errorf("%s %s is answered with %d %.500s", method, path, answer.StatusCode, text)
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(text))})
	if err != nil {
		t.Errorf("%s %s is answered otherwise than described: %v\n%.500s", method, path, err, text)
	}
}
