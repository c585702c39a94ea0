// Package listing makes what registries and clients are told of a release: server.json of the MCP registry, and links that connect a client.
//
// Names are those of the schema 2025-12-11 at static.modelcontextprotocol.io.
package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/cmd/release/container"
	"github.com/alcove-memory/alcove/cmd/release/extension"
	"github.com/alcove-memory/alcove/cmd/release/npm"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

const schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// file is the path of a release's server.json.
func file(r product.Release) string { return filepath.Join(r.Dir, "server.json") }

type server struct {
	Schema      string     `json:"$schema"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Version     string     `json:"version"`
	Website     string     `json:"websiteUrl"`
	Repository  repository `json:"repository"`
	Packages    []pkg      `json:"packages"`
}

type repository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

// pkg is one way to get and run the server.
type pkg struct {
	Type        string     `json:"registryType"`
	Identifier  string     `json:"identifier"`
	Version     string     `json:"version,omitempty"` // an image's is its tag
	Digest      string     `json:"fileSha256,omitempty"`
	RunWith     string     `json:"runtimeHint,omitempty"`
	RunArgs     []argument `json:"runtimeArguments,omitempty"`
	Args        []argument `json:"packageArguments,omitempty"`
	Environment []variable `json:"environmentVariables,omitempty"`
	Transport   transport  `json:"transport"`
}

type argument struct {
	Type  string `json:"type"`
	Name  string `json:"name,omitempty"`
	Value string `json:"value"`
}

type variable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Format      string `json:"format"`
}

type transport struct {
	Type string `json:"type"`
}

// Write makes server.json, with the digests of the extensions and the image that the release has. It has no packages but these and that of npm.
func Write(r product.Release) error {
	packages, err := packages(r)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(server{
		Schema: schema, Name: product.Server, Title: product.Title, Description: product.Summary, Version: r.Semantic(), Website: product.Homepage,
		Repository: repository{product.Homepage, "github"}, Packages: packages,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file(r), append(data, '\n'), 0o644)
}

func packages(r product.Release) ([]pkg, error) {
	stdio, serve := transport{"stdio"}, []argument{{Type: "positional", Value: "mcp"}}
	image, err := container.Digest(r)
	if err != nil {
		return nil, fmt.Errorf("describe the image: %w", err)
	}
	list := []pkg{
		{Type: "npm", Identifier: npm.Name, Version: r.Semantic(), RunWith: "npx", Args: serve, Environment: variables(), Transport: stdio},
		{Type: "oci", Identifier: container.Reference(r) + "@" + image.String(), RunWith: "docker", Args: serve, Transport: stdio,
			RunArgs: []argument{{Type: "named", Name: "--volume", Value: product.Name + ":" + container.Volume}}},
	}
	for _, p := range product.Platforms() {
		path := extension.File(r, p)
		digest, err := digestOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing: make the extensions first", path)
		}
		if err != nil {
			return nil, fmt.Errorf("describe the extension for %s: %w", p, err)
		}
		list = append(list, pkg{Type: "mcpb", Identifier: r.URL(filepath.Base(path)), Version: r.Semantic(), Digest: digest, Transport: stdio})
	}
	return list, nil
}

func variables() []variable {
	return []variable{
		{"ALCOVE_DATA", "Where the memory is kept, in place of the usual directory", "filepath"},
		{"ALCOVE_NAMESPACE", "The namespace of calls that name none", "string"},
	}
}

// digestOf is the SHA-256 of a file, in figures of base 16.
func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
