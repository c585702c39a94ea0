// Package project names the namespace of the project that a folder belongs to.
//
// A folder in a Git repository belongs to the repository of its remote "origin": clones and worktrees of one repository share a
// namespace, project/OWNER/NAME. Without a remote, or outside of a repository, the path names it: project/NAME-HASH, where HASH tells
// folders of the same name apart. Folders that no longer exist have a name, too. Git is not run; of a repository's files, only those
// that lead to its configuration are read.
//
// What the owner says goes first: Names link folders to projects, and know what projects were called before.
package project

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/regular"
)

// Prefix is what the namespaces of projects begin with.
const Prefix = "project/"

const (
	longest    = 128      // characters of a namespace
	hashed     = 8        // digits of a hash in a name
	mostConfig = 1 << 20  // bytes of a repository's configuration
	mostPath   = 16 << 10 // bytes of a file that has a path
	mostUp     = 64       // folders above
)

// Namespace is the namespace of the project of a folder, which need not exist; empty for an empty path.
func Namespace(folder string) string { return Names{}.Of(folder).Namespace }

// OfRemote is the namespace of the repository at a URL, such as https://example.org/acme/app.git or git@example.org:acme/app; empty if
// the URL names none. Host, user and password are no part of it.
func OfRemote(remote string) string {
	where := remote
	if u, err := url.Parse(remote); err == nil && u.Scheme != "" && u.Host != "" {
		where = u.Path
	} else if host, after, ok := strings.Cut(remote, ":"); ok && len(host) > 1 && !strings.ContainsAny(host, `/\`) { // not C:\
		where = after
	} else {
		return "" // a path on this machine: no name that others share
	}
	where = strings.Trim(strings.TrimSuffix(strings.TrimRight(where, "/"), ".git"), "/")
	if parts := strings.Split(where, "/"); len(parts) > 2 {
		where = strings.Join(parts[len(parts)-2:], "/")
	}
	if where == "" {
		return ""
	}
	return Prefix + fit(strings.ToLower(where), where)
}

func ofPath(folder string) string {
	folder = strings.TrimRight(strings.ReplaceAll(folder, `\`, "/"), "/")
	return Prefix + fit(path.Base("/"+folder), "") + "-" + hash(folder)
}

var others = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9._/-]+`) })

// fit is a name of characters that a namespace may have. One that had others, or is too long, ends with the hash of what it was made of.
func fit(name, of string) string {
	clean := strings.Trim(others().ReplaceAllString(strings.ToLower(name), "-"), "-/.")
	most := longest - len(Prefix) - hashed - 1
	changed := clean != strings.ToLower(name) || len(clean) > most
	clean = strings.TrimRight(clean[:min(len(clean), most)], "-/.")
	switch {
	case clean == "":
		clean = "unnamed"
	case !changed:
		return clean
	}
	if of == "" { // the caller adds a hash
		return clean
	}
	return clean + "-" + hash(of)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashed]
}

// repository finds the main worktree of the repository that a folder is in, and its configuration; otherwise the folder itself.
func repository(folder string) (root string, config []byte) {
	if isElsewhere(folder) || !filepath.IsAbs(folder) {
		return folder, nil
	}
	dir := filepath.Clean(folder)
	for range mostUp {
		git := filepath.Join(dir, ".git")
		if config, err := regular.Read(filepath.Join(git, "config"), mostConfig); err == nil {
			return dir, config
		}
		if common := commonOf(git); common != "" && !isElsewhere(common) {
			if config, err := regular.Read(filepath.Join(common, "config"), mostConfig); err == nil {
				return filepath.Dir(common), config
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return folder, nil
}

// isElsewhere reports whether a path is on another machine: looking there would tell it who asks.
func isElsewhere(folder string) bool {
	return strings.HasPrefix(folder, `\\`) || strings.HasPrefix(folder, "//") || strings.HasPrefix(folder, `\??\`)
}

// commonOf is the directory that the worktree whose .git is a file shares with its repository.
func commonOf(git string) string {
	dir, ok := strings.CutPrefix(pathIn(git), "gitdir: ")
	if !ok {
		return ""
	}
	dir = from(filepath.Dir(git), dir)
	if isElsewhere(dir) {
		return ""
	}
	if common := pathIn(filepath.Join(dir, "commondir")); common != "" {
		return from(dir, common)
	}
	return dir // of a submodule
}

func pathIn(file string) string {
	text, err := regular.Read(file, mostPath)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func from(dir, path string) string {
	if filepath.IsAbs(path) || isElsewhere(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// origin is the URL of the remote "origin" in a configuration.
func origin(config []byte) string {
	inside := false
	for lines := bufio.NewScanner(bytes.NewReader(config)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inside = strings.EqualFold(strings.Join(strings.Fields(line), " "), `[remote "origin"]`)
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok && inside && strings.EqualFold(strings.TrimSpace(name), "url") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
