package main

import (
	"fmt"
	"slices"
	"strings"
)

// wit writes the contract in the language of components: the functions that a guest imports and exports, and the names in them. Requests and
// answers are JSON, as SPEC.md describes; a module passes them through channels, which is the form that a server takes.
func wit(s source) ([]byte, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `// The contract of families in the language of components. By abi/gen from abi.json. Do not edit.
//
// A server takes core modules, in the form of SPEC.md, and no components: this is for bindings and for reading. What it does not say is there.
package alcove:family@%d.0.0;

interface types {
`, s.Version)
	enum := func(called, doc string, values []name) {
		fmt.Fprintf(&out, "  /// %s\n  enum %s {\n", doc, called)
		for _, v := range values {
			if v.Doc != "" {
				fmt.Fprintf(&out, "    /// %s\n", v.Doc)
			}
			fmt.Fprintf(&out, "    %s,\n", kebab(v.Name))
		}
		out.WriteString("  }\n\n")
	}
	enum("code", "The codes of errors.", s.Errors)
	enum("hook", "The hooks.", s.Hooks)
	enum("capability", "What a family may ask for.", s.Capabilities)
	out.WriteString("  /// The kinds of requests.\n  enum kind {\n")
	for _, k := range s.Kinds {
		fmt.Fprintf(&out, "    /// %d: %s\n    %s,\n", k.Value, k.Doc, kebab(k.Name))
	}
	out.WriteString(`  }

  record error {
    code: code,
    message: string,
    /// The same request may succeed later.
    retryable: bool,
    /// An object of JSON.
    details: option<string>,
  }
}

interface host {
  use types.{error};

  /// Runs an operation by its name. Request and answer are JSON.
  call: func(op: string, request: string) -> result<string, error>;
  /// Writes a line of the log.
  log: func(line: string);

  /// The operations.
  enum operation {
`)
	for _, op := range s.Ops {
		fmt.Fprintf(&out, "    /// %s: %s.%s\n    %s,\n", op.Name, op.Doc, needed(op), kebab(op.Name))
	}
	out.WriteString(`  }
}

/// A family: it serves requests, which are JSON, or bytes of the kind score.
world family {
  use types.{kind, error};
  import host;

  export handle: func(kind: kind, request: list<u8>) -> result<list<u8>, error>;
}
`)
	return []byte(out.String()), nil
}

// witWords are the words of the language that a name of ours may be.
var witWords = []string{"record", "enum", "list", "result", "option", "func", "type", "use", "import", "export", "stream", "future", "resource", "static", "flags"}

// kebab is a name as components have them. A percent sign keeps it from being a word of the language.
func kebab(s string) string {
	s = strings.NewReplacer(".", "-", "_", "-").Replace(s)
	if slices.Contains(witWords, s) {
		return "%" + s
	}
	return s
}
