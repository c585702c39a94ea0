package extension

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// samples are taken of each pixel, in each direction.
const samples = 4

// Icon draws the product's icon as PNG: an alcove, which is an arch in a wall, with three memories on its shelf.
func Icon(size int) ([]byte, error) {
	m := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			m.SetNRGBA(x, y, pixel(x, y, size))
		}
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, m)
	return out.Bytes(), err
}

// pixel is the mean colour of a pixel's samples.
func pixel(x, y, size int) color.NRGBA {
	var r, g, b, covered float64
	for i := range samples * samples {
		c, inside := at(part(x, i%samples, size), part(y, i/samples, size))
		if !inside {
			continue
		}
		covered++
		r, g, b = r+float64(c.R), g+float64(c.G), b+float64(c.B)
	}
	if covered == 0 {
		return color.NRGBA{}
	}
	mean := func(sum float64) uint8 { return uint8(math.Round(sum / covered)) }
	return color.NRGBA{mean(r), mean(g), mean(b), uint8(math.Round(255 * covered / (samples * samples)))}
}

// part is where a sample of a pixel is, from 0 to 1.
func part(pixel, sample, size int) float64 {
	return (float64(pixel) + (float64(sample)+0.5)/samples) / float64(size)
}

// at is the colour of a point. Coordinates go from 0 to 1, to the right and down.
func at(x, y float64) (color.NRGBA, bool) {
	wall, niche, light := color.NRGBA{38, 50, 72, 255}, color.NRGBA{244, 236, 220, 255}, color.NRGBA{222, 148, 66, 255}
	switch {
	case !inBox(x, y, 0, 0, 1, 1, 0.2):
		return wall, false
	case onShelf(x, y):
		return light, true
	case inArch(x, y):
		return niche, true
	}
	return wall, true
}

// inArch: a half circle upon a box.
func inArch(x, y float64) bool {
	return math.Hypot(x-0.5, y-0.44) < 0.26 || x > 0.24 && x < 0.76 && y >= 0.44 && y < 0.82
}

func onShelf(x, y float64) bool {
	return inBox(x, y, 0.3, 0.7, 0.7, 0.75, 0.02) || inBox(x, y, 0.34, 0.5, 0.43, 0.68, 0.02) || inBox(x, y, 0.455, 0.42, 0.545, 0.68, 0.02) ||
		inBox(x, y, 0.57, 0.54, 0.66, 0.68, 0.02)
}

// inBox reports whether a point is in a box with round corners.
func inBox(x, y, left, top, right, bottom, radius float64) bool {
	dx := max(left+radius-x, 0, x-right+radius)
	dy := max(top+radius-y, 0, y-bottom+radius)
	return math.Hypot(dx, dy) <= radius
}
