package meter

// For the tests that count.
const (
	EntryCost     = entryCost
	ImportCost    = importCost
	IterationCost = iterationCost
	LocalsPerOne  = localsPerOne
	BytesShift    = bytesShift
	PageShift     = pageShift
)

var Cost = cost
