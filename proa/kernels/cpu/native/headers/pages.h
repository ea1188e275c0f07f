// Attention of queries to keys that lie in pages, as generation keeps them: the core of `pages.cc`.
//
// A query goes through blocks of 64 keys that begin at multiples of 64, whatever was asked beside it, and keeps its largest
// score and the sum of the powers relative to that. Each score is added up in the same order, too. So the result of a query is
// the same bit by bit in a step of one token and in one of many, alone and among other sequences.
#pragma once

#include <limits>

#include "blocks.h"
#include "exponential.h"

namespace proa {

constexpr int64_t kPageKeys = 64, kPageRows = 32;

// The sums of the lanes of kLanes vectors.
inline Vector sums_of(const Vector* v) {
#if PROA_AVX512
  __m512 pairs[8], fours[4], eights[2];
  for (int i = 0; i < 8; i++) {
    const __m512 a = (__m512)v[2 * i], b = (__m512)v[2 * i + 1];
    pairs[i] = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  }
  for (int i = 0; i < 4; i++) {
    const __m512d a = _mm512_castps_pd(pairs[2 * i]), b = _mm512_castps_pd(pairs[2 * i + 1]);
    fours[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  for (int i = 0; i < 2; i++) {
    const __m512 a = fours[2 * i], b = fours[2 * i + 1];
    eights[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  }
  return (Vector)_mm512_add_ps(_mm512_shuffle_f32x4(eights[0], eights[1], 0x88),
                               _mm512_shuffle_f32x4(eights[0], eights[1], 0xdd));
#else
#if defined(__AVX2__)
  if constexpr (kLanes == 8) {
    __m256 fours[2];
    for (int i = 0; i < 2; i++) {
      const __m256 a = _mm256_hadd_ps((__m256)v[4 * i], (__m256)v[4 * i + 1]);
      fours[i] = _mm256_hadd_ps(a, _mm256_hadd_ps((__m256)v[4 * i + 2], (__m256)v[4 * i + 3]));
    }
    return (Vector)_mm256_add_ps(_mm256_permute2f128_ps(fours[0], fours[1], 0x20),
                                 _mm256_permute2f128_ps(fours[0], fours[1], 0x31));
  }
#endif
  Vector sums{};
  for (int i = 0; i < kLanes; i++) sums[i] = sum_of(v[i]);
  return sums;
#endif
}

// A pool [pages, page size, heads, size] of floats, halves or bytes with scales.
struct Pool {
  enum Kind { kFloat, kHalf, kBrain, kByte };
  const void* data = nullptr;
  const float* scales = nullptr;  // of bytes: [pages, page size, heads]
  Kind kind = kFloat;
  int64_t heads = 0, size = 0;

  // Whether rows are read as halves where they lie, in whole vectors.
  bool has_whole_halves() const { return kind == kHalf && size % kLanes == 0; }
  const void* place(int64_t slot, int64_t head) const {
    return static_cast<const char*>(data) + (slot * heads + head) * size * (kind == kFloat ? 4 : 2);
  }
  // The floats of a row of a head; those of other kinds are widened into `room`.
  const float* row(int64_t slot, int64_t head, float* room) const {
    const int64_t index = slot * heads + head, at = index * size;
    if (kind == kFloat) return static_cast<const float*>(data) + at;
    for (int64_t d = 0; d < size; d += kLanes) {
      const int some = static_cast<int>(smaller<int64_t>(kLanes, size - d));
      store_up_to(room + d, widen(at + d, some, index), some);
    }
    return room;
  }

 private:
  Vector widen(int64_t at, int some, int64_t index) const {
    if (kind == kBrain) return load_up_to(static_cast<const uint16_t*>(data) + at, some);
    if (kind == kHalf) {
      uint16_t lanes[kLanes] = {};
      std::memcpy(lanes, static_cast<const uint16_t*>(data) + at, sizeof(uint16_t) * some);
      return from_half(lanes);
    }
    const SignedBytes bytes = load_some_as<SignedBytes>(static_cast<const int8_t*>(data) + at, some);
    return __builtin_convertvector(widened(bytes), Vector) * all(scales[index]);
  }
};

struct PagedStep {
  Pool keys, values;
  const float* query;  // [sequences, length, heads, size]
  float* out;
  const int32_t *tables, *positions;
  const float* sinks;
  int64_t sequences, length, heads, width, page, pages, window;
  float scale, cap;

  int64_t groups() const { return heads / keys.heads; }
  // The first row of a page of a sequence; what a table must not hold leads nowhere else.
  int64_t page_start(int64_t sequence, int64_t number) const {
    const int64_t found = tables[sequence * width + number];
    return smaller(larger<int64_t>(found, 0), pages - 1) * page;
  }
  int64_t position(int64_t sequence, int64_t token) const {
    return smaller<int64_t>(positions[sequence * length + token], width * page - 1);
  }
};

// The numbers of a row from the one at `d` on; halves come in whole vectors.
template <bool half>
Vector numbers_at(const void* row, int64_t d, int some = kLanes) {
  if constexpr (half) return from_half(static_cast<const uint16_t*>(row) + d);
  return load_up_to(static_cast<const float*>(row) + d, some);
}

// One block of keys: where its rows are, as floats or, if `half`, in float16.
struct KeyBlock {
  const void *keys[kPageKeys], *values[kPageKeys];
  int64_t first = 0, count = 0;
  bool half = false;

  void find(const PagedStep& step, int64_t sequence, int64_t head, int64_t from, int64_t end) {
    first = from;
    count = smaller<int64_t>(kPageKeys, end - from);
    const int64_t room = step.keys.size + step.values.size;
    half = step.keys.has_whole_halves() && step.values.has_whole_halves();
    const bool plain = half || (step.keys.kind == Pool::kFloat && step.values.kind == Pool::kFloat);
    float* wide = plain ? nullptr : scratch<43>(kPageKeys * room);
    int64_t number = from / step.page, row = from % step.page, start = step.page_start(sequence, number);
    for (int64_t j = 0; j < count; j++, row++) {
      if (row == step.page) {
        row = 0;
        start = step.page_start(sequence, ++number);
      }
      const int64_t slot = start + row;
      keys[j] = plain ? step.keys.place(slot, head) : step.keys.row(slot, head, wide + j * room);
      values[j] = plain ? step.values.place(slot, head) : step.values.row(slot, head, wide + j * room + step.keys.size);
    }
    for (int64_t j = count; j < kPageKeys; j++) keys[j] = keys[count - 1];
  }
};

// scores[0 ... 64) of a query, unscaled; behind the last key they mean nothing. `whole`: of vectors, a row has only whole ones.
template <bool whole, bool half>
void score_block(const float* query, int64_t size, const KeyBlock& block, float* scores) {
  for (int64_t j = 0; j < block.count; j += kLanes) {
    const void* keys[kLanes];
    for (int i = 0; i < kLanes; i++) keys[i] = block.keys[j + i];
    Vector sums[kLanes] = {};
    for (int64_t d = 0; d < size; d += kLanes) {
      const int some = whole ? kLanes : static_cast<int>(smaller<int64_t>(kLanes, size - d));
      const Vector q = whole ? load(query + d) : load_up_to(query + d, some);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; i++) sums[i] += q * numbers_at<half>(keys[i], d, whole ? kLanes : some);
    }
    store(scores + j, sums_of(sums));
  }
}

// out = out * factor + the weights [from, to) times their values.
template <bool half>
void add_values(const float* weights, const KeyBlock& block, int64_t from, int64_t to, int64_t size, float factor,
                       float* out) {
  constexpr int kStrip = 4;
  int64_t d = 0;
  for (; d + kStrip * kLanes <= size; d += kStrip * kLanes) {
    Vector sums[kStrip];
    for (int v = 0; v < kStrip; v++) sums[v] = load(out + d + v * kLanes) * all(factor);
    for (int64_t j = from; j < to; j++) {
      const Vector weight = all(weights[j]);
#pragma GCC unroll 4
      for (int v = 0; v < kStrip; v++) sums[v] += weight * numbers_at<half>(block.values[j], d + v * kLanes);
    }
    for (int v = 0; v < kStrip; v++) store(out + d + v * kLanes, sums[v]);
  }
  for (; d < size; d += kLanes) {
    const int some = static_cast<int>(smaller<int64_t>(kLanes, size - d));
    Vector sum = load_up_to(out + d, some) * all(factor);
    for (int64_t j = from; j < to; j++) sum += all(weights[j]) * numbers_at<half>(block.values[j], d, some);
    store_up_to(out + d, sum, some);
  }
}

// What a query has seen so far.
struct PagedRow {
  const float* query;
  float* out;
  int64_t start, end;  // of the keys that it may see
  float level, sum;

  void see(const PagedStep& step, const KeyBlock& block) {
    const int64_t from = larger(start, block.first) - block.first;
    const int64_t to = smaller(end, block.first + block.count) - block.first;
    if (from >= to) return;
    alignas(64) float scores[kPageKeys];
    if (block.half) score_block<true, true>(query, step.keys.size, block, scores);
    else if (step.keys.size % kLanes == 0) score_block<true, false>(query, step.keys.size, block, scores);
    else score_block<false, false>(query, step.keys.size, block, scores);
    Vector best = all(-std::numeric_limits<float>::infinity());
    for (int64_t j = 0; j < block.count; j += kLanes) {
      Vector s = load(scores + j) * all(step.scale);
      if (step.cap > 0) s = capped(s, step.cap);
      store(scores + j, s);
    }
    for (int64_t j = 0; j < from; j++) scores[j] = -std::numeric_limits<float>::infinity();
    for (int64_t j = to; j < kPageKeys; j++) scores[j] = -std::numeric_limits<float>::infinity();
    for (int64_t j = 0; j < kPageKeys; j += kLanes) best = greater(load(scores + j), best);
    const float highest = larger(level, largest_of(best));
    // A row of infinities or NaN stays one; nothing is lowered by an infinity.
    const float lowered = highest == -std::numeric_limits<float>::infinity() ? 0.0f : highest;
    const float factor = level == highest ? 1.0f : exponential(all(level - lowered))[0];
    Vector total{};
    for (int64_t j = 0; j < kPageKeys; j += kLanes) {
      const Vector power = exponential(load(scores + j) - all(lowered));
      store(scores + j, power);
      total += power;
    }
    sum = sum * factor + sum_of(total);
    level = highest;
    if (block.half) add_values<true>(scores, block, from, to, step.values.size, factor, out);
    else add_values<false>(scores, block, from, to, step.values.size, factor, out);
  }

 private:
  static Vector capped(Vector s, float cap) {  // cap * tanh(s / cap)
    const Vector power = exponential(s * all(2.0f / cap));
    const Vector share = power > all(1e30f) ? all(1.0f) : (power - all(1.0f)) / (power + all(1.0f));
    return share * all(cap);
  }
};

// Queries [first, last) of a sequence for each of some heads of keys; the query heads of one token stand beside each other.
// One token goes through a block of all heads before the next, so that pages are read in the order in which they lie.
inline void attend_pages(const PagedStep& step, int64_t sequence, int64_t head, int64_t heads, int64_t first, int64_t last) {
  const int64_t groups = step.groups(), size = step.keys.size, value_size = step.values.size;
  const int64_t at_once = larger<int64_t>(1, kPageRows / heads);
  PagedRow rows[kPageRows];
  KeyBlock block;
  for (int64_t i0 = first; i0 < last; i0 += at_once) {
    const int64_t count = smaller(at_once, last - i0);
    int64_t start = std::numeric_limits<int64_t>::max(), end = 0;
    for (int64_t r = 0; r < heads * count; r++) {
      const int64_t i = i0 + r % count, token = i / groups, own = (head + r / count) * groups + i % groups;
      const int64_t at = (sequence * step.length + token) * step.heads + own, position = step.position(sequence, token);
      const int64_t begin = step.window > 0 ? larger<int64_t>(position + 1 - step.window, 0) : 0;
      rows[r] = {step.query + at * size, step.out + at * value_size, begin, position + 1,
                 step.sinks ? step.sinks[own] : -std::numeric_limits<float>::infinity(), step.sinks ? 1.0f : 0.0f};
      std::memset(rows[r].out, 0, sizeof(float) * value_size);
      start = smaller(start, begin);
      end = larger(end, position + 1);
    }
    for (int64_t j = start / kPageKeys * kPageKeys; j < end; j += kPageKeys) {
      for (int64_t h = 0; h < heads; h++) {
        block.find(step, sequence, head + h, j, end);
        for (int64_t r = 0; r < count; r++) rows[h * count + r].see(step, block);
      }
    }
    for (int64_t r = 0; r < heads * count; r++) {
      const float sum = rows[r].sum, factor = sum == 0 ? 0.0f : 1.0f / sum;  // 0: it saw nothing
      for (int64_t d = 0; d < value_size; d++) rows[r].out[d] *= factor;
    }
  }
}

}  // namespace proa
