// Command redaction is the guest of the family redaction.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/redaction"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(redaction.Family()) }

func main() {}
