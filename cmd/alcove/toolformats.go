package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host"
)

// longestOpenAI is how many characters of a function's description OpenAI's API takes.
const longestOpenAI = 1024

// toolFormats are the forms in which model APIs take a list of tools, as the member tools of their requests; mcp is the answer to tools/list.
func toolFormats() map[string]func([]host.ExportedTool) any {
	return map[string]func([]host.ExportedTool) any{"anthropic": anthropicTools, "openai": openAITools, "gemini": geminiTools, "mcp": mcpTools}
}

// formatted are tools in the form of a model API.
func formatted(tools []host.ExportedTool, format string) (any, error) {
	form, ok := toolFormats()[format]
	if !ok {
		return nil, &usageError{fmt.Errorf("unknown format %.40q: use %s", format, strings.Join(slices.Sorted(maps.Keys(toolFormats())), ", "))}
	}
	return form(tools), nil
}

func anthropicTools(tools []host.ExportedTool) any { return tools }

func openAITools(tools []host.ExportedTool) any {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	list := []tool{}
	for _, t := range tools {
		list = append(list, tool{"function", function{t.Name, beginning(t.Description, longestOpenAI), t.InputSchema}})
	}
	return list
}

func geminiTools(tools []host.ExportedTool) any {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
	}
	list := []function{}
	for _, t := range tools {
		list = append(list, function{t.Name, t.Description, t.InputSchema})
	}
	return []any{map[string]any{"functionDeclarations": list}}
}

func mcpTools(tools []host.ExportedTool) any {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	list := []tool{}
	for _, t := range tools {
		list = append(list, tool{t.Name, t.Description, t.InputSchema})
	}
	return map[string]any{"tools": list}
}

// beginning is the sentences at the beginning of a text that have at most so many characters, or that many characters.
func beginning(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most])
	if end := strings.LastIndex(cut, ". "); end > 0 {
		return cut[:end+1]
	}
	return cut
}
