package connection

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Failure returns an error as operations report it.
func Failure(f tool.Failure) tool.Failure {
	f.Code = memory.Code("E_" + strings.ToUpper(string(f.Code)))
	return f
}

// ErrorBody returns the answer to an operation that was not run.
func ErrorBody(f tool.Failure) []byte {
	body, err := tool.Encode(map[string]any{"error": Failure(f)})
	if err != nil {
		return []byte(`{"error":{"code":"E_INTERNAL","message":"the error could not be written"}}`)
	}
	return body
}

// RefuseRequest answers a request that is not served.
func RefuseRequest(w http.ResponseWriter, status int, f tool.Failure) {
	body := ErrorBody(f)
	Header(w, len(body)+1)
	w.WriteHeader(status)
	io.WriteString(w, string(body)+"\n") // a client that left needs no answer
}

// Header sets the header of an answer that is JSON.
func Header(w http.ResponseWriter, length int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(length))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
}
