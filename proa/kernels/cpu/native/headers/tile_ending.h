// What is done to the sums of a register tile once they are whole, before they leave the registers.
#pragma once

#include "epilogue.h"

namespace proa {

// sums[r][v] = change(sums[r][v], r, v, how many lanes of it count), of the first `count` columns.
template <int rows, int vectors, class Change>
inline __attribute__((always_inline)) void each_sum(Vector (&sums)[rows][vectors], int count, const Change& change) {
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    // The first half of the vectors is always whole: there is another tile for fewer columns.
    const int lanes = v < vectors / 2 ? kLanes : larger(smaller(kLanes, count - v * kLanes), 0);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) sums[r][v] = change(sums[r][v], r, v, lanes);
  }
}

template <int rows, int vectors>
inline __attribute__((always_inline)) void store_sums(Vector (&sums)[rows][vectors], int count, float* to, int64_t to_step) {
  each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int lanes) {
    store_up_to(to + r * to_step + v * kLanes, sum, lanes);
    return sum;
  });
}

// Places are those of the tile's first sum; rows of a residual are as far apart as those of the result.
struct Ending {
  const float* bias;  // or null
  const Epilogue* epilogue;  // or null
  const float* residual;
  const uint16_t* rounded_residual;
  int64_t filter;     // of the first column, of all groups
  uint16_t* rounded;  // where sums go as bfloat16, or null

  template <class Arithmetic, int rows, int vectors>
  inline __attribute__((always_inline)) void apply(Vector (&sums)[rows][vectors], int count, float* to, int64_t step) const {
    if (bias) {
      each_sum<rows, vectors>(sums, count, [&](Vector sum, int, int v, int lanes) {
        return sum + load_up_to(bias + v * kLanes, lanes);
      });
    }
    if (epilogue) act<rows, vectors>(sums, count, step);
    if (!rounded) return store_sums<rows, vectors>(sums, count, to, step);
    each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int lanes) {
      store_halves(rounded + r * step + v * kLanes, Arithmetic::rounded(sum), lanes);
      return sum;
    });
  }

 private:
  template <int rows, int vectors>
  inline __attribute__((always_inline)) void act(Vector (&sums)[rows][vectors], int count, int64_t step) const {
    if (residual) {
      each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int lanes) {
        return sum + load_up_to(residual + r * step + v * kLanes, lanes);
      });
    } else if (rounded_residual) {
      each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int lanes) {
        return sum + load_up_to(rounded_residual + r * step + v * kLanes, lanes);
      });
    }
    epilogue->with_short_activation(
        [&](const auto& activate) {
          each_sum<rows, vectors>(sums, count, [&](Vector sum, int, int, int) { return activate(sum); });
        },
        [&] {
          Vector waiting[rows * vectors];  // a loop over `sums` itself would keep them in memory all the time
          each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int) { return waiting[r * vectors + v] = sum; });
#pragma GCC unroll 1
          for (int i = 0; i < rows * vectors; i++) waiting[i] = epilogue->activate(waiting[i]);
          each_sum<rows, vectors>(sums, count, [&](Vector, int r, int v, int) { return waiting[r * vectors + v]; });
        });
    if (epilogue->after) {
      each_sum<rows, vectors>(sums, count, [&](Vector sum, int, int v, int lanes) {
        return epilogue->scaled(sum, filter + v * kLanes, lanes);
      });
    }
  }
};

}  // namespace proa
