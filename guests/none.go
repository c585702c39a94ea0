//go:build !guests

package guests

const embedded = false

var carried, templates []byte
