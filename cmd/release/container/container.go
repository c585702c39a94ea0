// Package container makes the OCI image of a release: one index for all processors, from scratch and without a daemon.
//
// Besides the program it has the root certificates that Go's authors take from Mozilla's list, a user without rights, and two directories.
// Nothing in it depends on the clock or the machine, so the same programs give the same bytes.
package container

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"
	"oras.land/oras-go/v2/content/oci"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

const (
	// User is the id of the container's user and group, who has no rights but in Volume.
	User = 10001
	// Volume is where the data are.
	Volume = "/data"
	// Port is where the server listens if it is told to serve other machines.
	Port = 9742
	// Repository is where the image is published.
	Repository = "ghcr.io/alcove-memory/" + product.Name

	file    = product.Name + "-image.tar"
	program = "/" + product.Name
	roots   = "etc/ssl/certs/ca-certificates.crt"
)

// File is the path of a release's image.
func File(r product.Release) string { return r.Dir + "/" + file }

// Reference names a release's image. A tag has no plus sign.
func Reference(r product.Release) string {
	return Repository + ":" + strings.ReplaceAll(r.Semantic(), "+", "-")
}

// Architectures are the processors that the image is for.
func Architectures() []string { return []string{"amd64", "arm64"} }

// Write makes the image of a release, as an archive of an OCI layout whose tag is the version, and returns the digest of its index.
func Write(r product.Release) (digest.Digest, error) {
	l := layout{}
	base, err := gzipped(baseFiles())
	if err != nil {
		return "", err
	}
	index := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Annotations: annotations(r)}
	for _, arch := range Architectures() {
		m, err := l.image(r, arch, base)
		if err != nil {
			return "", err
		}
		index.Manifests = append(index.Manifests, m)
	}
	tagged, err := l.addJSON(v1.MediaTypeImageIndex, index)
	if err != nil {
		return "", err
	}
	tagged.Annotations = map[string]string{v1.AnnotationRefName: Reference(r), "io.containerd.image.name": Reference(r)} // podman reads one, Docker the other
	return tagged.Digest, l.write(File(r), v1.Index{Versioned: index.Versioned, MediaType: index.MediaType, Manifests: []v1.Descriptor{tagged}})
}

// Digest is that of a release's image, as Write returned it.
func Digest(r product.Release) (digest.Digest, error) {
	from, err := oci.NewFromTar(context.Background(), File(r))
	if err != nil {
		return "", fmt.Errorf("open the image: %w", err)
	}
	d, err := from.Resolve(context.Background(), Reference(r))
	return d.Digest, err
}

// annotations describe the image to registries, and as labels to who inspects it.
func annotations(r product.Release) map[string]string {
	return map[string]string{
		v1.AnnotationTitle: product.Title, v1.AnnotationDescription: product.Summary, v1.AnnotationLicenses: product.Licence,
		v1.AnnotationURL: product.Homepage, v1.AnnotationSource: product.Homepage, v1.AnnotationVersion: r.Semantic(), v1.AnnotationVendor: product.Author,
		"io.modelcontextprotocol.server.name": product.Server,
	}
}

// layout is the content of an OCI layout, by digest.
type layout map[digest.Digest][]byte

func (l layout) add(mediaType string, content []byte) v1.Descriptor {
	d := digest.FromBytes(content)
	l[d] = content
	return v1.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(content))}
}

func (l layout) addJSON(mediaType string, value any) (v1.Descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

// image adds the image for one processor.
func (l layout) image(r product.Release, arch string, base layer) (v1.Descriptor, error) {
	platform := v1.Platform{OS: "linux", Architecture: arch}
	data, err := os.ReadFile(r.Program(product.Platform{OS: platform.OS, Arch: arch}))
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("read the program for the image: %w", err)
	}
	own, err := gzipped([]entry{{name: program[1:], mode: 0o755, data: data}})
	if err != nil {
		return v1.Descriptor{}, err
	}
	c, err := l.addJSON(v1.MediaTypeImageConfig, imageConfig{
		Platform: platform, Config: settings(r), RootFS: v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{base.unpacked, own.unpacked}}, History: history(),
	})
	if err != nil {
		return v1.Descriptor{}, err
	}
	m, err := l.addJSON(v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: c, Annotations: annotations(r),
		Layers: []v1.Descriptor{l.add(v1.MediaTypeImageLayerGzip, base.packed), l.add(v1.MediaTypeImageLayerGzip, own.packed)},
	})
	m.Platform = &platform
	return m, err
}

func history() []v1.History {
	return []v1.History{{CreatedBy: "root certificates, user, directories"}, {CreatedBy: product.Name}}
}

// imageConfig is v1.Image with the health check, which Docker and its successors read from it and the specification leaves out.
type imageConfig struct {
	v1.Platform
	Config  Settings     `json:"config"`
	RootFS  v1.RootFS    `json:"rootfs"`
	History []v1.History `json:"history"`
}

// Settings are how a container of the image runs.
type Settings struct {
	v1.ImageConfig
	Healthcheck Health `json:"Healthcheck"`
}

// Health is how a container is asked whether it serves.
type Health struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration // written as nanoseconds
	Retries                        int
}

// settings are those of all images. The data have a directory of their own in the volume, because the root of a volume may be its group's.
func settings(r product.Release) Settings {
	user := fmt.Sprintf("%d:%d", User, User)
	return Settings{
		ImageConfig: v1.ImageConfig{
			User: user, Entrypoint: []string{program}, Cmd: []string{"serve"}, WorkingDir: "/", StopSignal: "SIGTERM", Labels: annotations(r),
			ExposedPorts: map[string]struct{}{fmt.Sprintf("%d/tcp", Port): {}}, Volumes: map[string]struct{}{Volume: {}},
			Env: []string{
				"PATH=/", "HOME=" + path.Join(Volume, "home"),
				"ALCOVE_DATA=" + path.Join(Volume, product.Name), "ALCOVE_CACHE=" + path.Join(Volume, "cache"),
			},
		},
		Healthcheck: Health{Test: []string{"CMD", program, "doctor", "--ready"}, Interval: 30 * time.Second, Timeout: 10 * time.Second, StartPeriod: time.Minute, Retries: 3},
	}
}

// entry is a file or, without data, a directory.
type entry struct {
	name string
	mode int64
	user int
	data []byte
}

// baseFiles are what all images have besides the program, each behind its directory.
func baseFiles() []entry {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file of certificates cannot say until when one is trusted
			pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	account := fmt.Sprintf("%s:x:%d:%d::%s:/\n", product.Name, User, User, path.Join(Volume, "home"))
	return []entry{
		{name: "data", mode: 0o700, user: User}, {name: "etc", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\n%s:x:%d:\n", product.Name, User)},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0::/:/\n" + account)},
		{name: "etc/ssl", mode: 0o755}, {name: "etc/ssl/certs", mode: 0o755}, {name: roots, mode: 0o644, data: certificates.Bytes()},
		{name: "tmp", mode: 0o1777},
	}
}

// layer is files as they are in a blob.
type layer struct {
	packed   []byte
	unpacked digest.Digest
}

func gzipped(files []entry) (layer, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return layer{}, err
	}
	sum := digest.Canonical.Digester()
	if err := archive(io.MultiWriter(z, sum.Hash()), files); err != nil {
		return layer{}, err
	}
	err = z.Close()
	return layer{packed.Bytes(), sum.Digest()}, err
}

// archive writes a tar archive in which all times are 1970.
func archive(out io.Writer, files []entry) error {
	w := tar.NewWriter(out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.user, Gid: f.user, Size: int64(len(f.data)), Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0)}
		if f.data == nil {
			h.Typeflag, h.Name = tar.TypeDir, f.name+"/"
		}
		if err := w.WriteHeader(h); err != nil {
			return fmt.Errorf("archive %s: %w", f.name, err)
		}
		if _, err := w.Write(f.data); err != nil {
			return fmt.Errorf("archive %s: %w", f.name, err)
		}
	}
	return w.Close()
}

// write writes the layout as an archive.
func (l layout) write(name string, index v1.Index) error {
	top, err := json.Marshal(index)
	if err != nil {
		return err
	}
	version, err := json.Marshal(v1.ImageLayout{Version: v1.ImageLayoutVersion})
	if err != nil {
		return err
	}
	files := []entry{{name: v1.ImageLayoutFile, mode: 0o644, data: version}, {name: v1.ImageIndexFile, mode: 0o644, data: top},
		{name: v1.ImageBlobsDir, mode: 0o755}, {name: v1.ImageBlobsDir + "/sha256", mode: 0o755}}
	var digests []digest.Digest
	for d := range l {
		digests = append(digests, d)
	}
	slices.Sort(digests)
	for _, d := range digests {
		files = append(files, entry{name: v1.ImageBlobsDir + "/sha256/" + d.Encoded(), mode: 0o644, data: l[d]})
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	if err := archive(f, files); err != nil {
		f.Close()
		return fmt.Errorf("write the image: %w", err)
	}
	return f.Close()
}
