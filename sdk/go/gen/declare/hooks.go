package declare

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// job is the job of a part.
func (p Part) job() (j abi.Job, err error) {
	j.Name = p.Job
	j.Description, _ = Described(p.Text, p.Name, p.Said)
	rest, _ := p.setting("job")
	_, settings, err := Words("job", rest, []string{j.Name}, []string{"every", "each", "parallel"})
	j.Every, j.Each = settings["every"], abi.Each(settings["each"])
	if n, given := settings["parallel"]; given && err == nil {
		if j.Parallel, err = strconv.Atoi(n); err != nil || j.Parallel < 1 || j.Parallel > abi.MostParallel {
			err = fmt.Errorf("job %s: parallel=%s is no number from 1 to %d", j.Name, n, abi.MostParallel)
		}
	}
	return j, err
}

// addHook adds a hook.
func (p Part) addHook(h *abi.Hooks, name string) (err error) {
	switch name {
	case "Store", "Guard":
		if h.Store != nil {
			return errors.New("a family has one store hook: Store or Guard, in one part")
		}
		h.Store, err = p.storeHook(strings.ToLower(name))
	case "Stored":
		h.Stored, err = p.storedHook()
	case "Merged":
		h.Merged = &abi.MergeHook{}
	case "Ended":
		h.SessionEnd = &abi.SessionHook{}
	case "Rank":
		h.Rank, err = p.rankHook()
	case "Embed":
		h.Embed, err = p.embedHook()
	}
	return err
}

// storeHook is the hook before a commit. A guard that fails keeps out, unless it says otherwise.
func (p Part) storeHook(name string) (*abi.StoreHook, error) {
	rest, _ := p.setting(name)
	flags, settings, err := Words(name, rest, []string{"redacts"}, []string{"collections", "changes", "on_failure", "tag_from", "types", "when_settings", "when_records", "when_lacks"})
	h := &abi.StoreHook{
		Collections: separated(settings["collections"]), Changes: separated(settings["changes"]),
		OnFailure: abi.OnFailure(settings["on_failure"]), Redacts: slices.Contains(flags, "redacts"),
		TagFrom: settings["tag_from"], Types: separated(settings["types"]), When: whenOf(settings),
	}
	if name == "guard" && h.OnFailure == "" {
		h.OnFailure = abi.OnFailureRefuse
	}
	return h, err
}

// storedHook is the hook after a commit.
func (p Part) storedHook() (*abi.StoreHook, error) {
	rest, _ := p.setting("stored")
	flags, settings, err := Words("stored", rest, []string{"own"}, []string{"collections", "generations", "types", "when_settings", "when_lacks"})
	h := &abi.StoreHook{Collections: separated(settings["collections"]), Own: slices.Contains(flags, "own"), Types: separated(settings["types"]), When: whenOf(settings)}
	if text, given := settings["generations"]; given && err == nil {
		if h.Generations, err = strconv.Atoi(text); err != nil || h.Generations < 1 || h.Generations > abi.MostGenerations {
			return nil, fmt.Errorf("//alcove:stored generations=%s: give a number from 1 to %d", text, abi.MostGenerations)
		}
	}
	return h, err
}

// whenOf is what calls for a hook.
func whenOf(settings map[string]string) abi.When {
	return abi.When{Settings: separated(settings["when_settings"]), Records: separated(settings["when_records"]), Lacks: separated(settings["when_lacks"])}
}

// separated are the words of a setting that commas separate.
func separated(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func (p Part) rankHook() (*abi.RankHook, error) {
	kinds, _ := p.setting("types")
	rest, _ := p.setting("rank")
	_, settings, err := Words("rank", rest, nil, []string{"when_settings", "when_records"})
	if err != nil {
		return nil, err
	}
	return &abi.RankHook{Types: strings.Fields(kinds), When: whenOf(settings), Features: p.Columns}, nil
}

func (p Part) embedHook() (*abi.EmbedHook, error) {
	rest, _ := p.setting("embed")
	_, settings, err := Words("embed", rest, nil, []string{"model", "dimensions"})
	if err != nil {
		return nil, err
	}
	dimensions, err := strconv.Atoi(settings["dimensions"])
	if err != nil || settings["model"] == "" {
		return nil, errors.New("write //alcove:embed model=NAME dimensions=N")
	}
	return &abi.EmbedHook{Model: settings["model"], Dimensions: dimensions}, nil
}
