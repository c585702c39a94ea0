package meter

// What tests count with.
const (
	EntryCost     = entryCost
	ImportCost    = importCost
	IterationCost = iterationCost
	LocalsPerOne  = localsPerOne
	BytesShift    = bytesShift
	PageShift     = pageShift
)

var Cost = cost
