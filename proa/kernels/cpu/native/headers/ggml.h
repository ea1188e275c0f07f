// The arithmetic of ggml, llama.cpp's library, as its code for AVX-512 adds up and rounds: the core of `ggml.cc`.
//
// Activations that are rounded to 8 bits amplify differences: where two programs differ in the last bit of a sum, a number is
// rounded to the neighbouring level, and some layers further on everything is a little different. So it is all of it or
// nothing: the order of every sum, where a product is rounded before it is added, what is rounded to float16.
#pragma once

#include <cmath>

#include "pages.h"

namespace proa {

// a * b + c, rounded once.
inline Vector fused(Vector a, Vector b, Vector c) {
#if PROA_AVX512
  return (Vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
#if defined(__FMA__)
  if constexpr (kLanes == 8) return (Vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
  for (int i = 0; i < kLanes; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}

// The nearest numbers of float16, as floats.
inline Vector as_half(Vector v) {
  const Bits bits = (Bits)v, sign = bits & 0x80000000, size = bits & 0x7fffffff;
  const Bits normal = (size + 0xfff + ((size >> 13) & 1)) & 0xffffe000;
  const Vector little = ((Vector)size + all(0.75f)) - all(0.75f);  // a multiple of 2^-24
  Bits found = size < 0x38800000 ? (Bits)little : normal;
  found = found >= 0x47800000 ? (Bits)all(std::numeric_limits<float>::infinity()) : found;
  found = size > 0x7f800000 ? size : found;
  return (Vector)(found | sign);
}
inline float as_half(float x) { return as_half(all(x))[0]; }

// Sums of 2^n rows of `size` numbers, the upper half of the rows added to the lower until one is left.
inline void add_halves(float* rows, int64_t count, int64_t size) {
  for (int64_t step = count / 2; step > 0; step /= 2) {
    for (int64_t i = 0; i < step * size; i++) rows[i] += rows[i + step * size];
  }
}

inline Vector ggml_exp(Vector x) {
  const Vector round = all(0x1.8p23f), shifted = fused(x, all(0x1.715476p+0f), round), n = shifted - round;
  const Vector b = fused(n, all(-0x1.7f7d1cp-20f), fused(n, all(-0x1.62e4p-1f), x)), square = b * b;
  Vector sum = fused(all(0x1.0e4020p-7f), b, all(0x1.573e2ep-5f));
  sum = fused(sum, square, fused(all(0x1.555e66p-3f), b, all(0x1.fffdb6p-2f)));
  sum = fused(sum, square, fused(all(0x1.ffffecp-1f), b, all(1.0f)));
  // 2^n in two factors, since the largest ones are no floats. Beyond 2^192 there is nothing but 0 and infinity.
  const Vector bounded = n > all(192.0f) ? all(192.0f) : n < all(-192.0f) ? all(-192.0f) : n;
  const Integers whole = __builtin_convertvector(bounded, Integers), first = whole >> 1;
  const Vector scaled = sum * (Vector)((first + 127) << 23) * (Vector)((whole - first + 127) << 23);
  const Vector far = n > all(0.0f) ? all(std::numeric_limits<float>::infinity()) : all(0.0f);
  return n > all(192.0f) || n < all(-192.0f) ? far : scaled;
}

// ---- products -------------------------------------------------------------------------------------------------------

constexpr int kGgmlGroup = 32, kGgmlWords = 8;

// 32 numbers of a row on a grid of int8; four neighbours are one sum of their own.
struct GgmlGroup {
  int8_t numbers[kGgmlGroup];
  int32_t shifts[kGgmlWords];  // -zero times the sums of four
  float scale, share;          // both numbers of float16; the share is the scale times the sum of all

  void round(const float* x, int zero) {
    float reach = 0;
    bool has_nan = false;
    for (int i = 0; i < kGgmlGroup; i++) {
      const float size = std::fabs(x[i]);
      reach = size > reach ? size : reach;
      has_nan = has_nan || size != size;
    }
    const float step = reach / 127.0f, inverse = reach != 0 ? 127.0f / reach : 0.0f;
    const bool usable = !has_nan && inverse <= 3.4028234664e38f && reach <= 3.4028234664e38f;
    int32_t total = 0;
    for (int word = 0; word < kGgmlWords; word++) {
      int32_t sum = 0;
      for (int i = 4 * word; i < 4 * word + 4; i++) {
        // Not by adding a large number, which would be fused with the product: that must be rounded first.
        const int32_t whole = static_cast<int32_t>(std::nearbyint(usable ? x[i] * inverse : 0.0f));
        numbers[i] = static_cast<int8_t>(whole);
        sum += whole;
      }
      shifts[word] = -zero * sum;
      total += sum;
    }
    scale = has_nan ? __builtin_nanf("") : as_half(step);
    share = has_nan ? scale : as_half(step * static_cast<float>(total));
  }
};

// sums[rows][16] of a panel: eight sums of each output, one for each four of the 32 terms, which meet at the end.
template <int rows, int bits>
void ggml_tile(const Blocks& w, int64_t panel, const GgmlGroup* const* x, float* sums) {
  for (int part = 0; part < kPanelOutputs; part += kLanes) {
    Vector totals[rows][kGgmlWords] = {}, shares[rows] = {};
    const uint8_t* block = w.data + panel * w.groups * w.bytes;
    for (int64_t g = 0; g < w.groups; g++, block += w.bytes) {
      const uint8_t* steps = block + w.words * 4 * kPanelOutputs;
      const Vector scale = steps_at(steps, part, true);
      Vector scales[rows];
      for (int r = 0; r < rows; r++) scales[r] = scale * all(x[r][g].scale);
      auto add = [&](int word, Integers bytes) {
        const Weights weights = weights_of(bytes);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
          const GgmlGroup& group = x[r][g];
          const Integers whole = add_weighted(every(group.shifts[word]), weights, group.numbers + 4 * word);
          totals[r][word] = fused(scales[r], __builtin_convertvector(whole, Vector), totals[r][word]);
        }
      };
      const uint8_t* numbers = block + part * 4;
#pragma GCC unroll 8
      for (int i = 0; i < (bits == 8 ? kGgmlWords : kGgmlWords / 2); i++, numbers += 4 * kPanelOutputs) {
        const Integers bytes = load_word(numbers);
        __builtin_prefetch(numbers + kWeightAhead);
        if constexpr (bits == 8) {
          add(i, bytes);
        } else {
          add(i, bytes & 0x0f0f0f0f);
          add(i + kGgmlWords / 2, (Integers)((Bits)bytes >> 4) & 0x0f0f0f0f);
        }
      }
      if (w.has_minima) {
        const Vector minimum = steps_at(steps + w.step_bytes(), part, true);
        for (int r = 0; r < rows; r++) shares[r] = fused(minimum, all(x[r][g].share), shares[r]);
      }
    }
    for (int r = 0; r < rows; r++) {
      Vector* t = totals[r];
      const Vector found = ((t[4] + t[0]) + (t[6] + t[2])) + ((t[5] + t[1]) + (t[7] + t[3]));
      store(sums + r * kPanelOutputs + part, w.has_minima ? found + shares[r] : found);
    }
  }
}

// ---- attention ------------------------------------------------------------------------------------------------------

// Sixteen numbers of a row of a head. Neighbours are turned together in ggml, here the first half with the second: so it has
// one of the first half at even places and one of the second at odd ones. Here those of even place come first.
struct Sixteen {
  Vector parts[16 / kLanes];
};

inline Sixteen sixteen_at(const uint16_t* row, int64_t half, int64_t number) {
  const uint16_t *first = row + 8 * number, *second = first + half;
#if PROA_AVX512
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second));
  return {{(Vector)_mm512_cvtph_ps(_mm256_set_m128i(high, low))}};
#else
  Sixteen found;
  for (int v = 0; v < 16 / kLanes; v++) found.parts[v] = from_half(v * kLanes < 8 ? first + v * kLanes : second + v * kLanes - 8);
  return found;
#endif
}

constexpr int64_t kGgmlHead = 256;  // the longest head

// The lanes of 16 keys' sums added up: those of even place, those of odd place, then both, the upper half always to the lower.
inline void add_lanes(const Sixteen* keys, float* sums) {
#if PROA_AVX512
  __m512 pairs[8], fours[4], eights[2];
  for (int i = 0; i < 8; i++) {  // a key and the one that ends up four further on
    const int first = i % 4 + 8 * (i / 4);
    const __m512 a = (__m512)keys[first].parts[0], b = (__m512)keys[first + 4].parts[0];
    pairs[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  }
  for (int i = 0; i < 4; i++) {
    const __m512d a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
    fours[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  for (int i = 0; i < 2; i++) {
    const __m512 a = fours[2 * i], b = fours[2 * i + 1];
    eights[i] = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
  }
  _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_shuffle_f32x4(eights[0], eights[1], 0x88),
                                       _mm512_shuffle_f32x4(eights[0], eights[1], 0xdd)));
#else
  for (int key = 0; key < 16; key++) {
    float lanes[16];
    for (int v = 0; v < 16 / kLanes; v++) store(lanes + v * kLanes, keys[key].parts[v]);
    add_halves(lanes, 8, 1);
    add_halves(lanes + 8, 8, 1);
    sums[key] = lanes[0] + lanes[8];
  }
#endif
}

// Where the rows of a head lie, and room to work in.
struct GgmlHead {
  const uint16_t *const *keys, *const *values;
  int64_t size;
  float *scores, *sums;  // scores are filled up to sixteen; 64 rows of sums

  // A step of a single token has four sums of sixteen numbers each, a longer one has one.
  template <bool single>
  void score(const Sixteen* query, int64_t count) const {
    const int64_t pieces = size / 16, half = size / 2;
    for (int64_t j = 0; j < count; j += 16) {
      Sixteen found[16];
      for (int64_t i = 0; i < 16; i++) {
        const uint16_t* key = keys[smaller(j + i, count - 1)];
        for (int v = 0; v < 16 / kLanes; v++) {
          Vector total[4] = {};
          for (int64_t n = 0; n < pieces; n++) {
            Vector& sum = total[single ? n % 4 : 0];
            sum = fused(sixteen_at(key, half, n).parts[v], query[n].parts[v], sum);
          }
          found[i].parts[v] = single ? (total[0] + total[2]) + (total[1] + total[3]) : total[0];
        }
      }
      add_lanes(found, scores + j);
    }
  }

  // The scores become shares, numbers of float16.
  void share(int64_t count, float scale) const {
    const int64_t filled = round_up(count, 16);
    float most = -std::numeric_limits<float>::infinity();
    for (int64_t j = 0; j < count; j++) {
      scores[j] *= scale;
      most = scores[j] > most ? scores[j] : most;
    }
    for (int64_t j = count; j < filled; j++) scores[j] = -std::numeric_limits<float>::infinity();
    double total = 0;
    for (int64_t j = 0; j < filled; j += 16) {
      alignas(64) float lanes[16];
      for (int v = 0; v < 16; v += kLanes) {
        const Vector power = ggml_exp(load(scores + j + v) - all(most));
        store(scores + j + v, power);
        store(lanes + v, power);
      }
      add_halves(lanes, 16, 1);
      total += lanes[0];
    }
    const Vector factor = all(static_cast<float>(1.0 / total));
    for (int64_t j = 0; j < filled; j += kLanes) store(scores + j, as_half(load(scores + j) * factor));
  }

  void attend(const Sixteen* query, int64_t count, bool single, float scale, float* out) const {
    if (single) score<true>(query, count);
    else score<false>(query, count);
    share(count, scale);
    // Values are summed up apart for each place of a key among 16, or among 64 where there is one token.
    const int64_t places = single ? 64 : 16;
    std::memset(sums, 0, sizeof(float) * places * size);
    for (int64_t j = 0; j < count; j++) {
      float* sum = sums + j % places * size;
      const Vector weight = all(scores[j]);
      for (int64_t d = 0; d < size; d += kLanes) store(sum + d, fused(from_half(values[j] + d), weight, load(sum + d)));
    }
    add_halves(sums, places, size);
    std::memcpy(out, sums, sizeof(float) * size);
  }
};

}  // namespace proa
