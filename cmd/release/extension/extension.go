// Package extension makes the desktop extensions of a release: a .mcpb file for each platform, which clients such as Claude Desktop install.
//
// A manifest tells systems apart and not processors, and six programs in one file would be six times the download, so each file is for one
// platform. Names are those of the manifest's version 0.3, as the npm package @anthropic-ai/mcpb publishes it.
package extension

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

const (
	manifestVersion = "0.3"
	manifestFile    = "manifest.json"
	iconFile        = "icon.png"
	iconSize        = 512 // pixels
)

// File is the path of the extension for a platform.
func File(r product.Release, p product.Platform) string {
	return filepath.Join(r.Dir, product.Name+"-"+p.String()+".mcpb")
}

// Write makes the extensions for all platforms, and the icon as a file of its own, which the chart names.
func Write(r product.Release) error {
	icon, err := Icon(iconSize)
	if err != nil {
		return fmt.Errorf("draw the icon: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, product.Name+"-"+iconFile), icon, 0o644); err != nil {
		return fmt.Errorf("write the icon: %w", err)
	}
	for _, p := range product.Platforms() {
		if err := write(r, p, icon); err != nil {
			return fmt.Errorf("make the extension for %s: %w", p, err)
		}
	}
	return nil
}

func write(r product.Release, p product.Platform, icon []byte) error {
	program, err := os.ReadFile(r.Program(p))
	if err != nil {
		return err
	}
	m, err := json.MarshalIndent(describe(r, p), "", "  ")
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, f := range []struct {
		name string
		mode os.FileMode
		data []byte
	}{{manifestFile, 0o644, append(m, '\n')}, {iconFile, 0o644, icon}, {programPath(p), 0o755, program}} {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate} // no time: the same files give the same bytes
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(File(r, p), packed.Bytes(), 0o644)
}

func programPath(p product.Platform) string { return "server/" + p.Executable() }

// manifest describes an extension to a client.
type manifest struct {
	Version        string            `json:"manifest_version"`
	Name           string            `json:"name"`
	DisplayName    string            `json:"display_name"`
	ProgramVersion string            `json:"version"`
	Description    string            `json:"description"`
	Long           string            `json:"long_description"`
	Author         author            `json:"author"`
	Repository     repository        `json:"repository"`
	Homepage       string            `json:"homepage"`
	Support        string            `json:"support"`
	Icon           string            `json:"icon"`
	Server         server            `json:"server"`
	ToolsGenerated bool              `json:"tools_generated"` // families add tools while it runs
	Keywords       []string          `json:"keywords"`
	License        string            `json:"license"`
	Compatibility  compatibility     `json:"compatibility"`
	UserConfig     map[string]choice `json:"user_config"`
}

type author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type server struct {
	Type       string  `json:"type"`
	EntryPoint string  `json:"entry_point"`
	Command    command `json:"mcp_config"`
}

type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type compatibility struct {
	Platforms []string `json:"platforms"`
}

// choice is one thing that the user chooses.
type choice struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     any    `json:"default"`
}

// describe is the manifest of the extension for a platform. What is left empty is as if it were not given: a variable of the environment may be
// empty, and a flag may not.
func describe(r product.Release, p product.Platform) manifest {
	return manifest{
		Version: manifestVersion, Name: product.Name, DisplayName: product.Title, ProgramVersion: r.Semantic(), Description: product.Summary,
		Long: product.Description, Author: author{product.Author, product.Homepage}, Repository: repository{"git", product.Homepage},
		Homepage: product.Homepage, Support: product.Homepage + "/issues", Icon: iconFile, ToolsGenerated: true, Keywords: product.Keywords(),
		License: product.Licence, Compatibility: compatibility{[]string{system(p)}},
		Server: server{Type: "binary", EntryPoint: programPath(p), Command: command{
			Command: "${__dirname}/" + programPath(p), Args: []string{"mcp", "--read-only=${user_config.read_only}"},
			Env: map[string]string{"ALCOVE_DATA": "${user_config.directory}", "ALCOVE_NAMESPACE": "${user_config.namespace}"},
		}},
		UserConfig: map[string]choice{
			"directory": {"directory", "Data directory", "Where the memory is kept. Empty: the usual place, which other clients on this machine share", false, ""},
			"namespace": {"string", "Namespace", "Memories that this client sees where a call names none. Empty: the default namespace", false, ""},
			"read_only": {"boolean", "Read only", "Refuse every write of this client", false, false},
		},
	}
}

// system is a platform's system as Node names it.
func system(p product.Platform) string {
	if p.OS == "windows" {
		return "win32"
	}
	return p.OS
}
