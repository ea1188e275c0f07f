// Arithmetic of bfloat16 in pairs of neighbours along the depth of a product. A pair takes the place of a float in tiles and
// packed operands; depths count pairs, and where the last one is half empty its other half is 0. Sums are floats.
#pragma once

#include "parallel.h"
#include "vectors.h"

namespace proa {

// Two products are added to each lane at once. The instruction takes subnormal numbers for 0.
struct Pairs {
  static Vector broadcast(const float* pair) {
    int32_t bits;
    std::memcpy(&bits, pair, sizeof(bits));
#if defined(__AVX512BF16__)
    return (Vector)_mm512_set1_epi32(bits);
#else
    return (Vector)(bits - Integers{});
#endif
  }
  static Vector add(Vector sum, Vector pairs, Vector others) {
#if defined(__AVX512BF16__)
    return (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)(__m512)pairs, (__m512bh)(__m512)others);
#else
    const Vector first = (Vector)((Bits)pairs << 16), second = (Vector)((Bits)pairs & 0xFFFF0000u);
    return sum + first * (Vector)((Bits)others << 16) + second * (Vector)((Bits)others & 0xFFFF0000u);
#endif
  }
  // To the nearest; what the instructions above would take for 0 becomes 0.
  static Halves rounded(Vector v) {
#if defined(__AVX512BF16__)
    return (Halves)_mm512_cvtneps_pbh((__m512)v);
#else
    return proa::rounded(v);
#endif
  }
};

// Numbers in memory that are bfloat16 or, if `wide`, floats.
struct Numbers {
  const void* data;
  bool wide;

  Numbers at(int64_t place) const {
    return {static_cast<const char*>(data) + place * static_cast<int64_t>(wide ? sizeof(float) : sizeof(uint16_t)), wide};
  }
  // Whether these are bfloat16 that may be read as floats.
  bool lies_in_pairs() const { return !wide && reinterpret_cast<uintptr_t>(data) % sizeof(float) == 0; }
  const uint16_t* halves() const { return static_cast<const uint16_t*>(data); }
  const float* floats() const { return static_cast<const float*>(data); }

  // `count` numbers from here on, as a vector of bfloat16, with zeros behind.
  Halves take(int count) const {
    if (!wide) return load_halves(halves(), count);
    return Pairs::rounded(load_up_to(floats(), count));
  }
  // to[0 ... count) = these numbers, then zeros up to `room`.
  void copy(uint16_t* to, int64_t count, int64_t room) const {
    if (!wide) {
      std::memcpy(to, data, sizeof(uint16_t) * count);
    } else {
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes) store_halves(to + i, at(i).take(kLanes), kLanes);
      if (i < count) store_halves(to + i, at(i).take(static_cast<int>(count - i)), static_cast<int>(count - i));
    }
    std::memset(to + count, 0, sizeof(uint16_t) * (room - count));
  }
};

inline bool is_number(const ffi::AnyBuffer& buffer) {
  return buffer.element_type() == ffi::BF16 || buffer.element_type() == ffi::F32;
}

inline Numbers numbers_of(const ffi::AnyBuffer& buffer) {
  return {buffer.untyped_data(), buffer.element_type() == ffi::F32};
}

// The one further operand, a bias of `count` numbers, as floats; false where it does not fit.
inline bool read_bias(const ffi::RemainingArgs& more, int64_t count, const float*& bias) {
  auto given = more.get<ffi::AnyBuffer>(0);
  if (more.size() != 1 || !given.has_value() || !is_number(*given) || int64_t(given->element_count()) != count) return false;
  const Numbers numbers = numbers_of(*given);
  bias = numbers.floats();
  if (numbers.wide) return true;
  float* to = scratch<6>(round_up(count, kLanes));
  for (int64_t i = 0; i < count; i += kLanes) {
    store(to + i, widened(load_halves(numbers.halves() + i, static_cast<int>(smaller<int64_t>(kLanes, count - i)))));
  }
  bias = to;
  return true;
}

// Lanes of two lines, side by side.
inline Vector pair_up(Halves first, Halves second) {
  return (Vector)(__builtin_convertvector(first, Bits) | __builtin_convertvector(second, Bits) << 16);
}

}  // namespace proa
