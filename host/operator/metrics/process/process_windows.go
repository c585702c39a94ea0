package process

import "golang.org/x/sys/windows"

func read() (u Usage) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return u
	}
	u.Started = new(float64(created.Nanoseconds()) / 1e9)
	u.CPUSeconds = new(duration(kernel) + duration(user))
	return u
}

// duration is in seconds. Windows counts it in units of 100 ns.
func duration(t windows.Filetime) float64 {
	return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) / 1e7
}
