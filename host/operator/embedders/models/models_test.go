package models_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator/embedders/models"
	"github.com/alcove-memory/alcove/host/search/embed"
)

const (
	weights   = "model.safetensors"
	tokenizer = "tokenizer.json"
	config    = "config.json"
)

// small is a model with two tokens and two dimensions.
func small() map[string][]byte {
	header := `{"embeddings":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]}}`
	return map[string][]byte{
		weights:   append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), 1, 0, 0, 1),
		tokenizer: []byte(`{"model":{"type":"WordLevel","unk_token":"?","vocab":{"cat":0,"dog":1}}}`),
		config:    []byte(`{"normalize":true}`),
	}
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC) }

func library(t *testing.T) models.Library { return models.Library{Dir: t.TempDir(), Now: now} }

// folder writes files into a folder.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tarOf writes files into an archive, under a folder.
func tarOf(t testing.TB, files map[string][]byte, more ...tar.Header) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range more {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: "m/" + name, Mode: 0o777, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.tar.gz")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range files {
		w, err := z.Create("some/folder/" + name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serves serves files under a path, and an archive.
func serves(t *testing.T, under string, files map[string][]byte) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[strings.TrimPrefix(r.URL.Path, under)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(content)
	}))
	t.Cleanup(s.Close)
	return s
}

// left lists what an installation left in the models' folder.
func left(t *testing.T, l models.Library) string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(l.Dir, models.Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestAModelIsTheSameWhereverItComesFrom(t *testing.T) {
	s := serves(t, "/ours/", small())
	archive, err := os.ReadFile(tarOf(t, small()))
	if err != nil {
		t.Fatal(err)
	}
	packed := serves(t, "/", map[string][]byte{"m.tar.gz": archive})
	digests := map[string]string{}
	for _, from := range []string{folder(t, small()), tarOf(t, small()), zipOf(t, small()), s.URL + "/ours", packed.URL + "/m.tar.gz?token=secret"} {
		l := library(t)
		i, err := l.Install(t.Context(), models.Request{Name: "ours", From: from})
		if err != nil {
			t.Errorf("install from %s: %v", from, err)
			continue
		}
		digests[i.Digest] = from
		if i.Dimensions != 2 || !i.Noted || strings.Contains(i.Source, "secret") {
			t.Errorf("install from %s = %+v, want 2 dimensions, a new digest and no token", from, i)
		}
		if got, want := left(t, l), "ours-"+i.Digest[:12]+" pins.json"; got != want {
			t.Errorf("installing from %s leaves %q, want %q", from, got, want)
		}
	}
	if len(digests) != 1 {
		t.Errorf("digests of the same files: %v, want one", digests)
	}
}

func TestChangedFilesAreRefusedUnlessTheirDigestIsGiven(t *testing.T) {
	l := library(t)
	first, err := l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, small())})
	if err != nil {
		t.Fatal(err)
	}
	changed := small()
	changed[config] = []byte(`{"normalize":false}`)
	_, err = l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed)})
	if err == nil || !strings.Contains(err.Error(), first.Digest) || !strings.Contains(err.Error(), "--digest") {
		t.Fatalf("installing changed files: %v, want an error with both digests", err)
	}
	if _, err = l.Remove("ours"); err != nil {
		t.Fatal(err)
	}
	if _, err = l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed)}); err == nil {
		t.Error("after a removal changed files are installed")
	}
	_, err = l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed), Digest: first.Digest})
	if err == nil || !strings.Contains(err.Error(), "reviewed") {
		t.Errorf("installing other files than reviewed: %v", err)
	}
	other := library(t)
	second, err := other.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed)})
	if err != nil {
		t.Fatal(err)
	}
	if i, err := l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed), Digest: strings.ToUpper(second.Digest)}); err != nil || i.Noted {
		t.Errorf("installing with the new digest = %+v, %v", i, err)
	}
	if i, err := l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, changed)}); err != nil || i.Digest != second.Digest {
		t.Errorf("installing what was accepted once more = %+v, %v", i, err)
	}
}

func TestAKnownModelHasTheFilesOfItsPublisher(t *testing.T) {
	for _, m := range models.Known() {
		under := "/" + m.Repository + "/resolve/" + m.Revision + "/"
		l := library(t)
		l.Mirror = serves(t, under, small()).URL
		_, err := l.Install(t.Context(), models.Request{Name: m.Name})
		if err == nil || !strings.Contains(err.Error(), m.Files[config]) || left(t, l) != "" {
			t.Errorf("installing other files as %s: %v, want an error with the digest of %s; left: %q", m.Name, err, config, left(t, l))
		}
		if len(m.Files) != 3 || len(m.Revision) != 40 || m.Licence == "" || m.Languages == "" {
			t.Errorf("%s is not described in full: %+v", m.Name, m)
		}
		for name, sum := range m.Files {
			if len(sum) != 64 {
				t.Errorf("%s of %s has the digest %q", name, m.Name, sum)
			}
		}
	}
}

func TestWithoutAConfiguredAddressNothingIsDownloaded(t *testing.T) {
	l := library(t)
	l.Client = &http.Client{Transport: refuses{t}}
	for _, name := range []string{"potion-base-8M", "ours"} {
		if _, err := l.Install(t.Context(), models.Request{Name: name}); err == nil || !strings.Contains(err.Error(), "--from") {
			t.Errorf("installing %s from nowhere: %v, want an error that names --from", name, err)
		}
	}
	for from, want := range map[string]string{
		"http://models.example.com/m":       "without https",
		"https://user:pw@models.example/m":  "password",
		"https:///m":                        "not one of a server",
		"http://models.example.com/m.tar?t": "without https",
	} {
		if _, err := l.Install(t.Context(), models.Request{Name: "ours", From: from}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("installing from %s: %v, want %q", from, err, want)
		}
	}
}

// refuses fails the test when something is sent.
type refuses struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (r refuses) RoundTrip(q *http.Request) (*http.Response, error) {
	r.t.Errorf("%s is asked for %s", q.URL.Host, q.URL.Path)
	return nil, errors.New("not in this test")
}

func TestWhatIsNoModelLeavesNothing(t *testing.T) {
	with := func(name string, content []byte) map[string][]byte {
		files := small()
		if files[name] = content; content == nil {
			delete(files, name)
		}
		return files
	}
	link := tar.Header{Typeflag: tar.TypeSymlink, Name: "m/" + config, Linkname: "/etc/passwd"}
	hard := tar.Header{Typeflag: tar.TypeLink, Name: "m/" + weights, Linkname: "/etc/passwd"}
	up := tar.Header{Typeflag: tar.TypeReg, Name: "../../" + config, Size: 0}
	many := make([]tar.Header, 10_001)
	for i := range many {
		many[i] = tar.Header{Typeflag: tar.TypeDir, Name: fmt.Sprintf("d%d", i)}
	}
	text := filepath.Join(t.TempDir(), "m.txt")
	broken := filepath.Join(t.TempDir(), "m.tar.gz")
	for _, path := range []string{text, broken} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ from, want string }{
		{folder(t, with(weights, nil)), weights},
		{folder(t, with(weights, []byte("short"))), "too short to be safetensors"},
		{folder(t, with(tokenizer, []byte("{}"))), tokenizer},
		{folder(t, with(config, bytes.Repeat([]byte(" "), 1<<20+1))), "more than 1048576 bytes"},
		{tarOf(t, with(tokenizer, nil)), "it has no " + tokenizer},
		{tarOf(t, small(), link), "not a regular file"},
		{tarOf(t, small(), hard), "not a regular file"},
		{tarOf(t, small(), up), "two files"},
		{tarOf(t, small(), many...), "more than 10000 entries"},
		{zipOf(t, with(config, nil)), "it has no " + config},
		{text, "neither a folder nor an archive"},
		{broken, "m.tar.gz"},
		{filepath.Join(t.TempDir(), "none"), "none"},
		{serves(t, "/", with(tokenizer, nil)).URL, "404"},
		{serves(t, "/", with(config, bytes.Repeat([]byte(" "), 1<<20+1))).URL, "more than 1048576 bytes"},
	} {
		l := library(t)
		_, err := l.Install(t.Context(), models.Request{Name: "ours", From: c.from})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("install from %s: %v, want %q", c.from, err, c.want)
		}
		if got := left(t, l); got != "" {
			t.Errorf("a failed installation from %s leaves %q", c.from, got)
		}
	}
	for _, name := range []string{"", "builtin", "none", "../up", strings.Repeat("x", 65)} {
		if _, err := library(t).Install(t.Context(), models.Request{Name: name, From: folder(t, small())}); err == nil {
			t.Errorf("a model is called %q", name)
		}
	}
}

func TestAnInterruptedInstallationIsTidiedUpLater(t *testing.T) {
	l := library(t)
	abandoned := filepath.Join(l.Dir, models.Folder, ".new-1")
	running := filepath.Join(l.Dir, models.Folder, ".new-2")
	for dir, age := range map[string]time.Duration{abandoned: 25 * time.Hour, running: time.Hour} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now(), now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Install(ctx, models.Request{Name: "ours", From: folder(t, small())}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted installation: %v", err)
	}
	if got := left(t, l); got != ".new-2" {
		t.Errorf("left: %q, want the running installation alone", got)
	}
	if list, err := l.List(); err != nil || len(list) != 0 {
		t.Errorf("installed: %v, %v", list, err)
	}
}

func TestADamagedModelIsInstalledAnew(t *testing.T) {
	l := library(t)
	i, err := l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, small())})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Dir, filepath.FromSlash(i.Path), weights)
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, small())}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, small()[weights]) {
		t.Errorf("the weights are %q, %v", got, err)
	}
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].Digest != i.Digest || list[0].Path != i.Path {
		t.Errorf("installed: %+v, %v", list, err)
	}
	if n, err := l.Remove("ours"); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
	if got := left(t, l); got != "pins.json" {
		t.Errorf("after the removal there is %q", got)
	}
}

// transformer is a model of BERT's kind with one layer of eight numbers.
func transformer() map[string][]byte {
	header, data := "{", []byte{}
	add := func(name string, shape ...int) {
		count := 1
		for _, n := range shape {
			count *= n
		}
		dims, _ := json.Marshal(shape)
		header += fmt.Sprintf(`%q:{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]},`, name, dims, len(data), len(data)+4*count)
		for i := range count {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i%7)/7-.4))
		}
	}
	add("embeddings.word_embeddings.weight", 5, 8)
	add("embeddings.position_embeddings.weight", 16, 8)
	add("embeddings.token_type_embeddings.weight", 2, 8)
	for _, name := range []string{"embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm"} {
		add(name+".weight", 8)
		add(name+".bias", 8)
	}
	for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "intermediate.dense", "output.dense"} {
		add("encoder.layer.0."+name+".weight", 8, 8)
		add("encoder.layer.0."+name+".bias", 8)
	}
	header = strings.TrimSuffix(header, ",") + "}"
	return map[string][]byte{
		weights: slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), []byte(header), data),
		tokenizer: []byte(`{"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]},
			"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"cat":3,"dog":4}}}`),
		config: []byte(`{"model_type":"bert","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":1,"intermediate_size":8,
			"max_position_embeddings":16,"hidden_act":"gelu","layer_norm_eps":1e-12}`),
	}
}

func TestTheWeightsOfATransformerAreKeptInEightBits(t *testing.T) {
	files := transformer()
	files["1_Pooling/config.json"] = []byte(`{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`)
	files["onnx/config.json"] = []byte(`another`)
	var digests []string
	for _, from := range []string{tarOf(t, files), zipOf(t, files), serves(t, "/", files).URL} {
		l := library(t)
		i, err := l.Install(t.Context(), models.Request{Name: "ours", From: from})
		if err != nil {
			t.Errorf("install from %s: %v", from, err)
			continue
		}
		digests = append(digests, i.Digest)
		dir := filepath.Join(l.Dir, filepath.FromSlash(i.Path))
		var kept []string
		for _, name := range []string{weights, embed.QuantisedFile, embed.PoolingFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				kept = append(kept, name)
			}
		}
		if want := []string{embed.QuantisedFile, embed.PoolingFile}; !slices.Equal(kept, want) || i.Dimensions != 8 {
			t.Errorf("installing from %s keeps %v with %d dimensions, want %v with 8", from, kept, i.Dimensions, want)
		}
		before, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Install(t.Context(), models.Request{Name: "ours", From: from}); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(dir); err != nil || !os.SameFile(before, after) {
			t.Errorf("a model that is there is installed anew: %v", err)
		}
	}
	if len(slices.Compact(digests)) != 1 {
		t.Errorf("digests of the same files: %v", digests)
	}
	broken := transformer()
	broken[config] = bytes.Replace(broken[config], []byte(`"gelu"`), []byte(`"relu"`), 1)
	l := library(t)
	if _, err := l.Install(t.Context(), models.Request{Name: "ours", From: folder(t, broken)}); err == nil || !strings.Contains(err.Error(), "relu") || left(t, l) != "" {
		t.Errorf("a model that is not understood: %v, left %q", err, left(t, l))
	}
}

func FuzzArchive(f *testing.F) {
	for _, path := range []string{tarOf(f, small()), zipOf(f, small())} {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, strings.HasSuffix(path, ".zip"))
	}
	f.Fuzz(func(t *testing.T, content []byte, zipped bool) {
		path := filepath.Join(t.TempDir(), "m.tar.gz")
		if zipped {
			path = filepath.Join(t.TempDir(), "m.zip")
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		l := library(t)
		if _, err := l.Install(t.Context(), models.Request{Name: "ours", From: path}); err != nil && left(t, l) != "" {
			t.Errorf("a failed installation leaves %q", left(t, l))
		}
	})
}
