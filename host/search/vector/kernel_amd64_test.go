package vector

import "golang.org/x/sys/cpu"

// others are the kernels that this processor has beside the fastest.
func others() []kernels {
	k := portable()
	if !cpu.X86.HasAVX2 {
		return nil
	}
	k.differ = differing(differAVX2)
	return []kernels{k}
}
