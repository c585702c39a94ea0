package postgres

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const tick = 10 * time.Millisecond // in which the kernel counts

// Processor returns how much processor time the server's processes took, in steps of 10 ms.
func (s *Server) Processor() (time.Duration, error) {
	parent := s.running.Process.Pid
	ticks, err := ticksOf(parent, 11, 12, 13, 14) // its own, and of children that ended
	if err != nil {
		return 0, err
	}
	tasks, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		return 0, err
	}
	for _, child := range bytes.Fields(tasks) {
		pid, _ := strconv.Atoi(string(child))
		if of, err := ticksOf(pid, 11, 12); err == nil { // or it ended just now
			ticks += of
		}
	}
	return time.Duration(ticks) * tick, nil
}

// ProcessorOf returns how much processor time a process took, in steps of 10 ms.
func ProcessorOf(pid int) (time.Duration, error) {
	ticks, err := ticksOf(pid, 11, 12)
	return time.Duration(ticks) * tick, err
}

// ticksOf adds up columns of /proc/PID/stat behind the name of the command.
func ticksOf(pid int, columns ...int) (sum int, err error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	list := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	for _, column := range columns {
		n, err := strconv.Atoi(string(list[column]))
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
