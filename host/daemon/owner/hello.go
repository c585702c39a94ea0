package owner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// Protocol is the version of the socket's protocol.
const Protocol = 1

// What a client may speak after its hello.
const (
	MCP        = "mcp"        // one JSON-RPC message a line
	Operations = "operations" // one operation a line
)

// HelloLimit bounds a hello and its answer, in bytes.
const HelloLimit = 64 << 10

// Hello is the first line on the socket: the client's options for its session.
type Hello struct {
	Alcove    int      `json:"alcove"`             // Protocol
	Protocol  string   `json:"protocol,omitempty"` // what follows the hello: MCP or Operations; empty: MCP
	Space     string   `json:"space,omitempty"`    // one of the server's spaces; empty: that of its data directory
	Namespace string   `json:"namespace,omitempty"`
	Project   string   `json:"project,omitempty"` // the namespace of the client's project: see tool.SessionOptions
	Branch    string   `json:"branch,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Key       string   `json:"key,omitempty"` // an API key, whose agent and rights the session has
	ReadOnly  bool     `json:"read_only,omitempty"`
	Profile   string   `json:"profile,omitempty"`  // which tools are listed
	Families  []string `json:"families,omitempty"` // listed from the start
}

// Welcome is the owner's answer to a hello that it accepts.
type Welcome struct {
	Alcove   int    `json:"alcove"` // Protocol
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Protocol string `json:"protocol,omitempty"` // as in the hello; servers that know only MCP leave it out
	Space    string `json:"space,omitempty"`    // as in the hello; servers without spaces leave it out
}

// Refusal is the owner's answer to a hello that it does not accept.
type Refusal struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
}

func (r *Refusal) Error() string { return r.Message }

// Class is how the refusal is told to a client that it keeps from its server.
func (r *Refusal) Class() (code string, retryable bool) { return r.Code, r.Retryable }

// answer is the line that follows a hello.
type answer struct {
	Welcome
	Error *Refusal `json:"error,omitempty"`
}

// errLong means that a line of the greeting exceeds the limit.
var errLong = fmt.Errorf("the first line is longer than %d bytes", HelloLimit)

// handshake sends a hello and reads the answer.
func handshake(w io.Writer, r *bufio.Reader, h Hello) (Welcome, error) {
	h.Alcove = Protocol
	if err := writeLine(w, h); err != nil {
		return Welcome{}, fmt.Errorf("say hello: %w", err)
	}
	line, err := readLine(r)
	if err != nil {
		return Welcome{}, fmt.Errorf("read the answer to the hello: %w", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return Welcome{}, fmt.Errorf("read the answer to the hello: %w", err)
	}
	if a.Error != nil {
		return Welcome{}, a.Error
	}
	if a.Alcove != Protocol {
		return Welcome{}, &Refusal{Code: "invalid_argument", Message: fmt.Sprintf(
			"the running alcove server (version %q, process %d) speaks socket protocol %d, this program %d: restart the server",
			a.Version, a.PID, a.Alcove, Protocol)}
	}
	if a.Space != h.Space { // it ignored the space, and would serve another
		return Welcome{}, &Refusal{Code: "unavailable", Message: fmt.Sprintf(
			"the running alcove server (version %q, process %d) serves no spaces: restart it with --spaces", a.Version, a.PID)}
	}
	return a.Welcome, nil
}

// Listen reads a client's hello. Its error is the argument of Refuse.
func Listen(r *bufio.Reader) (Hello, *Refusal) {
	line, err := readLine(r)
	if err != nil {
		return Hello{}, &Refusal{Code: "invalid_argument", Message: "read the hello: " + err.Error()}
	}
	var h Hello
	err = json.Unmarshal(line, &h)
	if err == nil {
		err = eachOnce(line)
	}
	if err != nil {
		return Hello{}, &Refusal{Code: "invalid_argument",
			Message: `the first line must be a hello such as {"alcove":1}: ` + err.Error()}
	}
	if h.Alcove != Protocol {
		return Hello{}, &Refusal{Code: "invalid_argument", Message: fmt.Sprintf(
			"this server speaks socket protocol %d, not %d: use the same version of alcove on both sides", Protocol, h.Alcove)}
	}
	if h.Protocol != "" && h.Protocol != MCP && h.Protocol != Operations {
		return h, &Refusal{Code: "invalid_argument", Message: fmt.Sprintf(
			"this server does not speak %.60q on its socket: the member protocol of the hello is %q or %q", h.Protocol, MCP, Operations)}
	}
	return h, nil
}

// eachOnce refuses a hello with a repeated member, whatever its case: which one is meant is ambiguous.
func eachOnce(line []byte) error {
	members := []string{"alcove", "protocol", "space", "namespace", "project", "branch", "agent", "key", "read_only", "profile", "families"}
	seen := map[string]bool{}
	var twice error
	jsonrpc.Members(bytes.TrimSpace(line), 0, func(name string, _ jsonrpc.Span) {
		for _, known := range members {
			if !strings.EqualFold(name, known) {
				continue
			}
			if seen[known] {
				twice = fmt.Errorf("it has the member %q twice: send it once", known)
			}
			seen[known] = true
		}
	})
	return twice
}

// Accept answers a hello.
func Accept(w io.Writer, welcome Welcome) error {
	welcome.Alcove = Protocol
	return writeLine(w, welcome)
}

// Refuse rejects a hello.
func Refuse(w io.Writer, r *Refusal) error {
	return writeLine(w, map[string]*Refusal{"error": r})
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line) >= HelloLimit {
		return errLong
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads a line of at most HelloLimit bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := jsonrpc.NewLines(r, HelloLimit).First()
	if errors.As(err, new(*jsonrpc.TooLongError)) {
		return nil, errLong
	}
	return line, err
}
