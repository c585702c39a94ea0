package metrics

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/operator/metrics/process"
)

// ofRuntime are the metrics of Go's runtime, with the names that every program in Go reports.
func ofRuntime() []family {
	var gc debug.GCStats
	gc.PauseQuantiles = make([]time.Duration, 5)
	debug.ReadGCStats(&gc)
	threads, _ := runtime.ThreadCreateProfile(nil)
	all := []family{
		{"go_gc_duration_seconds", "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.", summary, pauses(gc)},
		{"go_info", "Information about the Go environment.", gauge, []sample{{labels: []label{{"version", runtime.Version()}}, value: 1}}},
		one("go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine())),
		one("go_memstats_last_gc_time_seconds", "Number of seconds since 1970 of last garbage collection.", lastGC(gc)),
		one("go_threads", "Number of OS threads created.", float64(threads)),
	}
	return append(all, sums()...)
}

// one is a metric of one sample.
func one(name, help string, value float64) family {
	kind := gauge
	if strings.HasSuffix(name, "_total") {
		kind = counter
	}
	return family{name, help, kind, []sample{{value: value}}}
}

func pauses(gc debug.GCStats) []sample {
	var list []sample
	for i, quantile := range []string{"0", "0.25", "0.5", "0.75", "1"} {
		list = append(list, sample{labels: []label{{"quantile", quantile}}, value: gc.PauseQuantiles[i].Seconds()})
	}
	return append(list, sample{suffix: "_sum", value: gc.PauseTotal.Seconds()}, sample{suffix: "_count", value: float64(gc.NumGC)})
}

func lastGC(gc debug.GCStats) float64 {
	if gc.NumGC == 0 {
		return 0
	}
	return float64(gc.LastGC.UnixNano()) / 1e9
}

// sum is a metric that is the sum of some of runtime/metrics.
type sum struct {
	name, help string
	of         []string
}

// sums are read all at once.
func sums() []family {
	list := summed()
	var read []runtimemetrics.Sample
	for _, s := range list {
		for _, name := range s.of {
			read = append(read, runtimemetrics.Sample{Name: name})
		}
	}
	runtimemetrics.Read(read)
	var all []family
	for _, s := range list {
		total, known := 0., true
		for range s.of {
			v := read[0].Value
			read = read[1:]
			if known = known && v.Kind() == runtimemetrics.KindUint64; known {
				total += float64(v.Uint64())
			}
		}
		if known {
			all = append(all, one(s.name, s.help, total))
		}
	}
	return all
}

func summed() []sum {
	const classes = "/memory/classes/"
	memory := func(names ...string) (of []string) {
		for _, name := range names {
			of = append(of, classes+name+":bytes")
		}
		return of
	}
	return []sum{
		{"go_gc_gogc_percent", "Heap size target percentage configured by the user, otherwise 100. This value is set by the GOGC environment variable, and the runtime/debug.SetGCPercent function. Sourced from /gc/gogc:percent.", []string{"/gc/gogc:percent"}},
		{"go_gc_gomemlimit_bytes", "Go runtime memory limit configured by the user, otherwise math.MaxInt64. This value is set by the GOMEMLIMIT environment variable, and the runtime/debug.SetMemoryLimit function. Sourced from /gc/gomemlimit:bytes.", []string{"/gc/gomemlimit:bytes"}},
		{"go_memstats_alloc_bytes", "Number of bytes allocated in heap and currently in use. Equals to /memory/classes/heap/objects:bytes.", memory("heap/objects")},
		{"go_memstats_alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already. Equals to /gc/heap/allocs:bytes.", []string{"/gc/heap/allocs:bytes"}},
		{"go_memstats_buck_hash_sys_bytes", "Number of bytes used by the profiling bucket hash table. Equals to /memory/classes/profiling/buckets:bytes.", memory("profiling/buckets")},
		{"go_memstats_frees_total", "Total number of heap objects frees. Equals to /gc/heap/frees:objects + /gc/heap/tiny/allocs:objects.", []string{"/gc/heap/frees:objects", "/gc/heap/tiny/allocs:objects"}},
		{"go_memstats_gc_sys_bytes", "Number of bytes used for garbage collection system metadata. Equals to /memory/classes/metadata/other:bytes.", memory("metadata/other")},
		{"go_memstats_heap_alloc_bytes", "Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes. Equals to /memory/classes/heap/objects:bytes.", memory("heap/objects")},
		{"go_memstats_heap_idle_bytes", "Number of heap bytes waiting to be used. Equals to /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", memory("heap/released", "heap/free")},
		{"go_memstats_heap_inuse_bytes", "Number of heap bytes that are in use. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes", memory("heap/objects", "heap/unused")},
		{"go_memstats_heap_objects", "Number of currently allocated objects. Equals to /gc/heap/objects:objects.", []string{"/gc/heap/objects:objects"}},
		{"go_memstats_heap_released_bytes", "Number of heap bytes released to OS. Equals to /memory/classes/heap/released:bytes.", memory("heap/released")},
		{"go_memstats_heap_sys_bytes", "Number of heap bytes obtained from system. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", memory("heap/objects", "heap/unused", "heap/released", "heap/free")},
		{"go_memstats_mallocs_total", "Total number of heap objects allocated, both live and gc-ed. Semantically a counter version for go_memstats_heap_objects gauge. Equals to /gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects.", []string{"/gc/heap/allocs:objects", "/gc/heap/tiny/allocs:objects"}},
		{"go_memstats_mcache_inuse_bytes", "Number of bytes in use by mcache structures. Equals to /memory/classes/metadata/mcache/inuse:bytes.", memory("metadata/mcache/inuse")},
		{"go_memstats_mcache_sys_bytes", "Number of bytes used for mcache structures obtained from system. Equals to /memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes.", memory("metadata/mcache/inuse", "metadata/mcache/free")},
		{"go_memstats_mspan_inuse_bytes", "Number of bytes in use by mspan structures. Equals to /memory/classes/metadata/mspan/inuse:bytes.", memory("metadata/mspan/inuse")},
		{"go_memstats_mspan_sys_bytes", "Number of bytes used for mspan structures obtained from system. Equals to /memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes.", memory("metadata/mspan/inuse", "metadata/mspan/free")},
		{"go_memstats_next_gc_bytes", "Number of heap bytes when next garbage collection will take place. Equals to /gc/heap/goal:bytes.", []string{"/gc/heap/goal:bytes"}},
		{"go_memstats_other_sys_bytes", "Number of bytes used for other system allocations. Equals to /memory/classes/other:bytes.", memory("other")},
		{"go_memstats_stack_inuse_bytes", "Number of bytes obtained from system for stack allocator in non-CGO environments. Equals to /memory/classes/heap/stacks:bytes.", memory("heap/stacks")},
		{"go_memstats_stack_sys_bytes", "Number of bytes obtained from system for stack allocator. Equals to /memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes.", memory("heap/stacks", "os-stacks")},
		{"go_memstats_sys_bytes", "Number of bytes obtained from system. Equals to /memory/classes/total:byte.", memory("total")},
		{"go_sched_gomaxprocs_threads", "The current runtime.GOMAXPROCS setting, or the number of operating system threads that can execute user-level Go code simultaneously. Sourced from /sched/gomaxprocs:threads.", []string{"/sched/gomaxprocs:threads"}},
	}
}

// ofProcess are the metrics of the process that its platform reports.
func ofProcess() []family {
	u := process.Read()
	var all []family
	for _, m := range []struct {
		name, help string
		value      *float64
	}{
		{"process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", u.CPUSeconds},
		{"process_max_fds", "Maximum number of open file descriptors.", u.MaxFiles},
		{"process_network_receive_bytes_total", "Number of bytes received by the process over the network.", u.Received},
		{"process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.", u.Sent},
		{"process_open_fds", "Number of open file descriptors.", u.OpenFiles},
		{"process_resident_memory_bytes", "Resident memory size in bytes.", u.Resident},
		{"process_start_time_seconds", "Start time of the process since unix epoch in seconds.", u.Started},
		{"process_virtual_memory_bytes", "Virtual memory size in bytes.", u.Virtual},
		{"process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", u.MaxVirtual},
	} {
		if m.value != nil {
			all = append(all, one(m.name, m.help, *m.value))
		}
	}
	return all
}
