// Command legacy is the guest of the family legacy.
package main

import (
	"github.com/alcove-memory/alcove/guests/legacy/workflow"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(workflow.Family()) }

func main() {}
