//go:build guests

package guests

import "embed"

const embedded = true

//go:embed dist/*.wasm
var files embed.FS
