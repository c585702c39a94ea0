package layout

import "testing"

func TestAStampWithADamagedByteIsNoStamp(t *testing.T) {
	for _, stamp := range []uint64{1, 255, 256, 1_789_000_000_000_000, 1<<stampBits - 1} {
		sequence := stamp<<8 | stampCheck(stamp)
		if got, ok := OpenStamp(sequence); !ok || got != stamp {
			t.Errorf("stamp %d is read as %d, %t", stamp, got, ok)
		}
		for at := range 8 {
			for by := range uint64(255) {
				if got, ok := OpenStamp(sequence ^ (by+1)<<(8*at)); ok || got != 0 {
					t.Fatalf("stamp %d with byte %d changed by %d is read as %d, %t", stamp, at, by+1, got, ok)
				}
			}
		}
	}
	if got, ok := OpenStamp(0); !ok || got != 0 {
		t.Errorf("a file without stamps has %d, %t", got, ok)
	}
}
