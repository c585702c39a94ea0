// Command sites is the guest of the family sites.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/sites"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(sites.Family()) }

func main() {}
