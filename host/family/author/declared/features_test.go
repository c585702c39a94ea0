package declared_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/declared"
)

const teaHead = `// Keeps teas. In a cellar.
//alcove:family tea-cellar 1.2.3
//alcove:keywords tea, cup
//alcove:needs memory.write * to keep teas
//alcove:limits fuel=1000000
//alcove:collection teas private index=kind|grams:number,kind searchable=text

`

// teas are one family with all that can be declared.
var teas = map[string]string{
	"tea.c": teaHead + `#include "alcove.h"
//alcove:config
//alcove:rule less_than least most
typedef struct {
  double least; // alcove:"default=0.5,min=0"
  double most; // how much there may be alcove:"default=2"
} config;
typedef struct { alcove_text at; } place;
typedef struct {
  alcove_text name; // which alcove:"min=1,max=100"
  alcove_text kind; // alcove:"enum=green|black,default=green"
  ALCOVE_LIST(alcove_text) tags; // alcove:"max=9"
  ALCOVE_MAP(int64_t) grams;
  place *where_; // where it is
  ALCOVE_LIST(place) others;
  const alcove_value *extra; // alcove:"advanced"
} keep_in;
ALCOVE_OBJECT(config, ALCOVE_MAY(config, least, float), ALCOVE_MAY(config, most, float));
ALCOVE_OBJECT(place, ALCOVE_MUST(place, at, text));
ALCOVE_LIST_OF(places, place);
ALCOVE_OBJECT(keep_in, ALCOVE_MUST(keep_in, name, text), ALCOVE_MAY(keep_in, kind, text), ALCOVE_MAY(keep_in, tags, texts), ALCOVE_MAY(keep_in, grams, map_of_int),
              ALCOVE_MAY_AS(keep_in, where_, "where", place), ALCOVE_MAY(keep_in, others, places), ALCOVE_MAY(keep_in, extra, value));
/* Keep a tea. It stays.

   Unless it is drunk. */
//alcove:tool idempotent
//alcove:alias cellar_put kind=black
static alcove_status keep(alcove_call *c, const void *in, void *out) { if (c) { return ALCOVE_OK; } return ALCOVE_OK; }
// Tidies.
//alcove:job every=1d
static alcove_status tidy(alcove_call *c, const void *in, void *out) { return ALCOVE_OK; }
//alcove:guard types=tea
static alcove_status store(alcove_call *c, const alcove_entry *e, size_t n, alcove_decision *d) { return ALCOVE_OK; }
//alcove:features score age
static alcove_status rank(alcove_call *c, alcove_ranking *r) { return ALCOVE_OK; }
static const alcove_handler tools[] = {{"tea_keep", keep, &alcove_is_keep_in, &alcove_is_nothing}, {0}}, jobs[] = {{"tidy", tidy, &alcove_is_nothing, &alcove_is_nothing}, {0}};
const alcove_family alcove_served = {.tools = tools, .jobs = jobs, .store = store, .rank = rank};
`,
	"tea.zig": teaHead + `const alcove = @import("alcove");
const text =
    \\a text of lines { that closes nothing
;
//alcove:config
//alcove:rule less_than least most
const Config = struct {
    least: f64 = 0.5, // alcove:"min=0"
    most: f64 = 2, // how much there may be
};
const Place = struct {
    at: []const u8,
    pub fn far(_: Place) bool { return true; }
};
const Keep = struct {
    name: []const u8, // which alcove:"min=1,max=100"
    kind: enum { green, black } = .green,
    tags: []const []const u8 = &.{}, // alcove:"max=9"
    grams: alcove.Map(i64) = .{},
    /// where it is
    where: ?Place = null,
    others: []const Place = &.{},
    extra: alcove.Value = .{}, // alcove:"advanced"
};
pub const tools = struct {
    /// Keep a tea. It stays.
    ///
    /// Unless it is drunk.
    //alcove:tool idempotent
    //alcove:alias cellar_put kind=black
    pub fn tea_keep(c: *alcove.Call, in: Keep) !void { if (in.name.len == 0) return c.fail(.invalid_argument, "}", .{}); }
    fn helper() u8 { return '}'; }
};
pub const jobs = struct {
    /// Tidies.
    //alcove:job every=1d
    pub fn tidy(_: *alcove.Call) !void {}
};
//alcove:guard types=tea
pub fn store(_: *alcove.Call, entries: []const alcove.Entry) !alcove.Decision { _ = entries; return .keep; }
//alcove:features score age
pub fn rank(_: *alcove.Call, r: alcove.Ranking) ![]const f32 { return r.columns[0]; }
`,
	"tea.rs": teaHead + `use alcove::*;
object! {
    //alcove:config
    //alcove:rule less_than least most
    struct Config {
        least: f64, // alcove:"default=0.5,min=0"
        most: f64 // how much there may be alcove:"default=2"
    }
    pub struct Place { at: String }
    struct Keep {
        name: String; // which alcove:"min=1,max=100"
        kind: String, // alcove:"enum=green|black,default=green"
        tags: Vec<String>, // alcove:"max=9"
        grams: Map<i64>,
        /// where it is
        r#where: Option<Place>,
        others: Vec<Place>,
        extra: Value, // alcove:"advanced"
    }
}
/// Keep a tea. It stays.
///
/// Unless it is drunk.
//alcove:tool idempotent
//alcove:alias cellar_put kind=black
fn keep<'a>(call: &'a Call, args: Keep) -> Result<()> { let _ = ('}', "}", r#"}"#); Ok(()) }
/// Tidies.
//alcove:job every=1d
fn tidy(_: &Call, _: ()) -> Result<()> { Ok(()) }
//alcove:guard types=tea
fn store(_: &Call, e: Vec<Entry>) -> Result<Decision> { Ok(Decision::Keep) }
//alcove:features score age
fn rank(_: &Call, r: Ranking) -> Result<Vec<f32>> { Ok(vec![]) }
fn family() -> Family {
    Family::new().tool("tea_keep", keep).job("tidy", tidy).store(store).rank(rank)
}
#[cfg(test)]
mod tests { fn t() { Family::new().tool("other", |_: &Call, _: ()| Ok(())); } }
`,
	"tea.ts": teaHead + `import { Call, Family, Json } from "./alcove/assembly/index";
//alcove:config
//alcove:rule less_than least most
interface Config {
  least: f64; // alcove:"default=0.5,min=0"
  most: f64; // how much there may be alcove:"default=2"
}
interface Place { at: string }
interface Keep {
  name: string; // which alcove:"min=1,max=100"
  kind: string; // alcove:"enum=green|black,default=green"
  tags: string[] | null; // alcove:"max=9"
  grams: Map<string, i64> | null;
  /** where it is */
  where: Place | null;
  others: Array<Place> | null;
  extra: Json | null; // alcove:"advanced"
}
/**
 * Keep a tea. It stays.
 *
 * Unless it is drunk.
 */
//alcove:tool idempotent
//alcove:alias cellar_put kind=black
//alcove:takes Keep
function keep(call: Call, input: Json): Json | null { const close = '}' + ` + "`}`" + `; return null; }
/** Tidies. */
//alcove:job every=1d
function tidy(call: Call, input: Json): Json | null { return null; }
//alcove:guard types=tea
function store(call: Call, entries: Entry[]): Decision | null { return null; }
//alcove:features score age
function rank(call: Call, r: Ranking): StaticArray<f32> | null { return null; }
const family = new Family().tool("tea_keep", keep).job("tidy", tidy);
family.store = store;
family.rank = rank;
`,
}

const teaTool = `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100,"description":"Which"},"kind":{"enum":["green","black"],"default":"green"},` +
	`"tags":{"type":"array","items":{"type":"string"},"maxItems":9},"grams":{"type":"object","additionalProperties":{"type":"integer"}},` +
	`"where":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"description":"Where it is"},` +
	`"others":{"type":"array","items":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}},"extra":{"x-advanced":true}},"required":["name"]}`

func TestAllThatCanBeDeclaredIsInTheManifest(t *testing.T) {
	var first []byte
	for _, name := range []string{"tea.c", "tea.zig", "tea.rs", "tea.ts"} {
		got, err := declared.Manifest(name, []byte(teas[name]))
		if err != nil {
			t.Errorf("%s: got %v, want its manifest", name, err)
			continue
		}
		if first == nil {
			first = got
		}
		if string(got) != string(first) {
			t.Errorf("%s declares\n%s\nand the first source\n%s", name, got, first)
		}
	}
	m, err := abi.ParseManifest(first)
	if err != nil {
		t.Fatal(err)
	}
	var schema json.RawMessage
	if err := json.Unmarshal(m.Tools[0].InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	if compact, err := compacted(schema); err != nil || compact != teaTool {
		t.Errorf("the arguments are\n%s\nwant\n%s (%v)", compact, teaTool, err)
	}
	tool, hooks := m.Tools[0], m.Hooks
	if m.Description != "Keeps teas." || m.Docs != "In a cellar." || m.Limits.Fuel != 1_000_000 || tool.Description != "Keep a tea." || tool.Docs != "It stays.\n\nUnless it is drunk." {
		t.Errorf("the texts are %q, %q, %q, %q", m.Description, m.Docs, tool.Description, tool.Docs)
	}
	if !*tool.Annotations.Idempotent || tool.Aliases[0].Name != "cellar_put" || string(tool.Aliases[0].Arguments["kind"]) != `"black"` || tool.Annotations.Title != "Tea keep" {
		t.Errorf("the tool is %+v", tool)
	}
	if hooks.Store == nil || hooks.Store.OnFailure != abi.OnFailureRefuse || !slices.Equal(hooks.Store.Types, []string{"tea"}) || !slices.Equal(hooks.Rank.Features, []string{"score", "age"}) || hooks.Jobs[0].Every != "1d" {
		t.Errorf("the hooks are %+v", hooks)
	}
	if c := m.Collections[0]; !c.Private || len(c.Indexes) != 2 || c.Indexes[1][0] != "grams:number" || c.Searchable[0] != "text" {
		t.Errorf("the collection is %+v", c)
	}
	if len(m.Config) != 2 || string(m.Config[0].Default) != "0.5" || m.Config[1].Description != "How much there may be" || len(m.ConfigRules) != 1 {
		t.Errorf("the configuration is %+v with %+v", m.Config, m.ConfigRules)
	}
}

func compacted(schema json.RawMessage) (string, error) {
	out, err := json.Marshal(schema)
	return string(out), err
}
