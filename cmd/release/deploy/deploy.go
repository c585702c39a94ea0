// Package deploy makes what a release is deployed with: the file of Docker Compose, the Helm chart, and the manifest for Kubernetes that is
// rendered from it.
package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

//go:embed compose.yaml kubernetes.yaml all:chart
var sources embed.FS

// unreleased is the version in the sources, in whose place a release has its own.
const unreleased = "0.0.0-source"

// chartFile is the path of a release's chart.
func chartFile(r product.Release) string {
	return filepath.Join(r.Dir, product.Name+"-chart-"+r.Semantic()+".tgz")
}

// Write makes all of them.
func Write(r product.Release) error {
	for from, to := range map[string]string{"compose.yaml": "-compose.yaml", "kubernetes.yaml": "-kubernetes.yaml"} {
		data, err := read(r, from)
		if err == nil {
			err = os.WriteFile(filepath.Join(r.Dir, product.Name+to), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", to, err)
		}
	}
	data, err := chart(r)
	if err != nil {
		return fmt.Errorf("pack the chart: %w", err)
	}
	return os.WriteFile(chartFile(r), data, 0o644)
}

// read is a source with the release's version. A tag of an image has no plus sign.
func read(r product.Release, name string) ([]byte, error) {
	data, err := sources.ReadFile(name)
	if err != nil {
		return nil, err
	}
	version := r.Semantic()
	if !strings.HasPrefix(name, "chart/") {
		version = strings.ReplaceAll(version, "+", "-")
	}
	return bytes.ReplaceAll(data, []byte(unreleased), []byte(version)), nil
}

// chart packs the chart as helm package does, but without times.
func chart(r product.Release) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	err := fs.WalkDir(sources, "chart", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := read(r, path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: product.Name + strings.TrimPrefix(path, "chart"), Mode: 0o644, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return packed.Bytes(), err
}
