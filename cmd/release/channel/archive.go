package channel

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// archives are for who installs by hand: a zip for Windows, a compressed tar elsewhere.
func archives(ctx context.Context, m *Material) error {
	for _, p := range m.Platforms {
		files, err := m.archived(ctx, p)
		if err != nil {
			return err
		}
		write := m.tarGzip
		if p.OS == "windows" {
			write = m.zip
		}
		if err := m.write(archiveOf(p), func(w io.Writer) error { return write(w, files) }); err != nil {
			return err
		}
	}
	return nil
}

func archiveOf(p product.Platform) string {
	if p.OS == "windows" {
		return artefact(p, ".zip")
	}
	return artefact(p, ".tar.gz")
}

// folderOf is the one folder in an archive.
func (m *Material) folderOf(p product.Platform) string {
	return product.Name + "-" + m.Semantic() + "-" + p.String()
}

func (m *Material) archived(ctx context.Context, p product.Platform) ([]file, error) {
	program, err := m.program(p, p.Executable())
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
	files := append(append([]file{program}, documents...), manual...)
	for i := range files {
		files[i].name = m.folderOf(p) + "/" + files[i].name
	}
	return files, nil
}

func (m *Material) tarGzip(w io.Writer, files []file) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: m.Time, Format: tar.FormatPAX}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), compressed.Close())
}

func (m *Material) zip(w io.Writer, files []file) error {
	out := zip.NewWriter(w)
	out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: m.Time.UTC()}
		h.SetMode(f.mode)
		to, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return out.Close()
}
