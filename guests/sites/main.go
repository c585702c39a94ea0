// Command sites is the guest of the family sites.
package main

import (
	"github.com/alcove-memory/alcove/guests/sites/remote"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(remote.Family()) }

func main() {}
