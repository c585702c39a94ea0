package console

import (
	"io"
	"net/http"

	"github.com/alcove-memory/alcove/host/front/listen"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/tool"
)

// confirmHeader names the act that the operator confirmed.
const confirmHeader = "Alcove-Confirm"

// permit says why a request for an act is refused.
func (s *Server) permit(r *http.Request, act string, changes bool) error {
	state := s.options.State()
	switch {
	case !changes:
		return nil
	case state.ReadOnly:
		return refused("the server is read-only: the console changes nothing on it")
	case state.Locked:
		return refused("the data directory is locked: the console changes nothing on it: use the command line of its owner")
	case r.Header.Get(confirmHeader) != act:
		return refused("the act " + act + " changes something: confirm it with the header " + confirmHeader + ": " + act)
	}
	return nil
}

func refused(message string) error { return &memory.Error{Code: memory.Denied, Message: message} }

// refuseAct answers an act that failed as the console answers all else.
func refuseAct(w http.ResponseWriter, status int, e *admin.Error) {
	w.Header().Del("Content-Disposition")
	listen.Refuse(w, &listen.StatusError{Status: status, Code: e.Code, Err: e})
}

// act carries out an act of an operator. A browser cannot read the trailer in which a stream says why it failed: its connection is cut
// instead, so that nobody takes the part that arrived for the whole.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	answer := &actAnswer{ResponseWriter: w}
	w.Header().Set("Content-Disposition", "attachment")
	s.options.Acts.ServeHTTP(answer, r)
	why := w.Header().Get(admin.ErrorTrailer)
	switch {
	case why == "":
	case answer.begun:
		panic(http.ErrAbortHandler)
	default:
		code := w.Header().Get(admin.CodeTrailer)
		for _, name := range []string{"Trailer", admin.ErrorTrailer, admin.CodeTrailer} {
			w.Header().Del(name)
		}
		refuseAct(w, http.StatusUnprocessableEntity, &admin.Error{Code: code, Message: why})
	}
}

// actAnswer notes that an answer began.
type actAnswer struct {
	http.ResponseWriter
	begun bool
}

func (a *actAnswer) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *actAnswer) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (a *actAnswer) Flush() {
	a.begun = true
	_ = http.NewResponseController(a.ResponseWriter).Flush() // the client may be gone
}

// Unwrap supports http.ResponseController.
func (a *actAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

const (
	mostReports   = 100  // that are told of
	reportClipped = 2000 // bytes of each
)

// report takes what the browser says that it kept the application from doing.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || sameOrigin(r) != nil {
		listen.Refuse(w, refusal(http.StatusForbidden, memory.Denied, "", "only the console's own page may send this"))
		return
	}
	text, err := io.ReadAll(r.Body)
	if err == nil && s.reports.Add(1) <= mostReports {
		s.options.Reported(tool.Clip(string(text), reportClipped))
	}
	w.WriteHeader(http.StatusNoContent)
}
