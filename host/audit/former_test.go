package audit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestALogOfARestoredDirectoryBeginsWithTheHeadOfTheFormerLog(t *testing.T) {
	_, head := filled(t, Options{}, 3)
	text, err := FormerText(head)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, FormerFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	former, err := Former(data)
	if err != nil || former == nil {
		t.Fatal(former, err)
	}
	dir := filepath.Join(data, "audit")
	closed(t, openLog(t, Options{Dir: dir, Former: former}))
	if err := ForgetFormer(data); err != nil {
		t.Fatal(err)
	}
	want := strconv.FormatUint(head.Seq, 10) + ":" + head.Hash
	if first := list(t, dir)[0]; first.Kind != FromBackup || !strings.Contains(first.Detail, want) {
		t.Errorf("it begins with %+v, not with %s", first, want)
	}
	if former, err = Former(data); former != nil || err != nil {
		t.Errorf("it is named again: %v, %v", former, err)
	}
	if r := verified(t, dir, head); len(r.Problems) == 0 {
		t.Error("the new log passes for the former one")
	}
}

func TestAHeadOfAFormerLogThatIsNoneIsRefused(t *testing.T) {
	for name, text := range map[string]string{"torn": `{"seq":`, "no hash": `{"seq":4,"hash":"x"}`, "huge": strings.Repeat(" ", FormerLimit+1)} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, FormerFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Former(data); err == nil || !strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
