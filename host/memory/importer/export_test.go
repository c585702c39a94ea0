package importer_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// zipped writes a zip of files.
func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	return zipOf(t, func(z *zip.Writer) error {
		for name, content := range files {
			w, err := z.Create(name)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, content); err != nil {
				return err
			}
		}
		return nil
	})
}

func zipOf(t testing.TB, fill func(*zip.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	if err := errors.Join(fill(z), z.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(sample(t, map[string]string{"export.zip": out.String()}), "export.zip")
}

// under adds a folder to the names of files.
func under(folder string, files map[string]string) map[string]string {
	all := map[string]string{}
	for name, content := range files {
		all[folder+name] = content
	}
	return all
}

func chatGPTExport() map[string]string {
	conversation := func(id, update, profile string) string {
		return `{"title":"Trip","conversation_id":"` + id + `","update_time":` + update + `,"current_node":"n5","mapping":{
"root":{"message":null,"children":["n0"]},
"n0":{"parent":"root","message":{"author":{"role":"user"},"content":{"content_type":"user_editable_context","user_profile":"wrapped","user_instructions":""},
 "metadata":{"user_context_message_data":{"about_user_message":"` + profile + `","about_model_message":"Be brief"}}}},
"n1":{"parent":"n0","message":{"author":{"role":"user"},"create_time":1749546000,"recipient":"all","content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"Which beach?"]},
 "metadata":{"attachments":[{"name":"beach.jpg"}]}}},
"n2":{"parent":"n1","message":{"author":{"role":"assistant"},"recipient":"python","content":{"content_type":"code","text":"print('hex')"}}},
"n3":{"parent":"n2","message":{"author":{"role":"tool"},"content":{"content_type":"execution_output","text":"hex"}}},
"n4":{"parent":"n3","message":{"author":{"role":"assistant"},"create_time":1749546001,"recipient":"all","content":{"content_type":"text","parts":["Faro."]}}},
"n5":{"parent":"n4","message":{"author":{"role":"user"},"create_time":1749546002,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"}]},"metadata":{"attachments":[{"name":"map.png"}]}}}}}`
	}
	return map[string]string{
		"conversations-000.json":    "[" + conversation("c1", "1749546100", "I live in Lisbon") + "]",
		"conversations-001.json":    "[" + conversation("c2", "1749546000", "I live in Porto") + "]",
		"user.json":                 `{"id":"user-1","email":"a@example.org"}`,
		"shared_conversations.json": `[{"id":"s","conversation_id":"c1","title":"Trip"}]`,
		"chat.html":                 "<html></html>",
	}
}

func TestAChatGPTExportIsReadAsItWasDownloaded(t *testing.T) {
	var want []string
	for _, c := range []string{"c1", "c2"} {
		want = append(want,
			`{"namespace":"","key":"chatgpt/`+c+`/00000","value":"Which beach?","tags":["chatgpt"],"type":"message","metadata":{"attachments":["beach.jpg"],"seq":0,"session":"`+c+`","speaker":"user","title":"Trip","ts":1749546000},"created":"2025-06-10T09:00:00Z"}`,
			`{"namespace":"","key":"chatgpt/`+c+`/00001","value":"Faro.","tags":["chatgpt"],"type":"message","metadata":{"seq":1,"session":"`+c+`","speaker":"assistant","title":"Trip","ts":1749546001},"created":"2025-06-10T09:00:01Z"}`,
			`{"namespace":"","key":"chatgpt/`+c+`/00002","value":"map.png","tags":["chatgpt"],"type":"message","metadata":{"attachments":["map.png"],"seq":2,"session":"`+c+`","speaker":"user","title":"Trip","ts":1749546002},"created":"2025-06-10T09:00:02Z"}`)
	}
	want = append(want, `{"namespace":"","key":"chatgpt/profile","value":"I live in Lisbon","tags":["chatgpt"],"type":"profile","created":"2025-06-10T09:01:40Z"}`,
		`{"namespace":"","key":"chatgpt/instructions","value":"Be brief","tags":["chatgpt"],"type":"instructions","created":"2025-06-10T09:01:40Z"}`)
	files := chatGPTExport()
	for _, path := range []string{zipped(t, files), zipped(t, under("export/", files)), sample(t, files)} {
		same(t, read(t, path, importer.ChatGPT), want...)
	}
}

func TestAClaudeExportIsReadAsItWasDownloaded(t *testing.T) {
	files := map[string]string{
		"conversations.json": `[{"uuid":"u1","name":"Train","chat_messages":[{"sender":"human","text":"When?","created_at":"2025-06-10T09:00:00.250000+00:00",
"attachments":[{"file_name":"ticket.txt","extracted_content":"platform 4"}],"files":[{"file_name":"seat.png"},{"file_name":"ticket.txt"}]},
{"sender":"human","text":"","attachments":[],"files":[{"file_name":"map.png"}]}]}]`,
		"projects.json": `[{"uuid":"p1","name":"House","description":"","prompt_template":"Metric units","created_at":"2025-05-01T00:00:00Z","docs":[{"uuid":"d1","filename":"plan.md","content":"Two floors","created_at":"2025-05-02T00:00:00Z"}]},
{"uuid":"p2","name":"How to use Claude","is_starter_project":true,"prompt_template":"","docs":[]}]`,
		"memories.json": `[{"conversations_memory":"Ana drinks tea","project_memories":{"p1":"Likes oak"},"account_uuid":"a1"}]`,
		"users.json":    `[{"uuid":"a1","full_name":"Ana","email_address":"a@example.org"}]`,
	}
	conversation := []string{
		`{"namespace":"","key":"claude/u1/00000","value":"When?","tags":["claude"],"type":"message","metadata":{"attachments":["ticket.txt","seat.png"],"seq":0,"session":"u1","speaker":"human","title":"Train","ts":1749546000},"created":"2025-06-10T09:00:00.25Z"}`,
		`{"namespace":"","key":"claude/u1/00000/0","value":"platform 4","tags":["claude"],"type":"attachment","metadata":{"file":"ticket.txt","session":"u1","title":"Train"},"links":["claude/u1/00000"],"created":"2025-06-10T09:00:00.25Z"}`,
		`{"namespace":"","key":"claude/u1/00001","value":"map.png","tags":["claude"],"type":"message","metadata":{"attachments":["map.png"],"seq":1,"session":"u1","speaker":"human","title":"Train"}}`,
	}
	memories := []string{
		`{"namespace":"","key":"claude/memory","value":"Ana drinks tea","tags":["claude"],"type":"profile","metadata":{"account":"a1"}}`,
		`{"namespace":"","key":"claude/project/p1/memory","value":"Likes oak","tags":["claude"],"type":"profile","links":["claude/project/p1"]}`,
	}
	projects := []string{
		`{"namespace":"","key":"claude/project/p1","value":{"name":"House","instructions":"Metric units"},"tags":["claude"],"type":"project","created":"2025-05-01T00:00:00Z"}`,
		`{"namespace":"","key":"claude/project/p1/d1","value":"Two floors","tags":["claude"],"type":"document","metadata":{"file":"plan.md","project":"House"},"links":["claude/project/p1"],"created":"2025-05-02T00:00:00Z"}`,
	}
	all := append(append(append([]string(nil), conversation...), memories...), projects...)
	folder := sample(t, files)
	same(t, read(t, zipped(t, files), importer.Claude), all...)
	same(t, read(t, folder, importer.Claude), all...)
	same(t, read(t, filepath.Join(folder, "projects.json"), importer.Claude), projects...)
	same(t, read(t, filepath.Join(folder, "memories.json"), importer.Claude), memories...)
}

func TestALongAttachmentIsCutBetweenCharacters(t *testing.T) {
	text := strings.Repeat("é", 200_000)
	dir := sample(t, map[string]string{"conversations.json": `[{"uuid":"u","chat_messages":[{"text":"x","attachments":[{"file_name":"a","extracted_content":"` + text + `"}]}]}]`})
	var keys []string
	var whole strings.Builder
	err := importer.Input{Path: dir, Format: importer.Claude}.Read(t.Context(), func(m portable.Memory) error {
		keys = append(keys, m.Key)
		if m.Type == "attachment" {
			whole.WriteString(strings.Trim(string(m.Value), `"`))
		}
		return nil
	})
	if got := strings.Join(keys, ", "); err != nil || got != "claude/u/00000, claude/u/00000/0, claude/u/00000/0/part 2" || whole.String() != text {
		t.Errorf("got %q, %d bytes (%v), want two pieces of %d bytes", got, whole.Len(), err, len(text))
	}
}

func TestAZipThatNoServiceMakesIsRefused(t *testing.T) {
	conversations := `[{"uuid":"u","chat_messages":[{"text":"hello"}]}]`
	raw := func(h zip.FileHeader) string {
		return zipOf(t, func(z *zip.Writer) error {
			h.CompressedSize64 = uint64(len(conversations))
			w, err := z.CreateRaw(&h)
			if err == nil {
				_, err = io.WriteString(w, conversations)
			}
			return err
		})
	}
	many := zipOf(t, func(z *zip.Writer) error {
		for i := range 100_001 {
			if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	whole, err := os.ReadFile(zipped(t, map[string]string{"conversations.json": conversations}))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(sample(t, map[string]string{"cut.zip": string(whole[:len(whole)-30])}), "cut.zip")
	for name, c := range map[string]struct{ path, says string }{
		"a name above":            {zipped(t, map[string]string{"../conversations.json": conversations}), `"../conversations.json" would be unpacked outside of it`},
		"a name from the root":    {zipped(t, map[string]string{"/etc/conversations.json": conversations}), "would be unpacked outside of it"},
		"a name of Windows":       {zipped(t, map[string]string{`..\conversations.json`: conversations}), "would be unpacked outside of it"},
		"a bomb":                  {raw(zip.FileHeader{Name: "conversations.json", UncompressedSize64: 2_000_000_001}), "more than 2000000000 bytes in an unpacked file: unpack it"},
		"a bomb that hides":       {raw(zip.FileHeader{Name: "conversations.json", UncompressedSize64: 20}), "zip: not a valid zip file"},
		"an encrypted file":       {raw(zip.FileHeader{Name: "conversations.json", Flags: 1, UncompressedSize64: uint64(len(conversations))}), "is encrypted: unpack it"},
		"an unknown compression":  {raw(zip.FileHeader{Name: "conversations.json", Method: 99, UncompressedSize64: uint64(len(conversations))}), "unsupported compression"},
		"too many files":          {many, "more than 100000 files in a zip: unpack it"},
		"a zip that was cut":      {cut, "not a valid zip file: download it again"},
		"a zip of something else": {zipped(t, map[string]string{"a.txt": "x", "b.json": "{}"}), "is of no format that is known: say which with --format, one of basic-memory, chatgpt, claude"},
	} {
		_, err := importer.Detect(c.path)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), c.path) {
			t.Errorf("%s: got %v, want %s: … %s", name, err, c.path, c.says)
		}
		if name == "a zip of something else" {
			continue
		}
		err = importer.Input{Path: c.path, Format: importer.Claude}.Read(t.Context(), func(portable.Memory) error { return nil })
		if placed := new(importer.InputError); !errors.As(err, &placed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want an error of the input that says %q", name, err, c.says)
		}
	}
}

func TestALinkInAnExportsFolderIsNotFollowed(t *testing.T) {
	other := sample(t, map[string]string{"secret.json": `[{"uuid":"u","chat_messages":[{"text":"secret"}]}]`})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(other, "secret.json"), filepath.Join(dir, "conversations.json")); err != nil {
		t.Skip(err)
	}
	if _, err := importer.Detect(dir); err == nil || !strings.Contains(err.Error(), "there is neither a note (*.md) nor an export") {
		t.Errorf("got %v, want that there is no export", err)
	}
}
