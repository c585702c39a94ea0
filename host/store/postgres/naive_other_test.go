//go:build !unix

package postgres_test

// runNaive does nothing: there are no signals that stop a process and let it go on.
func runNaive() {}
