// Package npm writes the packages from which npm installs the program.
package npm

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

const (
	// Name is the package that a user installs. Those of platforms are in the scope of the same name.
	Name = "alcove-memory"
	// Dir is the folder of the packages, in that of the release.
	Dir = "npm"

	launcher = "bin/" + Name + ".js"
	oldest   = ">=18" // version of Node
)

//go:embed files/alcove-memory.js
var launcherScript []byte

//go:embed files/README.md
var readme []byte

//go:embed files/platform.md
var platformReadme string

// Manifest is a package.json.
type Manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	Keywords     []string          `json:"keywords,omitempty"`
	Homepage     string            `json:"homepage"`
	Bugs         string            `json:"bugs"`
	Repository   Repository        `json:"repository"`
	License      string            `json:"license"`
	Author       string            `json:"author"`
	Registered   string            `json:"mcpName,omitempty"` // the server in the MCP registry, which compares it
	Bin          map[string]string `json:"bin,omitempty"`
	Files        []string          `json:"files"`
	Engines      map[string]string `json:"engines,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Unplugged    bool              `json:"preferUnplugged,omitempty"` // Yarn would keep the program in an archive, where nothing can run it
	Dependencies map[string]string `json:"optionalDependencies,omitempty"`
	Publish      Publish           `json:"publishConfig"`
}

// Repository is where the sources of a package are; a provenance names the same one.
type Repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Publish is how npm publish publishes.
type Publish struct {
	Access     string `json:"access"`
	Provenance bool   `json:"provenance"`
	Tag        string `json:"tag,omitempty"`
}

// Licences are the texts that the program for a platform must be passed on with, by names with slashes.
type Licences func(product.Platform) (map[string][]byte, error)

// Write writes the packages of the platforms that the release has programs for, then the one that depends on them, and returns their files.
// Sources is the folder with LICENSE and NOTICE.
func Write(r product.Release, sources string, licences Licences) (files []string, err error) {
	if err := checkVersion(r.Semantic()); err != nil {
		return nil, err
	}
	texts, err := texts(sources)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.Dir, Dir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, fmt.Errorf("make the folder of the packages: %w", err)
	}
	built := map[string]string{}
	for _, p := range product.Platforms() {
		if _, err := os.Stat(r.Program(p)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		manifest := platformManifest(r, p)
		content, err := platformFiles(r, p, manifest.Name, licences)
		if err != nil {
			return nil, err
		}
		path, err := write(dir, manifest, append(texts, content...))
		if err != nil {
			return nil, err
		}
		built[manifest.Name] = manifest.Version
		files = append(files, path)
	}
	if len(built) == 0 {
		return nil, fmt.Errorf("%s has no program such as %s: make the release first", r.Dir, filepath.Base(r.Program(product.Platforms()[0])))
	}
	path, err := write(dir, mainManifest(r, built), append(texts, []file{
		{name: "README.md", data: readme},
		{name: launcher, mode: executable, data: launcherScript},
	}...))
	return append(files, path), err
}

// platformFiles are those that only the package of a platform has.
func platformFiles(r product.Release, p product.Platform, name string, licences Licences) ([]file, error) {
	program, err := os.ReadFile(r.Program(p))
	if err != nil {
		return nil, fmt.Errorf("read the program for %s: %w", p, err)
	}
	list := []file{
		{name: "README.md", data: fmt.Appendf(nil, platformReadme, name, nodePlatform(p))},
		{name: "bin/" + p.Executable(), mode: executable, data: program},
	}
	texts, err := licences(p)
	for name, data := range texts {
		list = append(list, file{name: "licences/" + name, data: data})
	}
	return list, err
}

// semantic is what Semantic Versioning 2.0.0 allows without build metadata, which npm drops.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

func checkVersion(version string) error {
	if len(version) > 100 || !semantic.MatchString(version) {
		return fmt.Errorf("npm takes no version %q: give one such as v1.2.3 or v1.2.3-rc.1", version)
	}
	return nil
}

func texts(sources string) (list []file, err error) {
	for _, name := range []string{"LICENSE", "NOTICE"} {
		data, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			return nil, fmt.Errorf("read what every package has: %w", err)
		}
		list = append(list, file{name: name, data: data})
	}
	return list[:len(list):len(list)], nil // appending to it copies it
}

func mainManifest(r product.Release, platforms map[string]string) Manifest {
	m := manifest(r, Name, product.Summary)
	m.Keywords, m.Registered = product.Keywords(), product.Server
	m.Bin = map[string]string{Name: launcher, product.Name: launcher}
	m.Engines = map[string]string{"node": oldest}
	m.Dependencies = platforms
	m.Files = []string{launcher, "NOTICE"}
	return m
}

func platformManifest(r product.Release, p product.Platform) Manifest {
	system, cpu, _ := strings.Cut(nodePlatform(p), "-")
	m := manifest(r, "@"+Name+"/"+nodePlatform(p), fmt.Sprintf("The program of %s for %s on %s", Name, system, cpu))
	m.OS, m.CPU, m.Unplugged = []string{system}, []string{cpu}, true
	m.Files = []string{"bin/" + p.Executable(), "licences", "NOTICE"}
	return m
}

func manifest(r product.Release, name, description string) Manifest {
	m := Manifest{
		Name: name, Version: r.Semantic(), Description: description, License: product.Licence, Author: product.Author, Homepage: product.Homepage,
		Bugs: product.Homepage + "/issues", Repository: Repository{"git", "git+" + product.Homepage + ".git"}, Publish: Publish{Access: "public", Provenance: true},
	}
	if strings.Contains(m.Version, "-") {
		m.Publish.Tag = "next" // never what npm installs without a version
	}
	return m
}

// nodePlatform is a platform in Node's names.
func nodePlatform(p product.Platform) string {
	return strings.NewReplacer("windows", "win32", "amd64", "x64").Replace(p.String())
}

func write(dir string, m Manifest, files []file) (path string, err error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the manifest of %s: %w", m.Name, err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + m.Version + ".tgz" // as npm pack names it
	path = filepath.Join(dir, name)
	return path, pack(path, append(files, file{name: "package.json", data: append(data, '\n')}))
}
