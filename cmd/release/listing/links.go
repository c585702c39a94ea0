package listing

import (
	"encoding/base64"
	"encoding/json"
	"net/url"

	"github.com/alcove-memory/alcove/cmd/release/npm"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// Link connects a client by one click. Links begin with https, because pages such as a README drop those of clients' own schemes.
type Link struct{ Client, URL string }

// command is what a client starts.
type command struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Links are those of the clients that have them. The server is that of the npm package.
func Links() ([]Link, error) {
	config, err := json.Marshal(command{"npx", []string{"-y", npm.Name, "mcp"}})
	if err != nil {
		return nil, err
	}
	name := url.QueryEscape(product.Name)
	return []Link{
		{"Cursor", "https://cursor.com/en/install-mcp?name=" + name + "&config=" + url.QueryEscape(base64.StdEncoding.EncodeToString(config))},
		{"VS Code", "https://vscode.dev/redirect/mcp/install?name=" + name + "&config=" + url.QueryEscape(string(config))},
	}, nil
}
