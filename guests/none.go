//go:build !guests

package guests

import "embed"

const embedded = false

var files embed.FS
