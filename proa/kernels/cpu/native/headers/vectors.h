// The widest vector of floats of the processor that this is compiled for (-march=native), as a plain type.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace proa {

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define PROA_AVX512 1
constexpr int kLanes = 16;
constexpr int kMaxRows = 14;  // 14 x 2 sums, 2 columns of b and one broadcast: 31 of 32 registers
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int kLanes = 8;
constexpr int kMaxRows = 6;  // 6 x 2 sums, 2 columns and one broadcast: 15 of 16 registers
#else
constexpr int kLanes = 4;
constexpr int kMaxRows = 6;
#endif
constexpr int kWidth = 2 * kLanes;  // columns of a tile

// Aligned like a float: these are read from and written to anywhere.
typedef float Vector __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));
typedef int32_t Integers __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

inline Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
inline void store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
inline Vector all(float x) {
  return x - Vector{};  // the same in every lane; x - 0 is x for every x, so nothing is subtracted
}
inline Vector greater(Vector a, Vector b) { return a > b ? a : b; }
inline float sum_of(Vector v) {
  float total = 0;
  for (int i = 0; i < kLanes; i++) total += v[i];
  return total;
}
inline float largest_of(Vector v) {
  float best = v[0];
  for (int i = 1; i < kLanes; i++) best = v[i] > best ? v[i] : best;
  return best;
}

// The first `count` lanes only; the others are 0 or left alone. Nothing behind them is touched.
inline Vector load_some(const float* p, int count) {
#if PROA_AVX512
  return (Vector)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
#else
  float lanes[kLanes] = {};
  std::memcpy(lanes, p, sizeof(float) * count);
  return load(lanes);
#endif
}
inline void store_some(float* p, Vector v, int count) {
#if PROA_AVX512
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), (__m512)v);
#else
  float lanes[kLanes];
  store(lanes, v);
  std::memcpy(p, lanes, sizeof(float) * count);
#endif
}

// The same for a count that mostly is all of them.
inline Vector load_up_to(const float* p, int count) { return count == kLanes ? load(p) : load_some(p, count); }
inline void store_up_to(float* p, Vector v, int count) {
  if (count == kLanes) store(p, v);
  else store_some(p, v, count);
}

// Bits of bfloat16: the upper half of a float's.
typedef uint16_t Halves __attribute__((vector_size(kLanes * 2), aligned(2), may_alias));
typedef uint32_t Bits __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

// Rounded to the nearest, to even ones in the middle; NaN stays NaN.
inline Halves rounded(Vector v) {
  const Bits bits = (Bits)v, kept = bits >> 16;
  const Bits nearest = (bits + (kept & 1) + 0x7FFF) >> 16;
  return __builtin_convertvector(v == v ? nearest : kept | 0x40, Halves);
}
inline Vector widened(Halves halves) { return (Vector)(__builtin_convertvector(halves, Bits) << 16); }
// The first `count` of them; nothing behind those is touched.
inline Halves load_halves(const uint16_t* p, int count) {
  if (count == kLanes) return *reinterpret_cast<const Halves*>(p);
#if PROA_AVX512
  return (Halves)_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), p);
#else
  Halves some{};
  std::memcpy(&some, p, sizeof(uint16_t) * count);
  return some;
#endif
}
inline void store_halves(uint16_t* p, Halves halves, int count) {
  if (count == kLanes) {
    *reinterpret_cast<Halves*>(p) = halves;
    return;
  }
#if PROA_AVX512
  _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1), (__m256i)halves);
#else
  std::memcpy(p, &halves, sizeof(uint16_t) * count);
#endif
}
inline Vector load_up_to(const uint16_t* p, int count) { return widened(load_halves(p, count)); }
inline float value_of(float value) { return value; }
inline float value_of(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}
inline void store_rounded(uint16_t* p, Vector v, int count) { store_halves(p, rounded(v), count); }

// The arithmetic of floats, for tiles that may compute in another one (pairs.h).
struct Singles {
  static Vector broadcast(const float* value) { return all(*value); }
  static Vector add(Vector sum, Vector value, Vector column) { return sum + value * column; }
  static Halves rounded(Vector v) { return proa::rounded(v); }
};

// to[k * to_step + i] = from[i * from_step + k] for 8 rows i and `count` values of k, through 8 x 8 blocks.
// `rows[i]` are the rows; all 8 must be readable.
inline void transpose_8(float* to, int64_t to_step, const float* const rows[8], int64_t count) {
  int64_t k = 0;
#if defined(__AVX__)
  for (; k + 8 <= count; k += 8) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i++) a[i] = _mm256_loadu_ps(rows[i] + k);
    for (int i = 0; i < 8; i += 2) {
      b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xEE);
      a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
      _mm256_storeu_ps(to + (k + i) * to_step, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    }
    for (int i = 0; i < 4; i++) {
      _mm256_storeu_ps(to + (k + 4 + i) * to_step, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
    }
  }
#endif
  for (; k < count; k++) {
    for (int i = 0; i < 8; i++) to[k * to_step + i] = rows[i][k];
  }
}

}  // namespace proa
