// Package product describes what is published: one name, summary, licence and address for all channels.
package product

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

const (
	Name     = "alcove"
	Title    = "Alcove"
	Summary  = "Memory for AI agents: stored, searched, branched and rewound"
	Licence  = "Apache-2.0" // an SPDX identifier
	Homepage = "https://github.com/alcove-memory/alcove"
	Author   = "Alcove"
	Server   = "io.github.alcove-memory/alcove" // the name in the MCP registry

	// Description is plain text, in lines of 80 columns at most.
	Description = `Alcove keeps the memory of AI agents in a directory on your disk, and serves it
over MCP. An acknowledged write is on disk. Memories are found by plain words,
and read as of any moment; branches are forked, compared and merged. Tools
beyond the core are sandboxed WebAssembly modules.`
)

// Keywords are what people look for.
func Keywords() []string { return []string{"memory", "mcp", "agents", "ai"} }

// Release is what one version publishes.
type Release struct {
	Version string    // as in its tag: v1.0.0-rc.1
	Time    time.Time // of the commit; every time in an artefact is this one
	Contact string    // address of who publishes it, for formats that need one
	Dir     string    // has the programs, and takes the artefacts
}

// Platforms are those that a release has programs for, in the order of their names.
func Platforms() []Platform {
	return []Platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
}

// Platform is where a program runs, in Go's names.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "-" + p.Arch }

// Executable is the name of the installed program.
func (p Platform) Executable() string {
	if p.OS == "windows" {
		return Name + ".exe"
	}
	return Name
}

// Program is the path of the program for a platform.
func (r Release) Program(p Platform) string {
	return filepath.Join(r.Dir, Name+"-"+p.String()+filepath.Ext(p.Executable()))
}

// Semantic is the version without the v of its tag, as Semantic Versioning has it: 1.0.0-rc.1.
func (r Release) Semantic() string { return strings.TrimPrefix(r.Version, "v") }

// URL is where the release's file of that name is downloaded.
func (r Release) URL(file string) string {
	return fmt.Sprintf("%s/releases/download/%s/%s", Homepage, url.PathEscape(r.Version), url.PathEscape(file))
}
