//go:build guests

package guests

import _ "embed"

const embedded = true

//go:embed dist/families.image
var carried []byte

//go:embed dist/templates.zst
var templates []byte
