package vault

import (
	"slices"
	"strings"
	"testing"
)

func TestTagsAndLinksAreReadFromTextAndNotFromCode(t *testing.T) {
	for _, c := range []struct{ text, tags, links string }{
		{"We drop #GraphQL for #api/public, says [[Ann Lee]].", "GraphQL api/public", "Ann Lee"},
		{"# Heading\n## Another #real\n#start of a line", "real start", ""},
		{"See https://example.org/page#part, [here](#anchor) and issue #42, a#b, &#39; and #", "", ""},
		{"`#code` and ``[[a ` b]]`` but #tag and `unclosed #two", "tag two", ""},
		{"```sh\n# comment\necho #no [[No]]\n```\n#yes", "yes", ""},
		{"~~~\n#no\n```\n#no\n~~~\n[[Yes]]", "", "Yes"},
		{"text\n\n    #indented [[Code]]\n\n#after", "after", ""},
		{"- item\n    - nested #sub", "sub", ""},
		{"[[People/Ann Lee|Ann]], [[Plan#Goals]], [[Plan]], [[Note.md]], ![[photo.png]], [[]] and [[open", "", "Ann Lee Plan Note"},
		{"#one #one, #two. #über-uns; #x_y!", "one two über-uns x_y", ""},
		{"", "", ""},
	} {
		tags, links := inline(c.text)
		if strings.Join(tags, " ") != c.tags || strings.Join(links, " ") != c.links {
			t.Errorf("%q: tags %q and links %q, want %q and %q", c.text, tags, links, c.tags, c.links)
		}
	}
	many := strings.Repeat("#a", 1)
	for i := range 40 {
		many += " #t" + strings.Repeat("x", i) + " [[L" + strings.Repeat("x", i) + "]]"
	}
	if tags, links := inline(many); len(tags) != mostInlineTags || len(links) != mostInlineLinks {
		t.Errorf("%d tags and %d links of many, want %d and %d", len(tags), len(links), mostInlineTags, mostInlineLinks)
	}
}

func FuzzInline(f *testing.F) {
	f.Add("a #b [[c|d]] `#e` ```\n#f\n```")
	f.Add("~~~\n\n    #x\n``")
	f.Fuzz(func(t *testing.T, text string) {
		tags, links := inline(text)
		for _, tag := range tags {
			if tag == "" || len(tag) > longestInline || !strings.Contains(text, "#") {
				t.Errorf("tag %q of %q", tag, text)
			}
		}
		if len(tags) > mostInlineTags || len(links) > mostInlineLinks || slices.Contains(links, "") {
			t.Errorf("tags %q and links %q of %q", tags, links, text)
		}
	})
}
