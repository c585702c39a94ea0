package mcp

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// Whom tools of families ask, as they name them.
const (
	askUser  = "user"
	askModel = "model"
	askRoots = "roots"
)

// seal closes what tools are to find again, so that clients, who carry it, can neither read nor change it.
type seal struct{ cipher.AEAD }

func newSeal() seal {
	key := make([]byte, 32)
	rand.Read(key)
	block, _ := aes.NewCipher(key) // fails for keys of other lengths
	sealed, _ := cipher.NewGCMWithRandomNonce(block)
	return seal{sealed}
}

// close returns a state as clients carry it. It can be opened for the same purpose, until the server ends.
func (s seal) close(purpose, state string) string {
	return base64.RawURLEncoding.EncodeToString(s.Seal(nil, nil, []byte(state), []byte(purpose)))
}

var errState = errors.New("the requestState is not what the server gave for this request: make the request again without it")

func (s seal) open(purpose, carried string) (state string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(carried)
	if err != nil {
		return "", errState
	}
	opened, err := s.Open(nil, nil, raw, []byte(purpose))
	if err != nil {
		return "", errState
	}
	return string(opened), nil
}

// exchange is a message whose tool may ask the client, with what the client answered.
type exchange struct {
	server   *Server
	purpose  string // which request it is: a state is for that alone
	answered protocol.MultiRoundTripParams
}

// client returns what the tool can ask. The error is the client's fault.
func (x exchange) client(ctx context.Context) (*tool.Client, error) {
	c := &tool.Client{Can: canAsk(ctx)}
	for name, answer := range x.answered.InputResponses {
		if raw, err := json.Marshal(answer); err == nil && len(raw) > 0 && raw[0] == '{' {
			if c.Answers == nil {
				c.Answers = map[string]json.RawMessage{}
			}
			c.Answers[name] = raw
		}
	}
	if x.answered.RequestState == "" {
		return c, nil
	}
	var err error
	c.State, err = x.server.seal.open(x.purpose, x.answered.RequestState)
	return c, err
}

// canAsk returns what the client of a message says that it can be asked.
func canAsk(ctx context.Context) (can []string) {
	var has protocol.ClientCapabilities
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities != nil {
			has = *info.ClientCapabilities
		}
	} else if client, ok := innerOf(server.ClientSessionFromContext(ctx)).(server.SessionWithClientInfo); ok {
		has = client.GetClientCapabilities()
	}
	if has.Elicitation != nil {
		can = append(can, askUser)
	}
	if has.Sampling != nil {
		can = append(can, askModel)
	}
	if has.Roots != nil {
		can = append(can, askRoots)
	}
	return can
}

// incapableError is a question that the client cannot answer.
type incapableError struct{ capability string }

func (e *incapableError) Error() string {
	return fmt.Sprintf("this needs the client capability %s, which the client did not declare", e.capability)
}

// capabilityFor is the protocol's name for what a client that is asked can do.
func capabilityFor(whom string) string {
	switch whom {
	case askUser:
		return "elicitation"
	case askModel:
		return "sampling"
	}
	return "roots"
}

// questions returns what a tool asks, of which err tells; nil: err is something else.
func (x exchange) questions(ctx context.Context, err error) (*server.InputRequestBuilder, error) {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code != memory.InputRequired {
		return nil, nil
	}
	var asked struct {
		State    string
		Requests map[string]struct {
			Ask    string
			Params json.RawMessage
		}
	}
	details, err := tool.Encode(known.Details)
	if err == nil {
		err = json.Unmarshal(details, &asked)
	}
	if err != nil {
		return nil, fmt.Errorf("read what a tool asks: %w", err)
	}
	b, can := server.NewInputRequestBuilder(""), canAsk(ctx)
	if asked.State != "" {
		b.RequestState(x.server.seal.close(x.purpose, asked.State))
	}
	for name, r := range asked.Requests {
		if !slices.Contains(can, r.Ask) {
			return nil, &incapableError{capabilityFor(r.Ask)}
		}
		if err := put(b, name, r.Ask, r.Params); err != nil {
			return nil, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("what the tool asks under %q cannot be asked: %v", tool.Clip(name, gotLength), err)}
		}
	}
	return b, nil
}

// put adds a question.
func put(b *server.InputRequestBuilder, name, whom string, params json.RawMessage) error {
	switch whom {
	case askUser:
		var p protocol.ElicitationParams
		if err := json.Unmarshal(params, &p); err != nil || p.Message == "" {
			return errors.New("params needs message and requestedSchema")
		}
		b.Elicit(name, p)
	case askModel:
		var p protocol.CreateMessageParams
		if err := json.Unmarshal(params, &p); err != nil || len(p.Messages) == 0 {
			return errors.New("params needs messages and maxTokens")
		}
		b.Sample(name, p)
	default:
		b.Roots(name)
	}
	return nil
}

// missingCapability returns the error response about what the client would need; false: err is something else.
func missingCapability(id json.RawMessage, err error) (protocol.JSONRPCError, bool) {
	var lacks *incapableError
	if !errors.As(err, &lacks) {
		return protocol.JSONRPCError{}, false
	}
	answer := errorMessage(id, protocol.MISSING_REQUIRED_CLIENT_CAPABILITY, lacks.Error())
	answer.Error.Data = map[string]any{"requiredCapabilities": map[string]any{lacks.capability: map[string]any{}}}
	return answer, true
}
