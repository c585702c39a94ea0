package channel

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

//go:embed linux
var linux embed.FS

// units are files of a package that are not of the program, by their paths on the system.
func units() map[string]string {
	return map[string]string{
		"/etc/alcove/environment":                "environment",
		"/usr/lib/systemd/system/alcove.service": "alcove.service",
		"/usr/lib/systemd/user/alcove.service":   "alcove-user.service",
	}
}

// isConfiguration reports whether an administrator changes a file, which updates then leave.
func isConfiguration(name string) bool { return strings.HasPrefix(name, "/etc/") }

// packages makes a package of each Linux program.
func (m *Material) packages(ctx context.Context, extension string, pack func(io.Writer, product.Platform, []file) error) error {
	for _, p := range m.Platforms {
		if p.OS != "linux" {
			continue
		}
		list, err := m.installed(ctx, p)
		if err != nil {
			return err
		}
		if err := m.write(artefact(p, extension), func(w io.Writer) error { return pack(w, p, list) }); err != nil {
			return err
		}
	}
	return nil
}

// installed are the files of a package, by their paths on the system, in the order of their names.
func (m *Material) installed(ctx context.Context, p product.Platform) ([]file, error) {
	program, err := m.program(p, "/usr/bin/"+product.Name)
	if err != nil {
		return nil, err
	}
	documents, err := m.documents(ctx, p)
	if err != nil {
		return nil, err
	}
	manual, err := m.manual()
	if err != nil {
		return nil, err
	}
	list := []file{program}
	for _, f := range documents {
		list = append(list, file{"/usr/share/doc/" + product.Name + "/" + documentName(f.name), f.mode, f.data})
	}
	for _, f := range manual {
		if to, ok := placeOf(f.name); ok {
			list = append(list, file{to, f.mode, f.data})
		}
	}
	for to, from := range units() {
		data, err := linux.ReadFile("linux/" + from)
		if err != nil {
			return nil, err
		}
		list = append(list, file{to, 0o644, data})
	}
	for i, f := range list {
		if strings.HasPrefix(f.name, "/usr/share/man/") {
			list[i].data = zipped(f.data)
		}
	}
	return sorted(list), nil
}

func sorted(list []file) []file {
	slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return list
}

// documentName is the name of a document where Debian has it.
func documentName(name string) string {
	if name == "LICENSE" {
		return "copyright"
	}
	return name
}

// placeOf is where a system has a file of the manual. PowerShell has no such place.
func placeOf(name string) (string, bool) {
	folder, base := path.Split(name)
	switch {
	case folder == "man/man1/":
		return "/usr/share/man/man1/" + base + ".gz", true
	case path.Ext(base) == ".bash":
		return "/usr/share/bash-completion/completions/" + strings.TrimSuffix(base, ".bash"), true
	case path.Ext(base) == ".fish":
		return "/usr/share/fish/vendor_completions.d/" + base, true
	case strings.HasPrefix(base, "_"):
		return "/usr/share/zsh/vendor-completions/" + base, true
	}
	return "", false
}

// folders are the folders of files, those that contain others first, with a slash at the end.
func folders(list []file) []string {
	found := map[string]bool{}
	for _, f := range list {
		for dir := path.Dir(f.name); dir != "/"; dir = path.Dir(dir) {
			found[dir+"/"] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func script(name string) (string, error) {
	data, err := linux.ReadFile("linux/" + name)
	return string(data), err
}

// zipped is data compressed without a name and a time.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	w.Write(data)                                         // a buffer takes all
	w.Close()
	return b.Bytes()
}

// packageVersion is a version of which pre-releases sort before the release.
func (m *Material) packageVersion() string {
	return strings.Replace(m.Semantic(), "-", "~", 1)
}

func (m *Material) publisher() string { return fmt.Sprintf("%s <%s>", product.Author, m.Contact) }
