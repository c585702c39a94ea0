package core

import "math"

const (
	fewTexts = 3.  // texts' worth of a class's centre that are at the centre of all
	evenness = .5  // variance that is added, in all directions together
	lesser   = .85 // part of its nearness that a text of little weight has
)

// nearest are the weights of the phrases that are nearest to an intent.
var nearest = [...]float64{.6, .25, .15}

// phrase is a text of a class as a vector.
type phrase struct {
	class  int
	weight float64
	vector []float64
}

// meanings is a linear discriminant of vectors: they are compared after the mean of all is subtracted, and as far as they differ
// more between classes than within one.
type meanings struct {
	mean    []float64
	lower   [][]float64 // the Cholesky factor of the covariance within classes
	centres [][]float64 // by class
	phrases []phrase    // of length 1
}

// newMeanings places phrases, and keeps them.
func newMeanings(classes int, list []phrase) *meanings {
	if len(list) == 0 {
		return nil
	}
	m := &meanings{mean: make([]float64, len(list[0].vector)), phrases: list}
	weight := 0.
	for _, p := range list {
		addTo(m.mean, p.vector, p.weight)
		weight += p.weight
	}
	scale(m.mean, 1/weight)
	for i := range list {
		list[i].vector = m.centred(list[i].vector)
	}
	m.centres = centresOf(classes, list)
	m.lower = cholesky(covariance(m.centres, list))
	for i, c := range m.centres {
		m.centres[i] = m.whiten(c)
	}
	for i := range list {
		list[i].vector = unit(m.whiten(list[i].vector))
	}
	return m
}

// centred returns a vector less the mean of all, with length 1.
func (m *meanings) centred(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] - m.mean[i]
	}
	return unit(out)
}

// centresOf returns the mean vector of each class, the nearer to zero the fewer texts it has.
func centresOf(classes int, list []phrase) [][]float64 {
	centres, weights := make([][]float64, classes), make([]float64, classes)
	for class := range centres {
		centres[class] = make([]float64, len(list[0].vector))
	}
	for _, p := range list {
		addTo(centres[p.class], p.vector, p.weight)
		weights[p.class] += p.weight
	}
	for class := range centres {
		scale(centres[class], 1/(weights[class]+fewTexts))
	}
	return centres
}

// covariance returns how vectors vary around the centres of their classes; of a symmetric matrix the lower half.
func covariance(centres [][]float64, list []phrase) [][]float64 {
	size, weight := len(list[0].vector), 0.
	matrix := make([][]float64, size)
	for i := range matrix {
		matrix[i] = make([]float64, i+1)
	}
	from := make([]float64, size)
	for _, p := range list {
		for i, x := range p.vector {
			from[i] = x - centres[p.class][i]
		}
		for i, row := range matrix {
			addTo(row, from[:i+1], p.weight*from[i])
		}
		weight += p.weight
	}
	for i, row := range matrix {
		scale(row, 1/weight)
		row[i] += evenness / float64(size)
	}
	return matrix
}

// cholesky returns the lower Cholesky factor of a symmetric matrix, in its place.
func cholesky(matrix [][]float64) [][]float64 {
	for i, row := range matrix {
		for j := range i + 1 {
			x := row[j] - dot(row[:j], matrix[j][:j])
			if i == j {
				row[j] = math.Sqrt(x)
			} else {
				row[j] = x / matrix[j][j]
			}
		}
	}
	return matrix
}

// whiten returns a vector as far as it differs from what is usual within a class.
func (m *meanings) whiten(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, row := range m.lower {
		out[i] = (v[i] - dot(row[:i], out[:i])) / row[i]
	}
	return out
}

// compare returns, for each class, the logarithm of how likely its texts have a vector, beside a constant, and how near the nearest of
// them are, at most 1.
func (m *meanings) compare(vector []float32) (odds, near []float64) {
	v := make([]float64, len(vector))
	for i := range vector {
		v[i] = float64(vector[i])
	}
	v = m.whiten(m.centred(v))
	odds, near = make([]float64, len(m.centres)), make([]float64, len(m.centres))
	for class, c := range m.centres {
		odds[class] = dot(v, c) - dot(c, c)/2
	}
	v = unit(v)
	top := make([][len(nearest)]float64, len(m.centres))
	for _, p := range m.phrases {
		c := dot(v, p.vector)
		if p.weight < 1 {
			c *= lesser
		}
		for i := range nearest {
			if best := &top[p.class][i]; c > *best {
				c, *best = *best, c
			}
		}
	}
	for class := range near {
		near[class] = dot(nearest[:], top[class][:])
	}
	return odds, near
}

func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func addTo(sum, v []float64, factor float64) {
	for i := range v {
		sum[i] += factor * v[i]
	}
}

func scale(v []float64, factor float64) {
	for i := range v {
		v[i] *= factor
	}
}

// unit gives a vector the length 1, in its place.
func unit(v []float64) []float64 {
	scale(v, 1/math.Sqrt(max(dot(v, v), math.SmallestNonzeroFloat32)))
	return v
}
