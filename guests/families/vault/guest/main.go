// Command vault is the guest of the family vault.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/vault"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(vault.Family()) }

func main() {}
