package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alcove-memory/alcove/host/testing/ociregistry"
)

// TestCosignSignaturesAreReadFromARealRegistry has signatures as cosign writes them, and such as nobody should take.
func TestCosignSignaturesAreReadFromARealRegistry(t *testing.T) {
	t.Parallel()
	plain := ociregistry.Start(t, "")
	signers := map[string]*ecdsa.PrivateKey{}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cosign",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(t, ts, neg, args) },
			"guest":   writeGuest, "digest": rememberDigest,
			"stopowner": func(ts *testscript.TestScript, _ bool, _ []string) { stopOwner(t, ts.Getenv("ALCOVE_DATA")) },
			"cosignkey": func(ts *testscript.TestScript, _ bool, args []string) { signers[args[0]] = newCosignKey(ts, args[0]) },
			"cosign": func(ts *testscript.TestScript, _ bool, args []string) {
				if len(args) < 4 {
					ts.Fatalf("use it as: cosign FORM KEY REPOSITORY DIGEST [FAULT]")
				}
				c := cosigned{"http://" + plain + "/v2/" + args[2], plain + "/" + args[2], args[3], signers[args[1]], strings.Join(args[4:], "")}
				ts.Check(c.push(args[0]))
			},
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ALCOVE_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("ALCOVE_LISTEN", "off")
			e.Setenv("PLAIN", plain)
			e.Setenv("DOCKER_CONFIG", filepath.Join(e.WorkDir, "none"))
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return shareCache(e)
		},
	})
}

// newCosignKey makes a key as cosign generate-key-pair does, and writes the public one in PEM.
func newCosignKey(ts *testscript.TestScript, name string) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(name+".pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644))
	return key
}

// cosigned is an artifact that a key signs as cosign does, with a fault.
type cosigned struct {
	at, repository, digest string
	key                    *ecdsa.PrivateKey
	fault                  string // digest, repository, type, long, none, broken
}

// push pushes a signature in a form: tag, referrer or bundle.
func (c cosigned) push(form string) error {
	if form == "bundle" {
		return c.pushBundle()
	}
	payload := c.payload()
	made, err := c.sign(payload)
	if err != nil {
		return err
	}
	note := map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(made)}
	switch c.fault {
	case "none":
		note = nil
	case "broken":
		payload = append(payload, ' ')
	}
	layer, err := c.blob("application/vnd.dev.cosign.simplesigning.v1+json", payload)
	if err != nil {
		return err
	}
	layer["annotations"] = note
	config, err := c.blob("application/vnd.oci.image.config.v1+json", []byte(`{"architecture":"","os":"","config":{},"rootfs":{"type":"layers","diff_ids":[]}}`))
	if err != nil {
		return err
	}
	m := map[string]any{"schemaVersion": 2, "mediaType": ociManifest, "config": config, "layers": []any{layer}}
	if form == "tag" {
		return c.manifest(c.tag()+".sig", ociManifest, m)
	}
	config["mediaType"] = "application/vnd.dev.cosign.artifact.sig.v1+json"
	return c.refer(m, "application/vnd.dev.cosign.artifact.sig.v1+json")
}

const ociManifest = "application/vnd.oci.image.manifest.v1+json"

func (c cosigned) payload() []byte {
	sum, repository, kind, more := c.digest, c.repository, "cosign container image signature", ""
	switch c.fault {
	case "digest":
		sum = "sha256:" + strings.Repeat("0", 64)
	case "repository":
		repository = "registry.example.org/other"
	case "type":
		kind = "atomic container signature"
	case "long":
		more = strings.Repeat("x", 20_000)
	}
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":%q},"optional":{"more":%q}}`, repository, sum, kind, more)
}

func (c cosigned) sign(message []byte) ([]byte, error) {
	sum := sha256.Sum256(message)
	return ecdsa.SignASN1(rand.Reader, c.key, sum[:])
}

// pushBundle pushes a bundle of sigstore, which refers to the artifact.
func (c cosigned) pushBundle() error {
	predicate, sum := "https://sigstore.dev/cosign/sign/v1", strings.TrimPrefix(c.digest, "sha256:")
	switch c.fault {
	case "type":
		predicate = "https://slsa.dev/provenance/v1"
	case "digest":
		sum = strings.Repeat("0", 64)
	}
	text := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`, sum, predicate)
	const kind = "application/vnd.in-toto+json"
	made, err := c.sign(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(text), text))
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{
		"mediaType": sigstoreBundle, "verificationMaterial": map[string]any{"publicKey": map[string]string{"hint": "key"}},
		"dsseEnvelope": map[string]any{"payload": []byte(text), "payloadType": kind, "signatures": []any{map[string]any{"sig": made}}},
	})
	if err != nil {
		return err
	}
	layer, err := c.blob(sigstoreBundle, data)
	if err != nil {
		return err
	}
	config, err := c.blob("application/vnd.oci.empty.v1+json", []byte("{}"))
	if err != nil {
		return err
	}
	return c.refer(map[string]any{"schemaVersion": 2, "mediaType": ociManifest, "artifactType": sigstoreBundle, "config": config, "layers": []any{layer}}, sigstoreBundle)
}

const sigstoreBundle = "application/vnd.dev.sigstore.bundle.v0.3+json"

// tag is what registries without referrers name those of an artifact by.
func (c cosigned) tag() string { return strings.Replace(c.digest, ":", "-", 1) }

// refer pushes a manifest that refers to the artifact, and the index that lists it.
func (c cosigned) refer(m map[string]any, kind string) error {
	m["subject"] = map[string]any{"mediaType": ociManifest, "digest": c.digest, "size": 1}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	listed := descriptorOf(ociManifest, data)
	if listed["artifactType"] = kind; kind == sigstoreBundle {
		listed["artifactType"] = "application/vnd.oci.empty.v1+json" // as cosign 3.0.6 writes it
	}
	if err := c.manifest(listed["digest"].(string), ociManifest, m); err != nil {
		return err
	}
	const index = "application/vnd.oci.image.index.v1+json"
	return c.manifest(c.tag(), index, map[string]any{"schemaVersion": 2, "mediaType": index, "manifests": []any{listed}})
}

func descriptorOf(kind string, data []byte) map[string]any {
	return map[string]any{"mediaType": kind, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(data)), "size": len(data)}
}

// blob uploads bytes.
func (c cosigned) blob(kind string, data []byte) (map[string]any, error) {
	d := descriptorOf(kind, data)
	answer, err := http.Post(c.at+"/blobs/uploads/", "", nil)
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	to, err := url.Parse(answer.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	q := to.Query()
	q.Set("digest", d["digest"].(string))
	to.RawQuery = q.Encode()
	return d, put(to.String(), "application/octet-stream", data)
}

func (c cosigned) manifest(name, kind string, m map[string]any) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return put(c.at+"/manifests/"+name, kind, data)
}

func put(to, kind string, data []byte) error {
	r, err := http.NewRequest(http.MethodPut, to, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("PUT %s: %s: %s", to, answer.Status, text)
	}
	return nil
}
