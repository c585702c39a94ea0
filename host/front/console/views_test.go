package console

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"regexp"
	"testing"
)

const largestView = 40 << 10 // bytes, as packed for transport

// elsewhere is what would have a page ask for more than itself.
var elsewhere = regexp.MustCompile(`<(script|link|img|iframe)[^>]*\s(src|href)=|@import|url\(|import\(|https?://[^"'` + "`" + `\s]*`)

func TestAViewIsOneSmallPageThatAsksForNothing(t *testing.T) {
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := fs.ReadDir(views, ".")
	if err != nil || len(pages) != 4 {
		t.Fatalf("there are the views %v, %v, want 4", pages, err)
	}
	for _, page := range pages {
		data, err := fs.ReadFile(views, page.Name())
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			t.Fatalf("%s cannot be packed: %v", page.Name(), err)
		}
		if path.Ext(page.Name()) != ".html" || packed.Len() > largestView {
			t.Errorf("%s has %d bytes packed, want a page of at most %d", page.Name(), packed.Len(), largestView)
		}
		for _, asked := range elsewhere.FindAllString(string(data), -1) {
			if asked != "http://www.w3.org/2000/svg" && asked != "http://www.w3.org/1998/Math/MathML" && asked != "http://www.w3.org/1999/xhtml" { // names, which nobody asks
				t.Errorf("%s asks for %s", page.Name(), asked)
			}
		}
	}
}

func TestTheConsoleServesNoViews(t *testing.T) {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		t.Fatal(err)
	}
	list, err := readFiles(built)
	if err != nil || len(list[index].data) == 0 {
		t.Fatalf("the console has %d files, %v, want its page among them", len(list), err)
	}
	for name := range list {
		if path.Dir(name) == viewFiles {
			t.Errorf("the console serves %s, which is a view", name)
		}
	}
}
