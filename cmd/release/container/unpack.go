package container

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// Unpack writes the files of a release's image for an architecture into a directory, which is then a root to run the program in without a
// container runtime. Only root can give them their owners.
func Unpack(ctx context.Context, r product.Release, arch, dir string) (Settings, error) {
	from, err := oci.NewFromTar(ctx, File(r))
	if err != nil {
		return Settings{}, fmt.Errorf("open the image: %w", err)
	}
	top, err := from.Resolve(ctx, Reference(r))
	if err != nil {
		return Settings{}, fmt.Errorf("open the image: %w", err)
	}
	var index v1.Index
	if err := fetch(ctx, from, top, &index); err != nil {
		return Settings{}, err
	}
	for _, d := range index.Manifests {
		if d.Platform != nil && d.Platform.Architecture == arch {
			return unpackImage(ctx, from, d, dir)
		}
	}
	return Settings{}, fmt.Errorf("%s has no image for %s", File(r), arch)
}

func unpackImage(ctx context.Context, from content.Fetcher, d v1.Descriptor, dir string) (Settings, error) {
	var m v1.Manifest
	if err := fetch(ctx, from, d, &m); err != nil {
		return Settings{}, err
	}
	var c imageConfig
	if err := fetch(ctx, from, m.Config, &c); err != nil {
		return Settings{}, err
	}
	for _, l := range m.Layers {
		if err := unpackLayer(ctx, from, l, dir); err != nil {
			return Settings{}, fmt.Errorf("unpack %s: %w", l.Digest, err)
		}
	}
	return c.Config, nil
}

// fetch reads a JSON document of the image.
func fetch(ctx context.Context, from content.Fetcher, d v1.Descriptor, into any) error {
	data, err := content.FetchAll(ctx, from, d)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read %s of the image: %w", d.Digest, err)
	}
	return nil
}

func unpackLayer(ctx context.Context, from content.Fetcher, d v1.Descriptor, dir string) error {
	packed, err := content.FetchAll(ctx, from, d)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%q leads out of the root", h.Name)
		}
		if err := unpackFile(h, files, filepath.Join(dir, h.Name)); err != nil {
			return err
		}
	}
}

func unpackFile(h *tar.Header, data io.Reader, path string) error {
	if h.Typeflag == tar.TypeDir {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
	} else {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, data)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return errors.Join(os.Chown(path, h.Uid, h.Gid), os.Chmod(path, h.FileInfo().Mode()))
}
