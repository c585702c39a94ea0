// Package vault serves the family vault: memories as Markdown files, out and back.
//
// A file has front matter, and the content of its memory as the body. People edit body, tags and entities. An import merges their edits with
// what changed in memory since the export: field by field, against the version that the file names. Where both sides changed the content
// or the summary, it is a conflict, which is named and not decided. Clients without file access pass files inline; with the root vault,
// which the operator names, the family reads and writes them itself: target and source are then mirror. A missing file deletes nothing.
//
//alcove:family vault 1.0.0
//alcove:description Export facts as Markdown notes for Obsidian or an editor, and import the edited files.
//alcove:keywords markdown, md, file, files, folder, directory, document, documents, obsidian, vault, front matter, export, import, sync, synchronize, disk, text files, edited by hand
//alcove:example write my memories to Markdown files
//alcove:example make notes that I can open in Obsidian
//alcove:example read the changed text files back in
//alcove:example edit facts in my own text editor
//alcove:example sync a folder of notes with memory
//alcove:example import existing .md documents as facts
//alcove:example search the notes in the vault
//alcove:example back up facts as readable text files
//alcove:example export to a directory of documents with front matter
//alcove:example I changed a note in the editor, update the memory from it
//alcove:example get knowledge out as plain text documents
//alcove:example dump all notes to files on disk
//alcove:example get my notes as Obsidian pages
//alcove:example a folder with one text file per fact
//alcove:example I fixed notes by hand in the editor, take them over
//alcove:example load a directory of markdown
//alcove:example bring my Obsidian vault in
//alcove:example find a note in the exported folder
//alcove:example conflicts between files and memory
//alcove:example keep a copy of everything in readable files
//alcove:license Apache-2.0
//alcove:needs memory.read * to read what is exported, and what imports are compared with
//alcove:needs memory.write * to store what was edited
//alcove:needs tools.call memory_get_entity to write the names of entities
//alcove:needs file.read vault to read the files of a mirror
//alcove:needs file.write vault to write them
//alcove:limits memory_pages=2048 wall_ms=300000 cpu_ms=60000 fuel=120000000000 host_calls=100000 request_bytes=16777216 output_bytes=16777216 call_bytes=16777216
package vault

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Batch   int `alcove:"key=vault_batch,shared,category=vault,min=1,max=1000,default=200"`                   // How many files an import from a mirror reads in one call
	MaxFile int `alcove:"key=vault_max_file_bytes,shared,category=vault,min=1024,max=1048576,default=262144"` // The longest file that is imported, in bytes
}

// Root is the name of the directory of a mirror.
const root = "vault"

// Family is vault.
func Family() *alcove.Family {
	return alcove.New(ExportFactsToVault{}, ImportVaultToFacts{}, QueryVault{})
}
