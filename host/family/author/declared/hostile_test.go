package declared_test

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
)

// repeated is a source of one thing, again and again.
func repeated(before, again string, size int) []byte {
	return []byte(before + strings.Repeat(again, max(0, size-len(before))/len(again)))
}

// Sources as large as they may be are read in time that grows with their size: were it its square, this would take minutes.
func TestLargeSourcesAreReadInLinearTime(t *testing.T) {
	for file, c := range map[string]struct{ before, again, want string }{
		"family.cpp": {cHead, `R"" `, "the source has more than 1048576 words and marks"},
		"family.c":   {cHead + "# ", `\//`, "nothing is served"},
		"family.zig": {zigHead + strings.Repeat("// A.\n", 1100), "const abcdefghij=123456;", "the source has more than 16384 constants and functions"},
	} {
		if _, err := declared.Manifest(file, repeated(c.before, c.again, declared.MostBytes)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %s", file, c.again, err, c.want)
		}
	}
}

// Sources of one thing give a manifest or an error in each language.
func TestSourcesOfOneThingAreReadOrRefused(t *testing.T) {
	heads := map[string]string{".c": cHead, ".cpp": cHead, ".zig": zigHead, ".rs": rustHead, ".ts": tsHead}
	for _, c := range [][2]string{ // what it begins with, and what follows again and again
		{"", "r#"}, {"", "r##################x "}, {"\n#", "\\\n"}, {"", "("}, {"", ")"}, {"", "a<"}, {"", "struct a{};"}, {"", "interface a{}"},
		{"", "pub fn rank()void{}"}, {"", "//alcove:tool a\n"}, {"", "/*"}, {"", "'a"}, {"", "`a`"}, {"", "'"}, {"", `"`}, {"", `\`}, {"", "\x00"}, {"", "\xff\xfe"}, {"", "a\r\n"},
		{"const alcove_handler tools[]={", "a,"}, {"fn family() -> Family { Family::new()", ".a()"}, {"pub const tools = struct {", "a: []"}, {"object! {", "struct A {"},
	} {
		for extension, head := range heads {
			const size = 64 << 10
			if got, err := declared.Manifest("family"+extension, repeated(head+c[0], c[1], size)); err == nil && len(got) > size {
				t.Errorf("%q in %s: the manifest has %d bytes, more than the source", c[1], extension, len(got))
			}
		}
	}
}
