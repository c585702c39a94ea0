package channel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// debs makes packages for Debian, and for what descends from it.
func debs(ctx context.Context, m *Material) error { return m.packages(ctx, ".deb", m.deb) }

// deb writes a package as deb(5) has it: an ar archive with the version of the format, what dpkg reads, and the files.
func (m *Material) deb(w io.Writer, p product.Platform, list []file) error {
	control, err := m.control(p, list)
	if err != nil {
		return err
	}
	data, err := m.tree(list)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, part := range []file{{"debian-binary", 0, []byte("2.0\n")}, {"control.tar.gz", 0, control}, {"data.tar.gz", 0, data}} {
		padding := "\n"[:len(part.data)%2]
		if _, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", part.name, m.Time.Unix(), 0, 0, 0o100644, len(part.data), part.data, padding); err != nil {
			return err
		}
	}
	return nil
}

// control are the description of a package, the sums of its files, and its scripts.
func (m *Material) control(p product.Platform, list []file) ([]byte, error) {
	var sums, configuration strings.Builder
	size := 0
	for _, f := range list {
		size += (len(f.data) + 1023) / 1024
		if isConfiguration(f.name) {
			fmt.Fprintln(&configuration, f.name)
		}
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name[1:])
	}
	parts := []file{
		{"/control", 0o644, []byte(m.stanza(p, size))}, {"/md5sums", 0o644, []byte(sums.String())}, {"/conffiles", 0o644, []byte(configuration.String())},
	}
	for name, from := range map[string]string{"/postinst": "after-install.sh", "/prerm": "before-remove.sh", "/postrm": "after-remove.sh"} {
		text, err := script(from)
		if err != nil {
			return nil, err
		}
		parts = append(parts, file{name, 0o755, []byte(text)})
	}
	return m.tree(sorted(parts))
}

// stanza describes a package to dpkg. size is in KiB.
func (m *Material) stanza(p product.Platform, size int) string {
	description := " " + strings.ReplaceAll(product.Description, "\n", "\n ")
	return fmt.Sprintf(`Package: %s
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: passwd
Section: utils
Priority: optional
Homepage: %s
Description: %s
%s
`, product.Name, m.packageVersion(), p.Arch, m.publisher(), size, product.Homepage, product.Summary, description)
}

// tree is files and their folders as a compressed archive, owned by root.
func (m *Material) tree(list []file) ([]byte, error) {
	var b bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	out := tar.NewWriter(compressed)
	add := func(h *tar.Header, data []byte) error {
		h.Name, h.Uname, h.Gname, h.ModTime, h.Format = "."+h.Name, "root", "root", m.Time, tar.FormatGNU
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err := out.Write(data)
		return err
	}
	for _, dir := range append([]string{"/"}, folders(list)...) {
		if err := add(&tar.Header{Name: dir, Mode: 0o755, Typeflag: tar.TypeDir}, nil); err != nil {
			return nil, err
		}
	}
	for _, f := range list {
		if err := add(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), Typeflag: tar.TypeReg}, f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(out.Close(), compressed.Close())
	return b.Bytes(), err
}
