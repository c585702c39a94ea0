package kind

// table is the weights of signs, as WriteTable writes them: what a step of a weight is worth, in millionths, 4 bytes; then a row a sign, in
// the order of their hashes: the hash, 4 bytes, and a signed byte for each type.
type table struct {
	rows string
	unit float64
}

const rowSize = 4 + types

// Row is the weights of a sign.
type Row struct {
	Sign    uint32
	Weights [types]int8
}

// WriteTable writes weights as the package reads them. Rows are in the order of their signs; a step of a weight is worth unit millionths.
func WriteTable(unit uint32, rows []Row) []byte {
	out := number4(nil, unit)
	for _, r := range rows {
		out = number4(out, r.Sign)
		for _, w := range r.Weights {
			out = append(out, byte(w))
		}
	}
	return out
}

func number4(out []byte, n uint32) []byte {
	return append(out, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func readTable(data string) table {
	if len(data) < 4 {
		return table{}
	}
	return table{rows: data[4:], unit: float64(at(data, 0)) / 1e6}
}

func at(data string, i int) uint32 {
	return uint32(data[i]) | uint32(data[i+1])<<8 | uint32(data[i+2])<<16 | uint32(data[i+3])<<24
}

// add adds the weights of a sign.
func (t *table) add(sign uint32, sums *[types]int32) {
	n := len(t.rows) / rowSize
	low, high := 0, n
	for low < high {
		middle := int(uint(low+high) / 2)
		if at(t.rows, middle*rowSize) < sign {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == n || at(t.rows, low*rowSize) != sign {
		return
	}
	weights := t.rows[low*rowSize+4 : low*rowSize+rowSize]
	for i := range sums {
		sums[i] += int32(int8(weights[i]))
	}
}
