package bolt

// Step is a point of an operation at which an interruption leaves it unfinished. A test stops there and examines the
// state that a crash would leave.
type Step string

// The steps, in order of execution.
const (
	BatchApplied    Step = "a batch was applied, and nothing is on the disk"
	GroupDurable    Step = "commits are durable, and not yet answered" // too late to fail
	OverlayBegun    Step = "an overlay was begun"
	OverlayCopied   Step = "part of an overlay was copied"
	OverlayWhole    Step = "an overlay was copied, and is not yet in use"
	OverlayUsed     Step = "an overlay is in use, and those it replaces are there"
	OverlaysDropped Step = "overlays were replaced"
	TrimRecorded    Step = "a trim's floor is known, and nothing was dropped"
	TrimEntries     Step = "part of the entries was trimmed"
	TrimLog         Step = "part of the change log was trimmed"
	BranchForgotten Step = "a branch's overlays are forgotten, and its data is there"
	BranchErased    Step = "a branch was erased" // too late to fail
	CompactCopied   Step = "the database was copied without free space"
	CompactSwapped  Step = "the copy has taken the database's place"                               // too late to fail
	PurgeRewritten  Step = "the purged values are replaced, and their bytes are still in the file" // too late to fail
	BlobWritten     Step = "a blob's file was written under a temporary name"
	BlobInPlace     Step = "a blob's file has its name, and nothing refers to it"
	BlobRecorded    Step = "a blob is recorded, and its predecessor's file is there" // too late to fail
	BlobForgotten   Step = "a blob was forgotten, and its file is there"             // too late to fail
	UnusedFileGone  Step = "a file that nothing refers to was removed"               // too late to fail
)

// Steps returns all steps.
func Steps() []Step {
	return []Step{
		BatchApplied, GroupDurable,
		OverlayBegun, OverlayCopied, OverlayWhole, OverlayUsed, OverlaysDropped,
		TrimRecorded, TrimEntries, TrimLog,
		BranchForgotten, BranchErased,
		CompactCopied, CompactSwapped, PurgeRewritten,
		BlobWritten, BlobInPlace, BlobRecorded, BlobForgotten, UnusedFileGone,
	}
}

// reach reports a step; the operation stops at its error.
func (e *Engine) reach(s Step) error {
	if e.steps == nil {
		return nil
	}
	return e.steps(s)
}

// passed reports a step after which the operation cannot fail.
func (e *Engine) passed(s Step) {
	if e.steps != nil {
		_ = e.steps(s)
	}
}
