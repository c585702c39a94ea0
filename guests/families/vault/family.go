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
//alcove:example turn my memories into .md files
//alcove:example write each fact as a Markdown page with front matter
//alcove:example save the notes to a folder I can browse
//alcove:example get everything into Obsidian
//alcove:example put the knowledge base on disk as text
//alcove:example I'd like to read your notes in VS Code
//alcove:example make a directory of readable documents out of the facts
//alcove:example export decisions only, one file each
//alcove:example produce Markdown for the project namespace
//alcove:example human-readable dump of the notes
//alcove:example give me files I can commit to Git
//alcove:example generate a wiki-like folder of what you know
//alcove:example mirror memory to ~/notes
//alcove:example refresh the exported folder with what is new
//alcove:example I corrected typos in the .md files, read them in
//alcove:example take my manual edits over into memory
//alcove:example pull the changes I made in Obsidian
//alcove:example the files on disk have changed, update the facts
//alcove:example reimport the folder
//alcove:example load these Markdown documents as memories
//alcove:example here is a pile of .md notes, add them
//alcove:example bring in my old Logseq pages
//alcove:example make facts from the text files in docs/
//alcove:example import notes with YAML headers
//alcove:example both the file and the memory were edited, what now?
//alcove:example which files could not be merged?
//alcove:example show conflicts of the last import
//alcove:example the note was changed on both sides, resolve the file conflict
//alcove:example keep folder and memory the same
//alcove:example two-way sync between text files and facts
//alcove:example round trip: out to files, edit, back in
//alcove:example in which file is the fact about the bridge?
//alcove:example path of the note on taxes in the vault
//alcove:example search the vault for heat pumps
//alcove:example find the file that has the meeting notes
//alcove:example which of the exported pages mentions Berlin?
//alcove:example look through my Obsidian pages for the recipe
//alcove:example list the file names of facts about the client
//alcove:example where on disk is this memory?
//alcove:example edit the fact with vim
//alcove:example let me rework the notes offline, then take them back
//alcove:example I prefer to maintain my notes by hand in an editor
//alcove:example my editor saved a new version of the note, apply it
//alcove:example offline copy of the facts as documents
//alcove:example a printable text version of our decisions
//alcove:example plain-text archive of the knowledge
//alcove:example open the memories as a vault
//alcove:example Zettelkasten export
//alcove:example set up an Obsidian vault from these facts
//alcove:example add my daily notes in Markdown
//alcove:example what would an import of this folder change?
//alcove:example write the memories about Rome to rome.md
//alcove:example one page per memory, with links between the pages
//alcove:example I renamed tags in the front matter, read them back
//alcove:example get my edits from the text file back
//alcove:example save facts in a format that any editor opens
//alcove:example migrate my Markdown diary into memory
//alcove:example convert facts to documents
//alcove:example sync with my notes directory
//alcove:example take the knowledge along as files
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
