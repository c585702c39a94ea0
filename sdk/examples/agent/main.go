// Agent is an agent without MCP: a model with function calling, and Alcove's tools over HTTP.
//
//	alcove tools --format openai > tools.json
//	MODEL_URL=https://api.openai.com/v1 MODEL=gpt-5 MODEL_KEY=… ALCOVE_TOKEN_FILE=~/.local/share/alcove/token go run . 'what I said about tea?'
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

type message struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Calls   []call  `json:"tool_calls,omitempty"`
	Answers string  `json:"tool_call_id,omitempty"` // to a call
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

const mostTurns = 20

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: agent QUESTION")
	}
	if err := answer(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// answer prints the model's answer to a question, after the tools that it calls.
func answer(question string) error {
	tools, err := os.ReadFile(cmp.Or(os.Getenv("TOOLS"), "tools.json"))
	if err != nil {
		return err
	}
	token, err := os.ReadFile(os.Getenv("ALCOVE_TOKEN_FILE"))
	if err != nil {
		return err
	}
	messages := []message{{Role: "user", Content: &question}}
	for range mostTurns {
		body, err := post(os.Getenv("MODEL_URL")+"/chat/completions", os.Getenv("MODEL_KEY"),
			map[string]any{"model": cmp.Or(os.Getenv("MODEL"), "gpt-5"), "messages": messages, "tools": json.RawMessage(tools)})
		if err != nil {
			return err
		}
		var said struct{ Choices []struct{ Message message } }
		if err := json.Unmarshal(body, &said); err != nil || len(said.Choices) == 0 {
			return fmt.Errorf("the model answered %.200s (%v)", body, err)
		}
		next := said.Choices[0].Message
		if len(next.Calls) == 0 {
			fmt.Println(*next.Content)
			return nil
		}
		messages = append(messages, next)
		for _, c := range next.Calls {
			result, err := c.run(strings.TrimSpace(string(token)))
			if err != nil {
				return err
			}
			messages = append(messages, message{Role: "tool", Content: &result, Answers: c.ID})
		}
	}
	return fmt.Errorf("the model had no answer after %d turns", mostTurns)
}

// run calls a tool. memory_operation takes an operation, of which every other tool is the method.
func (c call) run(token string) (result string, err error) {
	var operation any = json.RawMessage(c.Function.Arguments)
	if c.Function.Name != "memory_operation" {
		operation = map[string]any{"method": c.Function.Name, "params": operation}
	}
	body, err := post(cmp.Or(os.Getenv("ALCOVE_URL"), "http://127.0.0.1:9742")+"/operation", token, operation)
	return string(body), err
}

func post(url, key string, body any) ([]byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %.200s", url, response.Status, answer)
	}
	return answer, err
}
