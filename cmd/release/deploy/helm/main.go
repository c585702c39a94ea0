// Command helm lints the chart with Helm itself, renders it, and validates what comes out against the schema that Kubernetes publishes.
//
//	helm -chart ../chart -version 1.0.0 -out alcove-kubernetes.yaml -set tls.secret=alcove-tls
//
// It is a module of its own: Helm brings Kubernetes' client, 90 modules that nothing else of Alcove needs.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/strvals"
	_ "k8s.io/kubectl/pkg/util/slice" // its module has the schema
	"sigs.k8s.io/yaml"
)

const (
	releaseName = "alcove"
	namespace   = "alcove"
	header      = "# Made from the chart of the same release. kubectl apply -n alcove -f FILE, after the Secret alcove-tls is there: docs/guides/install.md.\n"
)

func main() {
	dir := flag.String("chart", "../chart", "the folder of the chart")
	version := flag.String("version", "", "of the release, without v")
	out := flag.String("out", "", "where to write the manifest; empty: only check it")
	var sets values
	flag.Var(&sets, "set", "NAME=VALUE, a value of the chart")
	flag.Parse()
	if err := run(*dir, *version, *out, sets); err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
}

// values are those that flags set.
type values []string

func (v *values) String() string { return strings.Join(*v, ",") }

func (v *values) Set(text string) error {
	*v = append(*v, text)
	return nil
}

func run(dir, version, out string, sets values) error {
	set := map[string]any{}
	for _, s := range sets {
		if err := strvals.ParseInto(s, set); err != nil {
			return fmt.Errorf("read %s: %w", s, err)
		}
	}
	if err := check(dir, set); err != nil {
		return err
	}
	documents, err := render(dir, version, set)
	if err != nil {
		return err
	}
	if err := validate(documents); err != nil {
		return err
	}
	fmt.Printf("the chart: linted, and %d resources fit the schema of Kubernetes\n", len(documents))
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(header+strings.Join(documents, "---\n")), 0o644)
}

// check lints the chart. What Helm warns of is an error.
func check(dir string, set map[string]any) error {
	var failed []error
	for _, m := range lint.All(dir, set, namespace, true).Messages {
		if m.Severity >= support.WarningSev {
			failed = append(failed, m)
		}
	}
	return errors.Join(failed...)
}

// render returns the documents of the chart's resources, in the order of the templates' names.
func render(dir, version string, set map[string]any) (documents []string, err error) {
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	if version != "" {
		c.Metadata.Version, c.Metadata.AppVersion = version, version
	}
	v, err := chartutil.ToRenderValues(c, set, chartutil.ReleaseOptions{Name: releaseName, Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return nil, fmt.Errorf("take the values: %w", err)
	}
	rendered, err := engine.Render(c, v)
	if err != nil {
		return nil, fmt.Errorf("render the chart: %w", err)
	}
	var names []string
	for name, text := range rendered {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		documents = append(documents, strings.TrimLeft(rendered[name], "\n"))
	}
	return documents, nil
}

// validate checks documents against the types of Kubernetes. A member that a type does not have is an error.
func validate(documents []string) error {
	schemas, err := openSchemas()
	if err != nil {
		return err
	}
	var failed []error
	for _, text := range documents {
		data, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			return fmt.Errorf("read a resource: %w", err)
		}
		failed = append(failed, schemas.validate(data))
	}
	return errors.Join(failed...)
}

// schemas are the types of Kubernetes by their group, version and kind.
type schemas struct {
	compiler *jsonschema.Compiler
	names    map[string]string
}

const schemaURL = "kubernetes.json"

func openSchemas() (*schemas, error) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubectl").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module k8s.io/kubectl: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "testdata", "openapi", "swagger.json"))
	if err != nil {
		return nil, fmt.Errorf("read the schema of Kubernetes: %w", err)
	}
	var document map[string]any
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("read the schema of Kubernetes: %w", err)
	}
	s := &schemas{compiler: jsonschema.NewCompiler(), names: map[string]string{}}
	s.compiler.DefaultDraft(jsonschema.Draft4)
	for name, d := range document["definitions"].(map[string]any) {
		s.tighten(name, d.(map[string]any))
	}
	return s, s.compiler.AddResource(schemaURL, map[string]any{"definitions": document["definitions"]})
}

// tighten refuses members that a type does not have, and notes which kinds it is.
func (s *schemas) tighten(name string, definition map[string]any) {
	if definition["format"] == "int-or-string" {
		definition["type"] = []any{"string", "integer"}
	}
	delete(definition, "format")
	if _, ok := definition["properties"]; ok {
		definition["additionalProperties"] = false
	}
	kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
	for _, k := range kinds {
		kind := k.(map[string]any)
		s.names[fmt.Sprintf("%v/%v", strings.TrimPrefix(fmt.Sprintf("%v/%v", kind["group"], kind["version"]), "/"), kind["kind"])] = name
	}
}

func (s *schemas) validate(data []byte) error {
	resource, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		return err
	}
	members, _ := resource.(map[string]any)
	kind := fmt.Sprintf("%v/%v", members["apiVersion"], members["kind"])
	name, ok := s.names[kind]
	if !ok {
		return fmt.Errorf("Kubernetes has no kind %s", kind)
	}
	schema, err := s.compiler.Compile(schemaURL + "#/definitions/" + name)
	if err != nil {
		return fmt.Errorf("read the schema of %s: %w", kind, err)
	}
	if err := schema.Validate(resource); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}
