package process

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, in which Linux counts for programs on all platforms that Go supports.
const ticksPerSecond = 100

func read() (u Usage) {
	u.readStat()
	u.CPUSeconds = cpuSeconds()
	u.MaxFiles, u.MaxVirtual = limit(unix.RLIMIT_NOFILE), limit(unix.RLIMIT_AS)
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.OpenFiles = new(float64(len(open)))
	}
	u.Received, u.Sent = octets()
	return u
}

// readStat reads the fields of /proc/self/stat behind the program's name, which may have spaces: the third field is the first.
func (u *Usage) readStat() {
	data, _ := os.ReadFile("/proc/self/stat")
	_, behind, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	fields := strings.Fields(behind)
	if len(fields) < 22 {
		return
	}
	number := func(field int) *float64 {
		v, err := strconv.ParseFloat(fields[field-3], 64)
		if err != nil {
			return nil
		}
		return &v
	}
	u.Virtual = number(23)
	if pages := number(24); pages != nil {
		u.Resident = new(*pages * float64(os.Getpagesize()))
	}
	if ticks, boot := number(22), booted(); ticks != nil && boot != nil {
		u.Started = new(*boot + *ticks/ticksPerSecond)
	}
}

// booted is when the system was started, in seconds since 1970.
func booted() *float64 {
	data, _ := os.ReadFile("/proc/stat")
	_, behind, _ := strings.Cut(string(data), "\nbtime ")
	line, _, _ := strings.Cut(behind, "\n")
	v, err := strconv.ParseFloat(line, 64)
	if err != nil {
		return nil
	}
	return &v
}

// octets are the bytes that the network namespace of the process has received and sent.
func octets() (received, sent *float64) {
	data, _ := os.ReadFile("/proc/self/net/netstat")
	var names []string
	for line := range strings.Lines(string(data)) {
		rest, ok := strings.CutPrefix(line, "IpExt:")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names[:min(len(names), len(fields))] {
			v, err := strconv.ParseFloat(fields[i], 64)
			switch {
			case err != nil:
			case name == "InOctets":
				received = &v
			case name == "OutOctets":
				sent = &v
			}
		}
	}
	return received, sent
}
