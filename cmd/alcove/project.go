package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/capture/project"
	"github.com/alcove-memory/alcove/sdk/client"
)

func (a *app) projectCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "project", Short: "Link folders to projects; rename and merge projects",
		Long: `A project is a namespace project/NAME for the sessions in its folders: it receives their captured conversations and supplies
their context. Its name is OWNER/NAME of the Git remote "origin", or else the name of the folder. alcove project link overrides both.

NAME can be given with or without project/.`,
	}
	c.AddCommand(a.projectListCommand(), a.projectLinkCommand(), a.projectUnlinkCommand())
	c.AddCommand(a.projectRenameCommand(), a.projectMergeCommand(), a.projectUndoCommand())
	return c
}

// projectsFile is where it is kept what the owner says about projects: in the data directory, or, for a server elsewhere, beside the
// settings.
func (a *app) projectsFile() (string, error) {
	file, err := a.settingsFile()
	if err == nil && a.elsewhere.url == "" {
		return filepath.Join(filepath.Dir(file), project.FileName), nil
	}
	return strings.TrimSuffix(file, ".json") + "-" + project.FileName, err
}

// projectNames returns what the owner says about projects.
func (a *app) projectNames() (project.Names, error) {
	file, err := a.projectsFile()
	if err != nil {
		return project.Names{}, err
	}
	return project.Read(file)
}

// updateProjects changes what the owner says about projects.
func (a *app) updateProjects(ctx context.Context, change func(*project.Names) error) error {
	file, err := a.projectsFile()
	if err != nil {
		return err
	}
	return project.Update(ctx, file, change)
}

// listedProject is a project in a list.
type listedProject struct {
	Name     string     `json:"name"`
	Memories int        `json:"memories"`
	Last     *time.Time `json:"last_activity,omitempty"` // nil: it has no memories
	Folders  []string   `json:"folders,omitempty"`       // that are linked, and the one of its newest turn
	Former   []string   `json:"former_names,omitempty"`
	Here     bool       `json:"here,omitempty"` // the current folder's
}

func (a *app) projectListCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the projects, with their memories, folders and former names; * marks the current one",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := a.projects(c.Context())
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, p := range list {
				if err := a.printProject(p); err != nil {
					return err
				}
			}
			if len(list) == 0 {
				return a.notef("there are no projects yet: the first turn that is captured in a folder, or alcove project link FOLDER NAME, makes one\n")
			}
			return nil
		},
	}
	c.Flags().StringVar(&a.scope.branch, "branch", a.env("ALCOVE_BRANCH"), "the branch whose memories are counted (default: the one that branch switch chose; or ALCOVE_BRANCH)")
	return c
}

func (a *app) printProject(p listedProject) error {
	mark, last := " ", "never"
	if p.Here {
		mark = "*"
	}
	if p.Last != nil {
		last = clock(*p.Last)
	}
	err := a.printf("%s %7d  %s%s\n", mark, p.Memories, a.bold(p.Name), a.dim("  last "+last))
	for _, folder := range p.Folders {
		err = errors.Join(err, a.printf("           %s\n", folder))
	}
	if len(p.Former) > 0 {
		err = errors.Join(err, a.printf("           formerly %s\n", strings.Join(p.Former, ", ")))
	}
	return err
}

// projects lists the projects that have memories, folders or former names, and that of the current folder if it is one of these.
func (a *app) projects(ctx context.Context) ([]listedProject, error) {
	names, err := a.projectNames()
	if err != nil {
		return nil, err
	}
	s, err := a.session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	counts, err := projectCounts(ctx, s)
	if err != nil {
		return nil, err
	}
	for name := range maps.Values(names.Links) {
		counts[name] += 0
	}
	for name := range maps.Values(names.Renamed) {
		counts[name] += 0
	}
	here := a.placeHere(names).Namespace
	list := make([]listedProject, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		p := listedProject{Name: name, Memories: counts[name], Folders: names.Folders(name), Former: names.FormerOf(name), Here: name == here}
		if p.Memories > 0 {
			if err := p.readActivity(ctx, s); err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// placeHere is the project of the current folder.
func (a *app) placeHere(names project.Names) project.Place {
	folder, err := os.Getwd()
	if err != nil {
		return project.Place{}
	}
	return names.Of(folder)
}

const (
	noProject   = "off"      // says that a session has no project
	ofProject   = "@project" // names the namespace of the session's project
	projectName = "ALCOVE_PROJECT"
)

// chooseProject sets the project of a client's session, and its namespace if that is the project's.
func (a *app) chooseProject(f *mcpFlags) (err error) {
	f.inProject = f.namespace == ofProject
	switch {
	case f.project == noProject:
		f.project = ""
	case f.project != "":
		f.project, err = a.named(f.project)
	case f.namespace == "" || f.inProject:
		folder := a.clientFolder(f.folder)
		f.asksFolder = folder == ""
		f.project = a.ofFolderOrNone(folder)
	}
	if err != nil {
		return err
	}
	if f.inProject {
		f.namespace = f.project
	}
	return nil
}

// projectHere is the project that a command's searches keep to; empty: none.
func (a *app) projectHere() (string, error) {
	switch said := a.env(projectName); said {
	case noProject:
		return "", nil
	case "":
		return a.ofFolderOrNone(""), nil
	default:
		return a.named(said)
	}
}

// ofFolderOrNone is ofFolder, with a note in place of an error: memory is of use without a project.
func (a *app) ofFolderOrNone(folder string) string {
	name, err := a.ofFolder(folder)
	if err != nil {
		_ = a.notef("alcove: warning: searches are not limited to a project: %s\n", err) // as far as it can be said
	}
	return name
}

// named is the namespace of a project that a flag or the environment names, as it is called now.
func (a *app) named(name string) (string, error) {
	full, err := project.Called(name)
	if err != nil {
		return "", &usageError{err}
	}
	names, err := a.projectNames()
	return names.Namespace("", full), err
}

// clientFolder is the folder that a client works in, as far as it says so; empty: the current one. A variable such as ${workspaceFolder}
// that a client left as it is says nothing.
func (a *app) clientFolder(given string) string {
	for _, folder := range []string{given, a.env("CLAUDE_PROJECT_DIR")} {
		if filepath.IsAbs(folder) {
			return folder
		}
	}
	return ""
}

// ofFolder is the namespace of a folder's project; empty: the current folder. A folder that is neither in a repository nor linked has none:
// programs run in folders of their own, in the user's home and anywhere.
func (a *app) ofFolder(folder string) (string, error) {
	names, err := a.projectNames()
	if err != nil {
		return "", err
	}
	p := names.Of(folder)
	if folder == "" {
		p = a.placeHere(names)
	}
	if p.Why != project.ByLink && !p.Repository {
		return "", nil
	}
	return p.Namespace, nil
}

// projectCounts returns the number of memories of each project that has some.
func projectCounts(ctx context.Context, s *client.Session) (map[string]int, error) {
	r, err := s.Call(ctx, "memory_status", fields{"namespaces": true})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Namespaces []struct {
			Name     string
			Memories int
		}
	}
	if err := json.Unmarshal(r.Structured, &answer); err != nil {
		return nil, fmt.Errorf("read the namespaces: %w", err)
	}
	counts := map[string]int{}
	for _, n := range answer.Namespaces {
		if strings.HasPrefix(n.Name, project.Prefix) {
			counts[n.Name] = n.Memories
		}
	}
	return counts, nil
}

// readActivity finds when a project was last written, and in which folder.
func (p *listedProject) readActivity(ctx context.Context, s *client.Session) error {
	r, err := s.Call(ctx, "memory_search", fields{"order": "updated", "k": 1, "namespace": p.Name, "verbose": true})
	if err != nil {
		return err
	}
	var found struct {
		Results []struct {
			Timestamp time.Time
			Metadata  map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(r.Structured, &found); err != nil {
		return fmt.Errorf("read when %s was last written: %w", p.Name, err)
	}
	for _, m := range found.Results {
		p.Last = &m.Timestamp
		var folder string
		if json.Unmarshal(m.Metadata["folder"], &folder) == nil && folder != "" && !slices.Contains(p.Folders, folder) {
			p.Folders = append(p.Folders, folder)
		}
	}
	return nil
}

func (a *app) projectLinkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "link FOLDER NAME", Short: "Link a folder and its subfolders to a project",
		Long: `Link a folder and its subfolders to a project, whatever their repositories say. Of nested links the nearest
counts. What was captured before stays where it is: alcove project merge moves it.`,
		Example: `  alcove project link . acme/app
  alcove project link ~/code/notes notes`,
		Args: arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := linkable(args[0])
			if err != nil {
				return err
			}
			name, err := project.Called(args[1])
			if err != nil {
				return &usageError{err}
			}
			linked := project.Place{}
			err = a.updateProjects(c.Context(), func(n *project.Names) error {
				if err := n.Link(folder, name); err != nil {
					return &usageError{err}
				}
				linked = n.Of(folder)
				return nil
			})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]string{"folder": folder, "project": linked.Namespace})
			}
			return a.printf("%s and the folders below it belong to %s\n", folder, linked.Namespace)
		},
	}
}

// linkable is the absolute path of a folder to link, without symbolic links.
func linkable(folder string) (string, error) {
	path, err := filepath.Abs(folder)
	if err == nil {
		var real string
		if real, err = filepath.EvalSymlinks(path); err == nil {
			return real, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", &usageError{fmt.Errorf("there is no folder %s: give the path of one", path)}
	}
	return "", fmt.Errorf("find the folder %s: %w", folder, err)
}

func (a *app) projectUnlinkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unlink FOLDER", Short: "Remove the link of a folder; memories stay", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := filepath.Abs(args[0]) // which may be gone
			if err != nil {
				return fmt.Errorf("find the folder %s: %w", args[0], err)
			}
			real, err := filepath.EvalSymlinks(folder)
			if err != nil {
				real = folder
			}
			var was string
			var now project.Place
			err = a.updateProjects(c.Context(), func(n *project.Names) error {
				if was = n.Unlink(folder); was == "" {
					was = n.Unlink(real)
				}
				if now = n.Of(real); was == "" {
					return notFound("the folder %s is not linked: alcove project list shows those that are", folder)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]string{"folder": folder, "was": was, "project": now.Namespace})
			}
			return a.printf("%s is no longer linked to %s: it belongs to %s\n", folder, was, now.Namespace)
		},
	}
}

// examineProject says to which project the current folder belongs, and why.
func (a *app) examineProject() finding {
	names, err := a.projectNames()
	if err != nil {
		return finding{"project", bad, err.Error()}
	}
	p := a.placeHere(names)
	if p.Namespace == "" {
		return finding{"project", noted, "the current folder is gone, and belongs to no project"}
	}
	says := map[project.Why]string{
		project.ByLink:   p.Folder + " is linked to it",
		project.ByRemote: "by the remote origin of the repository " + p.Folder,
		project.ByFolder: "by the folder " + p.Folder,
	}[p.Why]
	if p.Former != "" {
		says += ", which was renamed from " + p.Former
	}
	return finding{"project", fine, fmt.Sprintf("sessions in this folder belong to %s: %s", p.Namespace, says)}
}
