package scale

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memoryOf is the resident memory of a process.
func memoryOf(pid int) (*Memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return nil, fmt.Errorf("read the memory of the server: %w", err)
	}
	kilobytes := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kB" {
			if kilobytes[fields[0]], err = strconv.ParseInt(fields[1], 10, 64); err != nil {
				return nil, fmt.Errorf("read the memory of the server: %w", err)
			}
		}
	}
	m := Memory{Resident: kilobytes["Rss:"] * 1024, Anonymous: kilobytes["Anonymous:"] * 1024}
	m.Mapped = m.Resident - m.Anonymous
	return &m, nil
}
