// Products with weights in blocks of 8 or 4 bits: the core of `blocks.cc`.
//
// A weight is panels of 16 outputs. Its depth is divided into groups; each output has a scale for each group, and either a
// minimum (number * scale + minimum) or, for all, a zero point ((number - zero) * scale). A group of a panel lies together: its
// unsigned numbers as [four terms][16 outputs][4 bytes], the 16 scales, the 16 minima. Of 4 bits, a byte holds a term of the
// group's first half below and the one
// of its second half above. Rows of x are rounded to int8 group by group. Then products of bytes are added up exactly within
// a group and in float32 over the groups, one after the other: a row's result does not depend on the rows beside it.
#pragma once

#include "quantised.h"

namespace proa {

constexpr int kPanelOutputs = 16;

// ---- four products of an unsigned weight and a signed activation, added to an int32 -------------------------------

#if (PROA_AVX512 && defined(__AVX512VNNI__)) || (defined(__AVXVNNI__) && !PROA_AVX512)

using Weights = Integers;
inline Weights weights_of(Integers bytes) { return bytes; }
inline Integers add_weighted(Integers sum, Weights weights, const int8_t* x) {
  int32_t four;
  std::memcpy(&four, x, 4);
#if PROA_AVX512
  return (Integers)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)weights, (__m512i)every(four));
#else
  return (Integers)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)weights, (__m256i)every(four));
#endif
}

#else

// Without an instruction for it: terms of even and of odd place apart, in 16 bits, multiplied in pairs.
struct Weights {
  Integers even, odd;
};
inline Weights weights_of(Integers bytes) {
  return {bytes & 0x00ff00ff, (Integers)((Bits)bytes >> 8) & 0x00ff00ff};
}
inline Integers add_weighted(Integers sum, const Weights& weights, const int8_t* x) {
  const int32_t even = (uint16_t)(int16_t)x[0] | (int32_t)((uint32_t)(uint16_t)(int16_t)x[2] << 16);
  const int32_t odd = (uint16_t)(int16_t)x[1] | (int32_t)((uint32_t)(uint16_t)(int16_t)x[3] << 16);
  return sum + (pairs_of_products(weights.even, every(even)) + pairs_of_products(weights.odd, every(odd)));
}

#endif

// So few rows wait for the weight, which comes from memory: it is asked for in advance, over the ends of pages as well, where
// the processor's own foresight ends.
constexpr int kWaitingRows = 4;
constexpr int64_t kWeightAhead = 2048;  // bytes

// Rows of a tile. Each has a sum in whole numbers and one in floats in registers.
constexpr int kBlockRows = kLanes == 16 ? 12 : 4;

// ---- scales ---------------------------------------------------------------------------------------------------------

inline Vector from_half(const uint16_t* p) {
#if PROA_AVX512
  return (Vector)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#else
#if defined(__F16C__)
  if constexpr (kLanes == 8) return (Vector)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#endif
  const Bits bits = __builtin_convertvector(*reinterpret_cast<const Halves*>(p), Bits);
  // The exponent's bias differs by 112; a multiplication moves it, numbers without a leading one among them.
  const Vector moved = (Vector)((bits & 0x7fff) << 13) * all(0x1p112f);
  const Bits odd = (bits & 0x7c00) == 0x7c00 ? ((bits & 0x3ff) << 13) | 0x7f800000 : (Bits)moved;
  return (Vector)(odd | ((bits & 0x8000) << 16));
#endif
}

// 16 scales or minima, in float16 or float32; those from lane `part` on.
inline Vector steps_at(const uint8_t* p, int part, bool half) {
  if (half) return from_half(reinterpret_cast<const uint16_t*>(p) + part);
  return load(reinterpret_cast<const float*>(p) + part);
}

// ---- operands -------------------------------------------------------------------------------------------------------

struct Blocks {
  const uint8_t* data = nullptr;  // [panels][groups][bytes]
  int64_t panels = 0, groups = 0, bytes = 0, words = 0;  // words: of four bytes, of an output in a group
  int bits = 8, zero = 0;
  bool half = true, has_minima = false;  // half: scales and minima are float16

  int64_t group() const { return words * 32 / bits; }
  int64_t step_bytes() const { return kPanelOutputs * (half ? 2 : 4); }
  bool measure(int64_t num_bytes) {
    bytes = num_bytes;
    const int64_t numbers = bytes - step_bytes() * (has_minima ? 2 : 1);
    words = numbers / (4 * kPanelOutputs);
    return numbers > 0 && numbers % (4 * kPanelOutputs) == 0 && group() <= 4096;
  }
};

// Rows of x on grids of int8, a tile of rows after the other: [group][row][terms of the group].
struct RoundedRows {
  int8_t* numbers;
  float* scales;    // [tile][group][row]
  int32_t* shifts;  // -zero times the sum of the numbers; with minima, the bits of the sum times its scale
};

// A group of up to `count` terms of x; what is missing is 0.
inline void round_group(const float* x, int64_t count, int64_t group, bool has_minima, int zero, int8_t* to, float* scale,
                        int32_t* shift) {
  Vector most = {}, odd = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vector v = load_up_to(x + i, static_cast<int>(smaller<int64_t>(kLanes, count - i)));
    const Vector size = (Vector)((Bits)v & 0x7fffffff);
    most = greater(size, most);
    odd = v == v ? odd : v;
  }
  const float reach = largest_of(most);
  const bool has_nan = largest_of(odd == odd ? Vector{} : all(1.0f)) > 0;
  const bool usable = !has_nan && reach > 0 && reach <= 3.4028234664e38f;
  const float inverse = usable ? 127.0f / reach : 0.0f;
  // 127 / reach is infinite where reach is too small for a grid: such terms are 0.
  const bool fine = inverse <= 3.4028234664e38f;
  Integers total = {};
  for (int64_t i = 0; i < group; i += kLanes) {
    const int some = static_cast<int>(smaller<int64_t>(kLanes, group - i));
    const int64_t left = count - i;
    Vector v = left <= 0 ? Vector{} : load_up_to(x + i, static_cast<int>(smaller<int64_t>(some, left)));
    v = usable && fine ? v * all(inverse) : Vector{};
    const Vector shifted = v + all(12582912.0f);  // rounds to the nearest, to even ones in the middle
    const Integers whole = (Integers)shifted - 0x4B400000;
    store_some_as(reinterpret_cast<uint8_t*>(to + i), __builtin_convertvector(whole, Bytes), some);
    total += whole;
  }
  int32_t sum = 0;
  for (int i = 0; i < kLanes; i++) sum += total[i];
  *scale = has_nan ? __builtin_nanf("") : reach / 127.0f;
  if (has_minima) {
    const float part = *scale * static_cast<float>(sum);
    std::memcpy(shift, &part, sizeof(part));
  } else {
    *shift = -zero * sum;
  }
}

// ---- a tile ---------------------------------------------------------------------------------------------------------

inline Integers load_word(const uint8_t* p) { return *reinterpret_cast<const FourBytes*>(p); }

// sums[rows][16] of a panel.
template <int rows, int bits>
void block_tile(const Blocks& w, int64_t panel, const RoundedRows& x, float* sums) {
  const int64_t words = w.words, group = w.group();
  const bool half = w.half, has_minima = w.has_minima;
  for (int part = 0; part < kPanelOutputs; part += kLanes) {
    Vector totals[rows] = {};
    const uint8_t* block = w.data + panel * w.groups * w.bytes;
    const int8_t* terms = x.numbers;
    const float* scales = x.scales;
    const int32_t* shifts = x.shifts;
    for (int64_t g = 0; g < w.groups; g++) {
      Integers whole[rows];
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) whole[r] = has_minima ? Integers{} : every(shifts[r]);
      const uint8_t* numbers = block + part * 4;
      for (int64_t i = 0; i < words; i++, numbers += 4 * kPanelOutputs) {
        const Integers bytes = load_word(numbers);
        if constexpr (rows <= kWaitingRows) __builtin_prefetch(numbers + kWeightAhead);
        if constexpr (bits == 8) {
          const Weights weights = weights_of(bytes);
#pragma GCC unroll 16
          for (int r = 0; r < rows; r++) whole[r] = add_weighted(whole[r], weights, terms + r * group + 4 * i);
        } else {
          const Weights low = weights_of(bytes & 0x0f0f0f0f);
#pragma GCC unroll 16
          for (int r = 0; r < rows; r++) whole[r] = add_weighted(whole[r], low, terms + r * group + 4 * i);
          const Weights high = weights_of((Integers)((Bits)bytes >> 4) & 0x0f0f0f0f);
#pragma GCC unroll 16
          for (int r = 0; r < rows; r++) {
            whole[r] = add_weighted(whole[r], high, terms + r * group + 4 * (i + words));
          }
        }
      }
      const uint8_t* steps = block + words * 4 * kPanelOutputs;
      if constexpr (rows <= kWaitingRows) __builtin_prefetch(steps + kWeightAhead);
      const Vector scale = steps_at(steps, part, half);
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) {
        totals[r] += __builtin_convertvector(whole[r], Vector) * (scale * all(scales[r]));
      }
      if (has_minima) {
        const Vector minimum = steps_at(steps + w.step_bytes(), part, half);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
          float share;
          std::memcpy(&share, shifts + r, sizeof(share));
          totals[r] += minimum * all(share);
        }
      }
      block += w.bytes;
      terms += rows * group;
      scales += rows;
      shifts += rows;
    }
    for (int r = 0; r < rows; r++) store(sums + r * kPanelOutputs + part, totals[r]);
  }
}

template <int rows>
void block_tile_of(int count, const Blocks& w, int64_t panel, const RoundedRows& x, float* sums) {
  if (count == rows) {
    if (w.bits == 8) block_tile<rows, 8>(w, panel, x, sums);
    else block_tile<rows, 4>(w, panel, x, sums);
    return;
  }
  if constexpr (rows > 1) block_tile_of<rows - 1>(count, w, panel, x, sums);
}

}  // namespace proa
