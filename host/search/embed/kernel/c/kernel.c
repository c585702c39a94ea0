// The arithmetic of a transformer. Each function takes about a millisecond: who calls it divides the work, because nothing else of a
// process can stop while it runs. Results are the same on every processor.
#include <wasm_simd128.h>

typedef signed char int8;
typedef short int16;
typedef int int32;

#define EXPORT(name) __attribute__((export_name(#name))) name

enum { widest = 4096 }; // inputs of a layer

static int16 panel[2 * widest];

static float sum4(v128_t v) {
	return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) + (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

static int32 isum4(v128_t v) {
	return wasm_i32x4_extract_lane(v, 0) + wasm_i32x4_extract_lane(v, 1) + wasm_i32x4_extract_lane(v, 2) + wasm_i32x4_extract_lane(v, 3);
}

// exponential is e to the x, for x up to 88; its relative error is below 2e-7.
static float exponential(float x) {
	if (x < -87.0f) return 0;
	float k = __builtin_rintf(x * 1.44269504f);
	float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
	float p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1.0f;
	union { int32 i; float f; } two = { ((int32)k + 127) << 23 };
	return p * two.f;
}

// errorFunction has an absolute error below 3e-7 (Abramowitz and Stegun, 7.1.26).
static float errorFunction(float x) {
	float a = __builtin_fabsf(x), t = 1.0f / (1.0f + 0.3275911f * a);
	float y = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
	y = 1.0f - y * exponential(-a * a);
	return x < 0 ? -y : y;
}

// quantise makes whole numbers up to top of each of the rows, and their scales.
void EXPORT(quantise)(const float *x, int16 *q, float *scales, int32 rows, int32 width, float top) {
	for (int32 r = 0; r < rows; r++, x += width, q += width) {
		v128_t most = wasm_f32x4_splat(0);
		for (int32 i = 0; i < width; i += 4) most = wasm_f32x4_pmax(most, wasm_f32x4_abs(wasm_v128_load(x + i)));
		float a = wasm_f32x4_extract_lane(most, 0), b = wasm_f32x4_extract_lane(most, 1);
		float c = wasm_f32x4_extract_lane(most, 2), d = wasm_f32x4_extract_lane(most, 3);
		a = a > b ? a : b, c = c > d ? c : d, a = a > c ? a : c;
		scales[r] = a / top;
		v128_t by = wasm_f32x4_splat(a > 0 ? top / a : 0);
		for (int32 i = 0; i < width; i += 8) {
			v128_t low = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + i), by)));
			v128_t high = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x + i + 4), by)));
			wasm_v128_store(q + i, wasm_i16x8_narrow_i32x4(low, high));
		}
	}
}

static void widen(const int8 *w, int16 *to, int32 width) {
	for (int32 i = 0; i < width; i += 8) wasm_v128_store(to + i, wasm_i16x8_load8x8(w + i));
}

#define ADD(sum, a, b) sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b))

// linear sets the outputs from begin to end, two at least and even, of a layer for rows that are a multiple of four.
void EXPORT(linear)(const int16 *q, const float *scales, const int8 *w, const float *weightScales, const float *bias, float *y,
	int32 rows, int32 inputs, int32 outputs, int32 begin, int32 end) {
	for (int32 n = begin; n < end; n += 2) {
		widen(w + n * inputs, panel, inputs);
		widen(w + (n + 1) * inputs, panel + inputs, inputs);
		const int16 *p0 = panel, *p1 = panel + inputs;
		for (int32 m = 0; m < rows; m += 4) {
			const int16 *q0 = q + m * inputs, *q1 = q0 + inputs, *q2 = q1 + inputs, *q3 = q2 + inputs;
			v128_t s0 = wasm_i32x4_splat(0), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
			for (int32 k = 0; k < inputs; k += 8) {
				v128_t u = wasm_v128_load(p0 + k), v = wasm_v128_load(p1 + k), x;
				x = wasm_v128_load(q0 + k); ADD(s0, x, u); ADD(t0, x, v);
				x = wasm_v128_load(q1 + k); ADD(s1, x, u); ADD(t1, x, v);
				x = wasm_v128_load(q2 + k); ADD(s2, x, u); ADD(t2, x, v);
				x = wasm_v128_load(q3 + k); ADD(s3, x, u); ADD(t3, x, v);
			}
			int32 sums[8] = { isum4(s0), isum4(s1), isum4(s2), isum4(s3), isum4(t0), isum4(t1), isum4(t2), isum4(t3) };
			for (int32 j = 0; j < 2; j++)
				for (int32 i = 0; i < 4; i++)
					y[(m + i) * outputs + n + j] = (float)sums[4 * j + i] * (scales[m + i] * weightScales[n + j]) + bias[n + j];
		}
	}
}

// attention sets a head's part of out: rows begin to end attend to all rows. qkv has the queries, keys and values of a row one after another.
void EXPORT(attention)(const float *qkv, float *out, float *weights, int32 rows, int32 hidden, int32 head, int32 size, int32 begin, int32 end) {
	float by = 1.0f / __builtin_sqrtf((float)size);
	for (int32 m = begin; m < end; m++) {
		const float *query = qkv + m * 3 * hidden + head * size;
		float most = -3e38f, total = 0;
		for (int32 r = 0; r < rows; r++) {
			const float *key = qkv + r * 3 * hidden + hidden + head * size;
			v128_t sum = wasm_f32x4_splat(0);
			for (int32 i = 0; i < size; i += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(query + i), wasm_v128_load(key + i)));
			weights[r] = sum4(sum) * by;
			if (weights[r] > most) most = weights[r];
		}
		for (int32 r = 0; r < rows; r++) total += weights[r] = exponential(weights[r] - most);
		float *to = out + m * hidden + head * size;
		for (int32 i = 0; i < size; i++) to[i] = 0;
		for (int32 r = 0; r < rows; r++) {
			const float *value = qkv + r * 3 * hidden + 2 * hidden + head * size;
			v128_t weight = wasm_f32x4_splat(weights[r] / total);
			for (int32 i = 0; i < size; i += 4)
				wasm_v128_store(to + i, wasm_f32x4_add(wasm_v128_load(to + i), wasm_f32x4_mul(weight, wasm_v128_load(value + i))));
		}
	}
}

// normalise makes x, with more added, of mean 0 and variance 1 in each row, then scales and shifts it.
void EXPORT(normalise)(float *x, const float *more, const float *gain, const float *shift, int32 rows, int32 width, float epsilon) {
	for (int32 r = 0; r < rows; r++, x += width, more += width) {
		v128_t sum = wasm_f32x4_splat(0), squares = sum;
		for (int32 i = 0; i < width; i += 4) {
			v128_t v = wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(more + i));
			wasm_v128_store(x + i, v);
			sum = wasm_f32x4_add(sum, v);
		}
		v128_t mean = wasm_f32x4_splat(sum4(sum) / (float)width);
		for (int32 i = 0; i < width; i += 4) {
			v128_t v = wasm_f32x4_sub(wasm_v128_load(x + i), mean);
			wasm_v128_store(x + i, v);
			squares = wasm_f32x4_add(squares, wasm_f32x4_mul(v, v));
		}
		v128_t by = wasm_f32x4_splat(1.0f / __builtin_sqrtf(sum4(squares) / (float)width + epsilon));
		for (int32 i = 0; i < width; i += 4)
			wasm_v128_store(x + i, wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_mul(wasm_v128_load(x + i), by), wasm_v128_load(gain + i)), wasm_v128_load(shift + i)));
	}
}

// gelu is x times the share of a normal distribution below it.
void EXPORT(gelu)(float *x, int32 count) {
	for (int32 i = 0; i < count; i++) x[i] = 0.5f * x[i] * (1.0f + errorFunction(x[i] * 0.70710678f));
}

// pool sets out to the mean of the rows, of length 1.
void EXPORT(pool)(const float *x, float *out, int32 rows, int32 width) {
	for (int32 i = 0; i < width; i++) out[i] = 0;
	for (int32 r = 0; r < rows; r++)
		for (int32 i = 0; i < width; i++) out[i] += x[r * width + i];
	v128_t squares = wasm_f32x4_splat(0);
	for (int32 i = 0; i < width; i += 4) squares = wasm_f32x4_add(squares, wasm_f32x4_mul(wasm_v128_load(out + i), wasm_v128_load(out + i)));
	float length = __builtin_sqrtf(sum4(squares));
	if (length == 0) return;
	for (int32 i = 0; i < width; i++) out[i] /= length;
}
