package profile

import "testing"

func TestTheProfileFollowsTheClient(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code": Deferred, "codex-mcp-client": Deferred, "cursor-vscode": Deferred, "Cursor": Deferred, "Visual Studio Code": Deferred,
		"Visual Studio Code - Insiders": Deferred, " claude-code ": Deferred,
		"": Agent, "claude-ai": Agent, "gemini-cli-mcp-client": Agent, "cursory": Agent, "claude-code-router": Agent, "Visual Studio Code Exploration": Agent,
	} {
		if got := Of(name); got != want {
			t.Errorf("the profile of the client %q: got %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"claude-code": Deferred, "codex": Deferred, "cursor": Deferred, "vscode": Deferred, "gemini": "", "claude-desktop": ""} {
		if got := OfSetup(name); got != want {
			t.Errorf("setup of %s: got the profile %q, want %q", name, got, want)
		}
	}
}
