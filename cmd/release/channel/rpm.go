package channel

import (
	"context"
	"io"
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
	for _, f := range list {
		r.AddFile(rpmpack.RPMFile{Name: f.name, Body: f.data, Mode: uint(f.mode), Owner: "root", Group: "root", MTime: uint32(m.Time.Unix()), Type: typeOf(f.name)})
	}
	for _, dir := range []string{"/etc/alcove", "/usr/share/doc/" + product.Name} { // its own, which it removes
		r.AddFile(rpmpack.RPMFile{Name: dir, Mode: 0o40755, Owner: "root", Group: "root", MTime: uint32(m.Time.Unix())})
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
