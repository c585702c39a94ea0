package family

import (
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestAnInstalledFamilyIsCompiledBeforeItIsCalled(t *testing.T) {
	cache := sandbox.Cache{Dir: filepath.Join(t.TempDir(), "cache")}
	box, err := sandbox.New(sandbox.Config{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	w := open(t, func(o *Options) { o.Sandbox = box })
	w.install(aFamily("notes"), script{says: `1`})
	await.That(t, "the module is in the cache", func() bool {
		files, _ := filepath.Glob(filepath.Join(cache.Dir, "admitted", "*"))
		return len(files) > 0
	})
	if d := w.catalogue.Describe("notes"); d.Loaded {
		t.Error("it is loaded, and nobody called it")
	}
	without, err := sandbox.New(sandbox.Config{Cache: cache, Compiler: sandbox.Compiler{Path: filepath.Join(t.TempDir(), "no compiler")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { without.Close() })
	again := openIn(t, w.dir+"-again", func(o *Options) { o.Sandbox = without })
	again.install(aFamily("notes"), script{says: `1`})
	if got := again.says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
}
