package project

// form is a family in a language whose tools answer that they are not written yet. TOOL and NUMBER are replaced for each tool, HANDLERS
// and LIST by what this makes, FIRST by the first tool.
type form struct{ file, family, handler, entry, testFile, test string }

var stubs = map[string]form{
	"go": {
		file: "family.go",
		family: `// Command NAME is a family of tools.
package main

import alcove "github.com/alcove-memory/alcove/sdk/go"
HANDLERS
func family() *alcove.Family {
	f := alcove.New()
LIST	return f
}

func init() { alcove.Serve(family()) }

func main() {}
`,
		handler: `
// toolNUMBER is TOOL.
func toolNUMBER(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
	return nil, alcove.Errorf(alcove.Unavailable, "TOOL is not written yet")
}
`,
		entry:    "\tf.HandleTool(\"TOOL\", toolNUMBER)\n",
		testFile: "family_test.go",
		test: `package main

import (
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// fake is a host whose operations answer {}.
type fake struct{}

func (fake) Call(alcove.Op, []byte) ([]byte, error) { return []byte("{}"), nil }

func (fake) Log(string) {}

func TestATool(t *testing.T) {
	_, err := family().Handle(fake{}, alcove.KindTool, []byte(` + "`" + `{"tool": "FIRST", "config": {}, "arguments": {}}` + "`" + `))
	if alcove.CodeOf(err) != alcove.Unavailable {
		t.Error(err)
	}
}
`,
	},
	"rust": {
		file: "family.rs",
		family: `//! A family of tools.

use alcove::{Call, Code, Error, Family, Result, Value};
HANDLERS
fn family() -> Family {
    Family::new()LIST
}

alcove::serve!(family);

#[cfg(test)]
mod tests {
    use super::*;
    use alcove::testing::Fake;

    #[test]
    fn a_tool() {
        assert_eq!(Fake::new().tool(&family(), "FIRST", "{}").unwrap_err().code, Code::Unavailable);
    }
}
`,
		handler: `
fn toolNUMBER(_call: &Call, _args: Value) -> Result<Value> {
    Err(Error::new(Code::Unavailable, "TOOL is not written yet"))
}
`,
		entry: ".tool(\"TOOL\", toolNUMBER)",
	},
	"c": {
		file: "family.c",
		family: `// A family of tools.
#include "alcove.h"
HANDLERS
static const alcove_handler tools[] = {
LIST  {0},
};
const alcove_family alcove_served = {.tools = tools};
`,
		handler: `
static alcove_status toolNUMBER(alcove_call *c, const void *arguments, void *result) {
  (void)arguments, (void)result;
  return alcove_fail(c, ALCOVE_UNAVAILABLE, "TOOL is not written yet");
}
`,
		entry:    "  {\"TOOL\", toolNUMBER, &alcove_is_value, &alcove_is_value},\n",
		testFile: "family_test.c",
		test: `// Runs the family natively, with a host whose operations answer {}.
#include "alcove.h"
#include <assert.h>
#include <stdio.h>

static bool call(void *self, alcove_text op, alcove_text request, alcove_text *answer) {
  (void)self, (void)op, (void)request;
  *answer = ALCOVE_TEXT("{}");
  return true;
}
static void log_line(void *self, alcove_text line) { (void)self, printf("%s\n", line.at); }

int main(void) {
  const alcove_host host = {call, log_line, NULL};
  alcove_text result;
  assert(alcove_serve(&alcove_served, &host, ALCOVE_KIND_TOOL, ALCOVE_TEXT("{\"tool\":\"FIRST\",\"arguments\":{}}"), &result) == ALCOVE_FAILED);
  assert(alcove_equal(alcove_text_of(alcove_get(alcove_parse(result), "code")), ALCOVE_UNAVAILABLE));
  alcove_release();
  puts("ok");
}
`,
	},
	"cpp": {
		file: "family.cpp",
		family: `// A family of tools.
#include "alcove.hpp"
HANDLERS
static const alcove_handler tools[] = {
LIST  {},
};
const alcove_family alcove_served = {.tools = tools};
`,
		handler: `
static alcove_status toolNUMBER(alcove_call &c, const alcove_value *const &, const alcove_value *&) {
  return alcove_fail(&c, ALCOVE_UNAVAILABLE, "TOOL is not written yet");
}
`,
		entry:    "  alcove::handler<toolNUMBER>(\"TOOL\", alcove_is_value, alcove_is_value),\n",
		testFile: "family_test.cpp",
		test: `// Runs the family natively, with a host whose operations answer {}.
#include "alcove.hpp"
#include <assert.h>
#include <stdio.h>

static bool call(void *, alcove_text, alcove_text, alcove_text *answer) {
  *answer = ALCOVE_TEXT("{}");
  return true;
}
static void log_line(void *, alcove_text line) { printf("%s\n", line.at); }

int main() {
  const alcove_host host = {call, log_line, nullptr};
  alcove_text result;
  assert(alcove_serve(&alcove_served, &host, ALCOVE_KIND_TOOL, ALCOVE_TEXT("{\"tool\":\"FIRST\",\"arguments\":{}}"), &result) == ALCOVE_FAILED);
  assert(alcove_equal(alcove_text_of(alcove_get(alcove_parse(result), "code")), ALCOVE_UNAVAILABLE));
  alcove_release();
  puts("ok");
}
`,
	},
	"zig": {
		file: "family.zig",
		family: `//! A family of tools.
const std = @import("std");
const alcove = @import("alcove");

pub const tools = struct {HANDLERS
};

test "a tool" {
    var host = alcove.Fake.init();
    defer host.deinit();
    try std.testing.expectError(error.Failed, host.tool(@This(), "FIRST", "{}"));
    try std.testing.expectEqual(alcove.Code.unavailable, host.failure.code);
}
`,
		handler: `
    pub fn @"TOOL"(c: *alcove.Call, _: alcove.Value) !alcove.Value {
        return c.fail(.unavailable, "TOOL is not written yet", .{});
    }`,
	},
	"javascript": {file: "family.js", family: scriptFamily, handler: scriptHandler},
	"typescript": {file: "family.ts", family: scriptFamily, handler: scriptHandler},
	"python": {
		file: "family.py",
		family: `"""A family of tools."""
import alcove

alcove.family(name="NAME", description="as manifest.json has it")
HANDLERS`,
		handler: `

@alcove.tool(name="TOOL", description="as manifest.json has it", input={})
def toolNUMBER(c: alcove.Call, **arguments):
    alcove.fail("unavailable", "TOOL is not written yet")
`,
	},
	"assemblyscript": {
		file: "family.ts",
		family: `// A family of tools.
import { Call, Code, Family, Json } from "./alcove/assembly/index";
HANDLERS
const family = new Family()LIST;

export function alcove_handle(kind: u32, length: u32): i32 { return family.serve(kind, length); }
`,
		handler: `
function toolNUMBER(call: Call, input: Json): Json | null {
  return call.fail(Code.Unavailable, "TOOL is not written yet");
}
`,
		entry:    ".tool(\"TOOL\", toolNUMBER)",
		testFile: "family_test.mjs",
		test: `// node family_test.mjs raw.wasm
import assert from "node:assert/strict";
import { Fake } from "./alcove/testing.mjs";

const host = new Fake(process.argv[2], {});
assert.throws(() => host.tool("FIRST", {}), { code: "unavailable" });
`,
	},
}

// The manifest is a file: the source has the handlers alone.
const (
	scriptFamily = `// A family of tools.
import { fail, family } from "alcove";

export default family({
  name: "NAME", description: "as manifest.json has it",
  tools: {HANDLERS
  },
});
`
	scriptHandler = `
    "TOOL": {
      description: "as manifest.json has it",
      call: () => fail("unavailable", "TOOL is not written yet"),
    },`
)
