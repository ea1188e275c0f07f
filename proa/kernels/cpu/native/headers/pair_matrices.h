// Matrices of bfloat16, or of floats that are rounded to it while they are brought into order, as operands of gemm.h's products.
#pragma once

#include "gemm.h"
#include "pairs.h"

namespace proa {

// A matrix of such numbers: element (i, k) at i * step + k * depth_step, one of the steps being 1, `depth` of them along k.
// As the left operand i counts rows of the product, as the right one its columns.
struct PairLines {
  using Arithmetic = Pairs;
  Numbers numbers;
  int64_t step, depth_step, depth;

  PairLines moved(int64_t line, int64_t pair) const {
    return {numbers.at(line * step + 2 * pair * depth_step), step, depth_step, depth - 2 * pair};
  }
  bool along_depth() const { return depth_step == 1 && step != 1; }
  // How many of the numbers [2 k0, 2 (k0 + pairs)) there are.
  int64_t left_of(int64_t k0, int64_t pairs) const { return smaller(2 * pairs, depth - 2 * k0); }
  // Whether pairs can be read where they lie.
  bool has_pairs() const { return along_depth() && numbers.lies_in_pairs() && step % 2 == 0 && depth % 2 == 0; }

  // Lines that lie far apart are asked for: nobody else sees them coming.
  void ask_for(int64_t line, int64_t k) const {
    if (2 * k + 1 >= depth) return;
    const Numbers here = numbers.at(line * step + 2 * k * depth_step);
    __builtin_prefetch(here.data);
    __builtin_prefetch(here.at(depth_step).data);
  }

  // Two lines of `count` numbers of one pair of the depth, from line `first` on.
  Vector pairs_of(int64_t first, int64_t k, int count) const {
    const Numbers here = numbers.at(first * step + 2 * k * depth_step);
    return pair_up(here.take(count), 2 * k + 1 < depth ? here.at(depth_step).take(count) : Halves{});
  }
};

struct LeftPairs : PairLines {
  LeftPairs at(int64_t row, int64_t pair) const { return {moved(row, pair)}; }
  bool lies_in_rows() const { return along_depth(); }
  bool is_packed() const { return !has_pairs(); }
  const float* row(int64_t first, int64_t k0) const {
    return reinterpret_cast<const float*>(numbers.halves() + first * step + 2 * k0);
  }
  int64_t row_length() const { return step / 2; }

  // Rows one behind the other; of a transposed matrix panels [pair][row], several at once, because they share its lines.
  void pack_panels(float* to, int64_t first, int64_t rows, int panel, int64_t k0, int64_t pairs) const {
    if (along_depth()) {
      for (int64_t r = 0; r < rows; r++) {
        numbers.at((first + r) * step + 2 * k0).copy(reinterpret_cast<uint16_t*>(to + r * pairs), left_of(k0, pairs), 2 * pairs);
      }
      return;
    }
    for (int64_t r0 = 0; r0 < rows; r0 += 8 * panel) {
      const int64_t end = smaller(rows, r0 + 8 * panel);
      for (int64_t k = 0; k < pairs; k++) {
        int64_t r = r0;
        if (panel == kLanes / 2) {  // a vector has the rows of two panels
          for (; r + kLanes <= end; r += kLanes) {
            const Vector both = pairs_of(first + r, k0 + k, kLanes);
            ask_for(first + r, k0 + k + kAhead);
            std::memcpy(to + r * pairs + k * panel, &both, sizeof(float) * panel);
            std::memcpy(to + (r + panel) * pairs + k * panel, reinterpret_cast<const float*>(&both) + panel,
                        sizeof(float) * panel);
          }
        }
        for (; r < end; r += panel) {
          const int some = static_cast<int>(smaller<int64_t>(panel, end - r));
          float* here = to + r * pairs + k * some;
          for (int i = 0; i < some; i += kLanes) {
            const int count = smaller(kLanes, some - i);
            store_up_to(here + i, pairs_of(first + r + i, k0 + k, count), count);
          }
        }
      }
    }
  }
};

struct RightPairs : PairLines {
  RightPairs at(int64_t pair, int64_t column) const { return {moved(column, pair)}; }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return 0; }

  // to[pair * width + column], zeros behind the last column.
  void pack_right(float* to, int64_t k0, int64_t pairs, int64_t first, int columns, int width) const {
    if (!along_depth()) {
      for (int64_t k = 0; k < pairs; k++) {
        for (int j = 0; j < width; j += kLanes) {
          const int count = larger(smaller(kLanes, columns - j), 0);
          ask_for(first + j + width, k0 + k);  // what the next columns need
          store(to + k * width + j, count > 0 ? pairs_of(first + j, k0 + k, count) : Vector{});
        }
      }
      return;
    }
    constexpr int64_t kAtOnce = 256;
    alignas(64) float lines[8 * kAtOnce];
    for (int j = 0; j < width; j += 8) {
      for (int64_t k = 0; k < pairs; k += kAtOnce) {
        const int64_t some = smaller<int64_t>(pairs - k, kAtOnce);
        const float* rows[8];
        for (int i = 0; i < 8; i++) {
          rows[i] = lines + i * kAtOnce;
          uint16_t* line = reinterpret_cast<uint16_t*>(lines + i * kAtOnce);
          if (j + i >= columns) {
            std::memset(line, 0, sizeof(float) * some);
          } else if (has_pairs()) {
            rows[i] = reinterpret_cast<const float*>(numbers.halves() + (first + j + i) * step + 2 * (k0 + k));
          } else {
            numbers.at((first + j + i) * step + 2 * (k0 + k)).copy(line, left_of(k0 + k, some), 2 * some);
          }
        }
        transpose_8(to + k * width + j, width, rows, some);
      }
    }
  }
};

}  // namespace proa
