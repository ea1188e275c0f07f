// Maximum pooling by windows of 2 x 2 that neither overlap nor leave gaps, the commonest by far: whole vectors of windows,
// without a copy of the picture.
#pragma once

#include "parallel.h"
#include "vectors.h"

namespace proa {

// Whether a window is of this kind, for a picture without padding before it whose windows all lie inside.
inline bool halves(int64_t kernel_h, int64_t kernel_w, int64_t step_h, int64_t step_w, int64_t top, int64_t left,
                   int64_t height, int64_t width, int64_t out_height, int64_t out_width) {
  return kernel_h == 2 && kernel_w == 2 && step_h == 2 && step_w == 2 && top == 0 && left == 0 &&
         2 * out_height <= height && 2 * out_width <= width;
}

// The elements of `count` windows in a row, left and right ones.
struct Columns {
  Vector left, right;
};

inline Columns columns_of(const float* row, int count) {
  Integers even, odd;
  for (int i = 0; i < kLanes; i++) {
    even[i] = 2 * i;
    odd[i] = 2 * i + 1;
  }
  Vector low, high;
  if (count == kLanes) {
    low = load(row);
    high = load(row + kLanes);
  } else {
    const int all = 2 * count;
    low = load_some(row, all < kLanes ? all : kLanes);
    high = all > kLanes ? load_some(row + kLanes, all - kLanes) : Vector{};
  }
  return {__builtin_shuffle(low, high, even), __builtin_shuffle(low, high, odd)};
}

inline void store_columns(float* row, Columns columns, int count) {
  Integers first, second;
  for (int i = 0; i < kLanes; i++) {
    first[i] = i / 2 + (i % 2) * kLanes;
    second[i] = first[i] + kLanes / 2;
  }
  const Vector low = __builtin_shuffle(columns.left, columns.right, first);
  const Vector high = __builtin_shuffle(columns.left, columns.right, second);
  if (count == kLanes) {
    store(row, low);
    store(row + kLanes, high);
    return;
  }
  const int all = 2 * count;
  store_some(row, low, all < kLanes ? all : kLanes);
  if (all > kLanes) store_some(row + kLanes, high, all - kLanes);
}

// NaN is higher than anything.
inline Vector higher(Vector a, Vector b) { return a > b ? a : (a != a ? a : b); }

inline void halve_plane(const float* from, int64_t width, int64_t out_height, int64_t out_width, float* to) {
  for (int64_t a = 0; a < out_height; a++, from += 2 * width, to += out_width) {
    for (int64_t b = 0; b < out_width; b += kLanes) {
      const int count = static_cast<int>(out_width - b < kLanes ? out_width - b : kLanes);
      const Columns upper = columns_of(from + 2 * b, count), lower = columns_of(from + width + 2 * b, count);
      const Vector best = higher(lower.right, higher(lower.left, higher(upper.right, upper.left)));
      if (count == kLanes) store(to + b, best);
      else store_some(to + b, best, count);
    }
  }
}

// Every window's gradient goes to the first of its largest elements, the others get 0.
inline void halve_plane_grad(const float* from, const float* grads, int64_t height, int64_t width, int64_t out_height,
                             int64_t out_width, float* to) {
  for (int64_t a = 0; a < out_height; a++, from += 2 * width, to += 2 * width, grads += out_width) {
    for (int64_t b = 0; b < out_width; b += kLanes) {
      const int count = static_cast<int>(out_width - b < kLanes ? out_width - b : kLanes);
      const Columns upper = columns_of(from + 2 * b, count), lower = columns_of(from + width + 2 * b, count);
      const Vector grad = count == kLanes ? load(grads + b) : load_some(grads + b, count), none{};
      const Vector values[4] = {upper.left, upper.right, lower.left, lower.right};
      Vector best = values[0];
      Integers winner{};
      for (int t = 1; t < 4; t++) {
        const Integers wins = values[t] > best;
        winner = wins ? Integers{} + t : winner;
        best = (wins | (values[t] != values[t])) ? values[t] : best;  // nothing is larger than a NaN
      }
      store_columns(to + 2 * b, {winner == 0 ? grad : none, winner == 1 ? grad : none}, count);
      store_columns(to + width + 2 * b, {winner == 2 ? grad : none, winner == 3 ? grad : none}, count);
    }
    for (int64_t j = 2 * out_width; j < width; j++) to[j] = to[width + j] = 0;
  }
  for (int64_t i = 0; i < (height - 2 * out_height) * width; i++) to[i] = 0;
}

}  // namespace proa
