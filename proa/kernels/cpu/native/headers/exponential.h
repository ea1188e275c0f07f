// exp and the normal distribution, a vector at a time.
#pragma once

#include "vectors.h"

namespace proa {

// To about one unit in the last place; 0 below the smallest normal number, infinity above the largest, NaN for NaN.
inline Vector exponential(Vector x) {
  const Vector low = all(-87.336544f), high = all(88.722839f);
  Vector bounded = x < low ? low : x;
  bounded = bounded > high ? high : bounded;
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const Vector shift = all(12582912.0f);
  const Vector shifted = bounded * all(1.44269504f) + shift;
  const Vector n = shifted - shift;
  Vector r = bounded - n * all(0.693145752f);  // the first 16 bits of ln 2: n times that is exact
  r = r - n * all(1.42860677e-06f);
  Vector p = all(1.0f / 5040);
  p = p * r + all(1.0f / 720);
  p = p * r + all(1.0f / 120);
  p = p * r + all(1.0f / 24);
  p = p * r + all(1.0f / 6);
  p = p * r + all(0.5f);
  p = p * r + all(1.0f);
  p = p * r + all(1.0f);
  // Times 2^n in two steps, since 2^128 is not a number.
  const Integers whole = reinterpret_cast<const Integers&>(shifted) - 0x4B400000;
  const Integers half = whole >> 1;
  const Integers one = (half + 127) << 23, other = (whole - half + 127) << 23;
  p = p * reinterpret_cast<const Vector&>(one) * reinterpret_cast<const Vector&>(other);
  p = x < low ? Vector{} : p;
  p = x > high ? all(__builtin_inff()) : p;
  return x != x ? x : p;
}

// The normal distribution function and its density at x.
inline void normal_distribution(Vector x, Vector& share, Vector& density) {
  const Vector power = exponential(x * x * all(-0.5f));
  density = power * all(0.398942280f);
  const Vector size = x < 0.0f ? -x : x;
  // erfc(z) = t polynomial(t) exp(-z^2), t = 1 / (1 + 0.425 z), z = |x| / sqrt(2). The polynomial was fitted to the relative
  // error (1.2e-7; 4e-7 as computed), so that the tail is as exact as the middle.
  const Vector t = all(1.0f) / (size * all(0.425f * 0.707106781f) + all(1.0f));
  Vector p = all(0.072328986f);
  p = p * t + all(-0.316702921f);
  p = p * t + all(0.413731392f);
  p = p * t + all(-0.108883306f);
  p = p * t + all(0.258070372f);
  p = p * t + all(0.199800113f);
  p = p * t + all(0.241986142f);
  p = p * t + all(0.239669106f);
  const Vector tail = all(0.5f) * p * t * power;
  share = x < 0.0f ? tail : all(1.0f) - tail;
}

}  // namespace proa
