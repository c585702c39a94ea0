package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/manual"
)

// manualCommand writes what packages contain beside the program. It is hidden: who installs a package has the files.
func (a *app) manualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual DIR", Short: "Write the manual pages and shell completions into a folder", Args: arguments(1, 1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := manualFiles()
			if err != nil {
				return err
			}
			for name, data := range files {
				path := filepath.Join(args[0], filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return fmt.Errorf("make the folder of the manual: %w", err)
				}
				if err := writeOutputFile(path, 0o644, data); err != nil {
					return err
				}
			}
			if a.asJSON {
				return a.printJSON(fields{"files": len(files), "dir": args[0]})
			}
			return a.printf("wrote %s into %s\n", counted(len(files), "file"), args[0])
		},
	}
}

// manualFiles are the same for each user and machine: they come from commands without an environment.
func manualFiles() (map[string][]byte, error) {
	return manual.Files(newApp(nil, io.Discard, io.Discard, func(name string) string {
		if name == "ALCOVE_DATA" {
			return "$XDG_DATA_HOME/alcove, or the equivalent of macOS and Windows"
		}
		return ""
	}).command())
}
