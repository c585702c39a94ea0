package tool

// Detail says how much of what a caller can do without is in an answer. A call's own parameters, such as verbose, take precedence.
type Detail int

const (
	Lean Detail = iota // for models, which read every token
	Full               // for programs, which look for members by name
)
