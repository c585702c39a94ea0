package embed

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/regular"
)

// Kind selects the implementation of an embedder.
type Kind string

// The kinds of embedders.
const (
	OpenAI Kind = "openai" // a server with OpenAI's embeddings API
	Ollama Kind = "ollama"
	Static Kind = "static" // a model2vec folder with model.safetensors and tokenizer.json
	Family Kind = "family" // a tool family's embed hook
	Given  Kind = "given"  // none: callers supply the vectors of entries and queries

	Builtin   Kind = "builtin"   // the program's own word vectors
	Installed Kind = "installed" // a model in the data directory
)

// Config describes an embedder. It holds no secrets, only the source of the key.
type Config struct {
	Name       string `json:"name"`
	Kind       Kind   `json:"kind"`
	Dimensions int    `json:"dimensions,omitempty"` // 0: those of the first answer
	Metric     string `json:"metric,omitempty"`     // cosine (when empty), or dot

	URL       string `json:"url,omitempty"` // the server's base URL, without /embeddings or /api/embed
	Model     string `json:"model,omitempty"`
	KeyEnv    string `json:"key_env,omitempty"`    // the environment variable that holds the key
	KeyFile   string `json:"key_file,omitempty"`   // or the file that holds it
	Batch     int    `json:"batch,omitempty"`      // texts per request; 32
	TimeoutMS int    `json:"timeout_ms,omitempty"` // per request; 30,000

	Path   string `json:"path,omitempty"`   // the folder of a static model, or of an installed one in the data directory, with slashes
	Family string `json:"family,omitempty"` // the family's name

	MaxChars       int    `json:"max_chars,omitempty"` // characters of a text that are embedded; 8,000
	QueryPrefix    string `json:"query_prefix,omitempty"`
	DocumentPrefix string `json:"document_prefix,omitempty"`
}

// Check validates a configuration.
func (c Config) Check() error {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	for _, check := range []func() error{c.checkNumbers, c.checkKind} {
		if err := check(); err != nil {
			return fmt.Errorf("embedder %s: %w", c.Name, err)
		}
	}
	return nil
}

// CheckName validates the name of an embedder.
func CheckName(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return fmt.Errorf("an embedder cannot be called %.80q: names have 1 to 64 of A-Z a-z 0-9 . _ -", name)
	}
	return nil
}

func (c Config) checkNumbers() error {
	switch {
	case c.Dimensions < 0 || c.Dimensions > MaxDimensions:
		return fmt.Errorf("%d dimensions: they go from 1 to %d", c.Dimensions, MaxDimensions)
	case c.Metric != "" && c.Metric != "cosine" && c.Metric != "dot":
		return fmt.Errorf("there is no metric %.40q: it is cosine or dot", c.Metric)
	case c.Batch < 0 || c.Batch > 2048:
		return fmt.Errorf("a batch of %d: it goes from 1 to 2048", c.Batch)
	case c.TimeoutMS < 0 || c.TimeoutMS > 600_000:
		return fmt.Errorf("a timeout of %d ms: it goes from 1 to 600000", c.TimeoutMS)
	case c.MaxChars < 0 || c.MaxChars > 1_000_000:
		return fmt.Errorf("texts of %d characters: they go from 1 to 1000000", c.MaxChars)
	case len(c.QueryPrefix) > 1000 || len(c.DocumentPrefix) > 1000:
		return errors.New("a prefix is longer than 1000 bytes")
	}
	return nil
}

func (c Config) checkKind() error {
	switch c.Kind {
	case OpenAI, Ollama:
		return c.checkServer()
	case Static:
		if c.Path == "" {
			return errors.New("which folder is the model in? give a path")
		}
	case Family:
		if c.Family == "" {
			return errors.New("which family embeds? give its name")
		}
	case Installed:
		if !filepath.IsLocal(filepath.FromSlash(c.Path)) || c.Model == "" {
			return errors.New("which installed model? alcove embedder install sets one")
		}
	case Builtin:
	case Given:
		if c.Dimensions == 0 {
			return errors.New("how many dimensions do the given vectors have?")
		}
	default:
		return fmt.Errorf("there is no kind %.40q: it is openai, ollama, static, installed, family, given or builtin", c.Kind)
	}
	return nil
}

func (c Config) checkServer() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return fmt.Errorf("the URL %.100q is not one of a server: give http(s)://host…", c.URL)
	case u.User != nil || u.RawQuery != "":
		return errors.New("the URL has a password or a query: name the key by key_env or key_file instead")
	case c.Model == "":
		return errors.New("which model? give its name")
	case c.KeyEnv != "" && c.KeyFile != "":
		return errors.New("the key is in the environment or in a file, not in both")
	}
	return nil
}

const longestKeyFile = 64 << 10 // bytes

// key returns the key; empty if none is configured.
func (c Config) key(getenv func(string) string) (string, error) {
	if c.KeyEnv != "" {
		key := strings.TrimSpace(getenv(c.KeyEnv))
		if key == "" {
			return "", fmt.Errorf("the environment variable %s, which should hold the key, is empty where the server runs", c.KeyEnv)
		}
		return key, nil
	}
	if c.KeyFile == "" {
		return "", nil
	}
	raw, err := regular.Read(c.KeyFile, longestKeyFile)
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

func (c Config) timeout() time.Duration {
	if c.TimeoutMS == 0 {
		return 30 * time.Second
	}
	return time.Duration(c.TimeoutMS) * time.Millisecond
}

// Open returns the embedder of a configuration; the kinds Family, Given, Builtin and Installed are errors. It sends no requests. getenv is
// os.Getenv outside of tests.
func Open(c Config, getenv func(string) string) (Embedder, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch c.Kind {
	case OpenAI, Ollama:
		return newServer(c, getenv), nil
	case Static:
		m, err := OpenFolder(c.Path)
		if err != nil {
			return nil, err
		}
		if c.Dimensions != 0 && c.Dimensions != m.Dimensions() {
			return nil, fmt.Errorf("the model in %s has %d dimensions, not %d", c.Path, m.Dimensions(), c.Dimensions)
		}
		return named{m, c.Name}, nil
	}
	return nil, fmt.Errorf("an embedder of kind %s is not made here", c.Kind)
}

// named is a model with its configuration's name.
type named struct {
	Embedder
	name string
}

// Name implements Embedder.
func (n named) Name() string { return n.name }
