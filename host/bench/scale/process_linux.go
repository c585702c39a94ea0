package scale

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is how many of the units of /proc's processor time are a second, on every Linux that Go runs on.
const ticks = 100

// cpuOf is the user and system time of a process.
func cpuOf(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read the processor time of a process: %w", err)
	}
	const user, system = 11, 12 // after the name, which may have anything in it
	fields, sum := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]), 0
	if len(fields) <= system {
		return 0, fmt.Errorf("read the processor time of a process: /proc has %q", data)
	}
	for _, field := range fields[user : system+1] {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return 0, fmt.Errorf("read the processor time of a process: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks, nil
}

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
