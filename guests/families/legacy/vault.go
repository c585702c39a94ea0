package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// VaultSync writes facts as Markdown files, takes edits of them back, or both, edits first. With files, it takes those back and answers with
// files; without any, both happen in the directory that the operator named, and where none is named the exported files are in the answer.
//
//alcove:description Deprecated: use memory_export_facts_to_vault and memory_import_vault_to_facts.
//alcove:tool
//alcove:title Synchronize the vault
//alcove:camel
type VaultSync struct {
	Direction string       `alcove:"default=both,enum=export|import|both"`
	Files     []alcove.Raw // Files that were edited, as {path, content}.
	Target    string       `alcove:"enum=inline|mirror"` // Where exported files go; mirror, unless files are given.
	Force     bool         // Exports 1,000 facts at once, not 200.
}

// Synced are the results of both.
//
//alcove:camel
type Synced struct {
	Export alcove.Raw `json:",omitzero"`
	Import alcove.Raw `json:",omitzero"`
	notice
}

// Call synchronizes.
func (in VaultSync) Call(c *alcove.Call) (out Synced, err error) {
	out.notice = replacedBySuccessors("memory_vault_sync")
	free := in.Target == "" && len(in.Files) == 0 && in.Direction != "import"
	if in.Target == "" {
		in.Target = "mirror"
		if len(in.Files) > 0 {
			in.Target = "inline"
		}
	}
	err = in.sync(c, &out)
	if code := alcove.CodeOf(err); free && (code == alcove.Denied || code == alcove.Unavailable) { // there is no directory, or no right to it
		in.Target, in.Direction = "inline", "export"
		err = in.sync(c, &out)
	}
	return out, err
}

// sync imports and exports, to and from one target.
func (in *VaultSync) sync(c *alcove.Call, out *Synced) error {
	if in.Direction != "export" {
		arguments := map[string]any{"source": "mirror"}
		if in.Target == "inline" {
			arguments = map[string]any{"files": list(in.Files)}
		}
		if err := c.CallTool("memory_import_vault_to_facts", arguments, &out.Import); err != nil {
			return err
		}
	}
	if in.Direction == "import" {
		return nil
	}
	limit := 200
	if in.Force {
		limit = 1000
	}
	return c.CallTool("memory_export_facts_to_vault", map[string]any{"target": in.Target, "limit": limit}, &out.Export)
}

func list(values []alcove.Raw) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}
