// Lines of memory turned into columns, a square of vectors at a time.
#pragma once

#include "parallel.h"
#include "vectors.h"

namespace proa {

// v[i][k] becomes v[k][i].
inline void transpose_square(Vector v[kLanes]) {
#if PROA_AVX512
  __m512 a[16], b[16];
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_ps((__m512)v[i], (__m512)v[i + 1]);
    a[i + 1] = _mm512_unpackhi_ps((__m512)v[i], (__m512)v[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // b[i + c] holds column 4 q + c of four lines in its quarter q
    b[i] = _mm512_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm512_shuffle_ps(a[i], a[i + 2], 0xEE);
    b[i + 2] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm512_shuffle_ps(a[i + 1], a[i + 3], 0xEE);
  }
  for (int c = 0; c < 4; c++) {
    const __m512 low = _mm512_shuffle_f32x4(b[c], b[c + 4], 0x88), high = _mm512_shuffle_f32x4(b[c + 8], b[c + 12], 0x88);
    const __m512 odd = _mm512_shuffle_f32x4(b[c], b[c + 4], 0xDD), last = _mm512_shuffle_f32x4(b[c + 8], b[c + 12], 0xDD);
    v[c] = (Vector)_mm512_shuffle_f32x4(low, high, 0x88);
    v[c + 8] = (Vector)_mm512_shuffle_f32x4(low, high, 0xDD);
    v[c + 4] = (Vector)_mm512_shuffle_f32x4(odd, last, 0x88);
    v[c + 12] = (Vector)_mm512_shuffle_f32x4(odd, last, 0xDD);
  }
#else
  float lines[kLanes][kLanes];
  for (int i = 0; i < kLanes; i++) store(lines[i], v[i]);
  for (int k = 0; k < kLanes; k++) {
    for (int i = 0; i < kLanes; i++) v[k][i] = lines[i][k];
  }
#endif
}

}  // namespace proa
