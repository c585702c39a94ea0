package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	longestNumber  = 400  // characters
	mostExponent   = 400  // either way; what a float64 can say goes to 308
	longestPattern = 1000 // bytes
	mostUnfolded   = 5000 // instructions of a compiled pattern
)

// plain refuses JSON that takes long to read: nested deep, or with numbers that take long to compute.
func plain(text []byte, depth int) error {
	nested, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if nested++; nested > depth {
				return fmt.Errorf("it is nested deeper than %d", depth)
			}
		case c == '}' || c == ']':
			nested--
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(text) && strings.IndexByte("+-.0123456789Ee", text[end]) >= 0 {
				end++
			}
			if err := plainNumber(text[i:end]); err != nil {
				return err
			}
			i = end - 1
		}
	}
	return nil
}

func plainNumber(text []byte) error {
	if len(text) > longestNumber {
		return fmt.Errorf("the number %.20s… has %d characters: at most %d can be checked", text, len(text), longestNumber)
	}
	at := strings.IndexAny(string(text), "eE")
	if at < 0 {
		return nil
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(string(text[at+1:]), "+")); err != nil || n > mostExponent || n < -mostExponent {
		return fmt.Errorf("the number %s cannot be checked: its exponent goes from -%d to %d", text, mostExponent, mostExponent)
	}
	return nil
}

// budget is how much more a check may do. It is used by one goroutine at a time.
type budget struct {
	most int // steps of a check
	left int // of them
}

// budgetExceeded is what spend panics with: the library has no other way out.
type budgetExceeded struct{}

func (b *budget) spend(steps int) {
	if b.left -= steps; b.left < 0 {
		panic(budgetExceeded{})
	}
}

// during runs something within a new budget. The library panics on some schemas; they are errors here.
func (b *budget) during(work func() error) (err error) {
	b.left = b.most
	defer func() {
		switch r := recover().(type) {
		case nil:
		case budgetExceeded:
			err = ErrTooMuch
		default:
			err = fmt.Errorf("it cannot be checked: %v", r)
		}
	}()
	return work()
}

// step is taken each time a value is checked against a schema in the schema.
type step struct {
	budget *budget
	unique bool
}

func (s step) Validate(_ *jsonschema.ValidatorContext, value any) {
	switch v := value.(type) {
	case string:
		s.budget.spend(1 + len(v)/1024)
	case []any:
		if s.unique {
			s.budget.spend(weight(v))
		}
		s.budget.spend(1 + len(v)/16)
	case map[string]any:
		s.budget.spend(1 + len(v)/16)
	default:
		s.budget.spend(1)
	}
}

// pattern is a regular expression whose use is paid for.
type pattern struct {
	*regexp.Regexp
	size   int // instructions
	budget *budget
}

func (p pattern) MatchString(text string) bool {
	p.budget.spend(1 + len(text)*p.size/64)
	return p.Regexp.MatchString(text)
}

func (b *budget) pattern(text string) (jsonschema.Regexp, error) {
	if len(text) > longestPattern {
		return nil, fmt.Errorf("the pattern has %d bytes: at most %d are allowed", len(text), longestPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("read a pattern: %w", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile a pattern: %w", err)
	}
	if len(program.Inst) > mostUnfolded {
		return nil, errors.New("a pattern unfolds to more than can be checked: repeat less in it")
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("compile a pattern: %w", err)
	}
	return pattern{compiled, len(program.Inst), b}, nil
}
