package capture

import "github.com/alcove-memory/alcove/host/memory/importer"

// Limits of transcripts.
const (
	longestTranscript = 1 << 30 // bytes of one that a hook names

	longestLine  = 64 << 20  // bytes of a line; pictures and outputs are in them
	longestWhole = 64 << 20  // bytes of a document that is decoded as a whole, or of all documents of a session
	mostTurns    = 1_000_000 // turns of a document or session
	mostFiles    = 1_000_000 // files in a folder

	longestTurn  = 16 << 20  // bytes of its text
	longestPiece = 128 << 10 // bytes of a text in one memory, which escapes may lengthen sixfold
	longestField = 1 << 10   // bytes of a folder, branch or caption
	longestCall  = 300       // bytes of the file or command of a call
	longestID    = 200       // bytes

	pendingLines = 1_000   // lines for which a call waits for its outcome
	pendingBytes = 1 << 20 // bytes of them

	chunkTurns = 500     // turns that are stored at once
	chunkBytes = 4 << 20 // bytes of them
)

func tooLong(limit string, most int) error {
	return &importer.LimitError{Limit: limit, Most: most, Do: "it is left out"}
}
