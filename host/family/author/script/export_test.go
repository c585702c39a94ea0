package script

// OriginsOf is for tests.
func OriginsOf(data []byte) (any, error) { return originsOf(data) }
