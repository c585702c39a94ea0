package postgres

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestStepsOfTheSchemaAreNumberedInARow finds two steps with one number, of which goose would open no database.
func TestStepsOfTheSchemaAreNumberedInARow(t *testing.T) {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(steps) == 0 {
		t.Fatalf("the schema has the steps %v (%v), want some", steps, err)
	}
	for i, step := range steps {
		if want := fmt.Sprintf("migrations/%05d_", i+1); !strings.HasPrefix(step, want) {
			t.Errorf("step %d is %s, want %s…: each step has the number after the one before", i+1, step, want)
		}
	}
}
