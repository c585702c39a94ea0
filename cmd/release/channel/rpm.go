package channel

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/google/rpmpack"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// rpms makes packages for Fedora, and for what else uses rpm.
func rpms(ctx context.Context, m *Material) error { return m.packages(ctx, ".rpm", m.rpm) }

func (m *Material) rpm(w io.Writer, p product.Platform, list []file) error {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.Arch]
	r, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: product.Name, Summary: product.Summary, Description: product.Description, Version: m.packageVersion(), Release: "1", Arch: arch, OS: "linux",
		Vendor: product.Author, URL: product.Homepage, Packager: m.publisher(), Group: "Applications/System", Licence: product.Licence,
		BuildHost: "localhost", Compressor: "zstd:19", BuildTime: m.Time, Epoch: rpmpack.NoEpoch,
		Requires: rpmpack.Relations{{Name: "/usr/sbin/useradd"}, {Name: "/bin/sh"}},
	})
	if err != nil {
		return err
	}
	for i, f := range list { // its zsh looks elsewhere than Debian's
		list[i].name = strings.Replace(f.name, "/zsh/vendor-completions/", "/zsh/site-functions/", 1)
	}
	for _, f := range list {
		r.AddFile(rpmpack.RPMFile{Name: f.name, Body: f.data, Mode: uint(f.mode), Owner: "root", Group: "root", MTime: uint32(m.Time.Unix()), Type: typeOf(f.name)})
	}
	for _, dir := range folders(list) {
		if !ofEverySystem(dir) {
			r.AddFile(rpmpack.RPMFile{Name: strings.TrimSuffix(dir, "/"), Mode: 0o40755, Owner: "root", Group: "root", MTime: uint32(m.Time.Unix())})
		}
	}
	for name, add := range map[string]func(string){"after-install.sh": r.AddPostin, "before-remove.sh": r.AddPreun, "after-remove.sh": r.AddPostun} {
		text, err := script(name)
		if err != nil {
			return err
		}
		add(text)
	}
	return r.Write(w)
}

// ofEverySystem reports whether a folder is there before the package. It has a part in each other one, such as those of completions, lest one stay
// that no package owns.
func ofEverySystem(dir string) bool {
	return slices.Contains([]string{"/etc/", "/usr/", "/usr/bin/", "/usr/lib/", "/usr/share/", "/usr/share/doc/", "/usr/share/man/", "/usr/share/man/man1/"}, dir)
}

func typeOf(name string) rpmpack.FileType {
	switch {
	case isConfiguration(name):
		return rpmpack.ConfigFile | rpmpack.NoReplaceFile
	case strings.Contains(name, "/licences/"), strings.HasSuffix(name, "/copyright"):
		return rpmpack.LicenceFile
	case strings.HasPrefix(name, "/usr/share/doc/"), strings.HasPrefix(name, "/usr/share/man/"):
		return rpmpack.DocFile
	}
	return rpmpack.GenericFile
}
