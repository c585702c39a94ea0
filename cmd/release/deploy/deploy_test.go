package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/cmd/release/container"
	"github.com/alcove-memory/alcove/cmd/release/product"
)

// made is a release with what this package makes.
func made(t *testing.T) product.Release {
	t.Helper()
	r := product.Release{Version: "v1.2.3+build", Dir: t.TempDir()}
	if err := Write(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// documents are those of a file in YAML.
func documents(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := yaml.NewDecoder(f); ; {
		var document map[string]any
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("read %s: %v", path, err)
		}
		list = append(list, document)
	}
}

func TestTheComposeFileFitsThePublishedSchemaAndRunsTheReleasedImage(t *testing.T) {
	r := made(t)
	list := documents(t, filepath.Join(r.Dir, "alcove-compose.yaml"))
	schema, err := jsonschema.NewCompiler().Compile("testdata/compose-spec.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(list[0]); err != nil {
		t.Error(err)
	}
	service := list[0]["services"].(map[string]any)["alcove"].(map[string]any)
	if got, want := service["image"], container.Reference(r); got != want {
		t.Errorf("the image: got %v, want %s", got, want)
	}
	if service["read_only"] != true {
		t.Errorf("the root can be written: %v", service["read_only"])
	}
}

func TestTheManifestHasItsResourcesAndTheReleasedImage(t *testing.T) {
	r := made(t)
	found := map[string]bool{}
	for _, d := range documents(t, filepath.Join(r.Dir, "alcove-kubernetes.yaml")) {
		found[d["kind"].(string)] = true
		if d["kind"] != "StatefulSet" {
			continue
		}
		pod := at(d, "spec", "template", "spec").(map[string]any)
		first := pod["containers"].([]any)[0].(map[string]any)
		if got, want := first["image"], container.Reference(r); got != want {
			t.Errorf("the image: got %v, want %s", got, want)
		}
		if got := at(pod, "securityContext", "runAsUser"); got != container.User {
			t.Errorf("the user: got %v, want %d", got, container.User)
		}
		if got := at(first, "securityContext", "allowPrivilegeEscalation"); got != false {
			t.Errorf("escalation: got %v, want false", got)
		}
		if got := at(first, "securityContext", "readOnlyRootFilesystem"); got != true {
			t.Errorf("a read-only root: got %v, want true", got)
		}
		if pod["automountServiceAccountToken"] != false {
			t.Errorf("the pod has a token of Kubernetes")
		}
	}
	for _, kind := range []string{"StatefulSet", "Service", "ServiceAccount", "NetworkPolicy"} {
		if !found[kind] {
			t.Errorf("got %v, want a %s", found, kind)
		}
	}
}

// at is a member of a member.
func at(document map[string]any, path ...string) any {
	var v any = document
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	return v
}

func TestTheChartHasTheReleasesVersionAndTheSameBytesTwice(t *testing.T) {
	r := made(t)
	first, err := os.ReadFile(chartFile(r))
	if err != nil {
		t.Fatal(err)
	}
	second, err := chart(r)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("got %d and %d bytes, %v, want the same ones", len(first), len(second), err)
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(data)
	}
	if got := files["alcove/Chart.yaml"]; !strings.Contains(got, "\nversion: 1.2.3+build\nappVersion: 1.2.3+build\n") {
		t.Errorf("got %s, want the version 1.2.3+build", got)
	}
	for _, name := range []string{"alcove/values.yaml", "alcove/values.schema.json", "alcove/templates/_helpers.tpl", "alcove/templates/statefulset.yaml"} {
		if files[name] == "" {
			t.Errorf("the chart lacks %s", name)
		}
	}
}
