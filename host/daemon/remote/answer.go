package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// answerTo is an error as the answer to a request.
func answerTo(m jsonrpc.Message, failure json.RawMessage) []byte {
	line, _ := json.Marshal(struct { // valid JSON always encodes
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
	}{"2.0", m.RawID(), failure})
	return line
}

// refuse answers a request with the reason why the server did not.
func (c *Conn) refuse(m jsonrpc.Message, why *owner.Refusal) {
	failure, _ := json.Marshal(map[string]any{ // text always encodes
		"code": jsonrpc.CodeServer, "message": why.Message, "data": map[string]any{"code": why.Code, "retryable": why.Retryable},
	})
	c.write(answerTo(m, failure)) // fails only if the client left
}

// reason is why the server did not do what it was asked, in its own words if it is an alcove server.
func (s *Server) reason(answer *http.Response, body []byte) *owner.Refusal {
	var said struct {
		Error struct {
			Code      any
			Message   string
			Retryable bool
		}
	}
	host := s.endpoint.Host
	if json.Unmarshal(body, &said) == nil && said.Error.Message != "" {
		code, _ := said.Error.Code.(string)
		why := refusal(cmp.Or(code, classOf(answer.StatusCode)), "%s answers %d: %s", host, answer.StatusCode, said.Error.Message)
		why.Retryable = said.Error.Retryable
		if answer.StatusCode == http.StatusUnauthorized {
			why.Message += " (here: ALCOVE_KEY, or --key-file FILE)"
		}
		return why
	}
	if to := answer.Header.Get("Location"); answer.StatusCode/100 == 3 && to != "" {
		return refusal("unavailable", "%s answers that it moved to %.200s: give that URL", host, to)
	}
	text := strings.Join(strings.Fields(string(body[:min(len(body), 200)])), " ")
	return refusal(classOf(answer.StatusCode), "%s answers %s (%.200q): is the address that of an alcove server?", s.URL(), answer.Status, text)
}

// classOf is the code of an error by the status of HTTP.
func classOf(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "denied"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return "exhausted"
	case http.StatusBadRequest:
		return "invalid_argument"
	}
	return "unavailable"
}

// events reads the messages of a stream of server-sent events.
type events struct{ lines *bufio.Scanner }

func newEvents(stream io.Reader) *events {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestAnswer)
	return &events{lines}
}

// next returns the data of the next event that has some. The error is io.ErrUnexpectedEOF at the end.
func (e *events) next() ([]byte, error) {
	var data []byte
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 && len(data) > 0 {
			return data, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(data)+len(value) > longestAnswer {
				return nil, &jsonrpc.TooLongError{Limit: longestAnswer}
			}
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	if errors.Is(e.lines.Err(), bufio.ErrTooLong) {
		return nil, &jsonrpc.TooLongError{Limit: longestAnswer}
	}
	return nil, cmp.Or(e.lines.Err(), io.ErrUnexpectedEOF)
}
