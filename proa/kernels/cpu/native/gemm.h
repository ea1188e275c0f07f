// Products of float matrices: c = a b (+ bias, + relu).
//
// One register tile (up to 14 x 32 with AVX-512) is all that computes; everything else brings operands into its order. Where
// an operand comes from is a *source* with a `pack` function, so that transposed matrices and the windows of a convolution
// are multiplied by the same code, and never stored.
#pragma once

#include "parallel.h"
#include "vectors.h"

namespace proa {

// What is done to a sum before it is stored, once all of k is in it.
struct Finish {
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  bool relu = false;
  bool any() const { return column_bias != nullptr || row_bias != nullptr || relu; }
  Vector apply(Vector sum, int row, int column, int count) const {
    if (column_bias) sum += count == kLanes ? load(column_bias + column) : load_some(column_bias + column, count);
    if (row_bias) sum += all(row_bias[row]);
    return relu ? greater(sum, Vector{}) : sum;
  }
  Finish at(int64_t row, int64_t column) const {
    Finish moved = *this;
    if (column_bias) moved.column_bias += column;
    if (row_bias) moved.row_bias += row;
    return moved;
  }
};

// Apart from `tile`, because that is compiled for every number of rows.
inline void write_tile(const float* sums, int rows, int width, float* c, int64_t c_step, int columns, bool accumulate,
                       const Finish* finish) {
  for (int r = 0; r < rows; r++, sums += width, c += c_step) {
    for (int j = 0; j < columns; j += kLanes) {
      const int count = columns - j < kLanes ? columns - j : kLanes;
      Vector sum = load(sums + j);
      if (count == kLanes) {
        if (accumulate) sum += load(c + j);
        store(c + j, finish ? finish->apply(sum, r, j, kLanes) : sum);
      } else {
        if (accumulate) sum += load_some(c + j, count);
        store_some(c + j, finish ? finish->apply(sum, r, j, count) : sum, count);
      }
    }
  }
}

// c[rows x columns] (+)= a b, where a is packed [depth][rows], or lies in rows of `a_step` floats if that is not 0, and b has
// rows of `b_step` floats. columns <= vectors * kLanes, but all vectors of b can be read.
template <int rows, int vectors, bool in_rows>
void any_tile(int64_t depth, const float* a, int64_t a_step, const float* b, int64_t b_step, float* c, int64_t c_step,
              int columns, bool accumulate, const Finish* finish) {
  // Every third row: the two behind it are reached by the processor's own addressing.
  const float* third[(rows + 2) / 3];
  if constexpr (in_rows) {
#pragma GCC unroll 16
    for (int i = 0; i < (rows + 2) / 3; i++) third[i] = a + 3 * i * a_step;
  }
  Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
    // The result is asked for now, so that it is there when the sums are.
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sums[r][v] = Vector{};
      __builtin_prefetch(c + r * c_step + v * kLanes, 1);
    }
  }
  for (int64_t k = 0; k < depth; k++) {
    Vector column[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) column[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      const Vector value = all(in_rows ? third[r / 3][r % 3 * a_step] : a[r]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) sums[r][v] += value * column[v];
    }
    if constexpr (in_rows) {
#pragma GCC unroll 16
      for (int i = 0; i < (rows + 2) / 3; i++) third[i]++;
    } else {
      a += rows;
    }
    b += b_step;
  }
  if (finish == nullptr && columns == vectors * kLanes) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        float* to = c + r * c_step + v * kLanes;
        store(to, accumulate ? load(to) + sums[r][v] : sums[r][v]);
      }
    }
    return;
  }
  alignas(64) float finished[rows * vectors * kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) store(finished + (r * vectors + v) * kLanes, sums[r][v]);
  }
  write_tile(finished, rows, vectors * kLanes, c, c_step, columns, accumulate, finish);
}

template <int rows, int vectors>
void tile(int64_t depth, const float* a, const float* b, int64_t b_step, float* c, int64_t c_step, int columns,
          bool accumulate, const Finish* finish) {
  any_tile<rows, vectors, false>(depth, a, 0, b, b_step, c, c_step, columns, accumulate, finish);
}

using Tile = void (*)(int64_t, const float*, const float*, int64_t, float*, int64_t, int, bool, const Finish*);
using RowTile = void (*)(int64_t, const float*, int64_t, const float*, int64_t, float*, int64_t, int, bool, const Finish*);

template <int rows>
struct Tiles {
  static Tile find(int wanted, int vectors) {
    if (wanted == rows) return vectors == 1 ? tile<rows, 1> : tile<rows, 2>;
    return Tiles<rows - 1>::find(wanted, vectors);
  }
  static RowTile find_for_rows(int wanted, int vectors) {
    if (wanted == rows) return vectors == 1 ? any_tile<rows, 1, true> : any_tile<rows, 2, true>;
    return Tiles<rows - 1>::find_for_rows(wanted, vectors);
  }
};
template <>
struct Tiles<0> {
  static Tile find(int, int) { return nullptr; }
  static RowTile find_for_rows(int, int) { return nullptr; }
};

// A matrix in memory: element (i, j) at data[i * row_step + j * column_step], one of the steps being 1.
struct Matrix {
  const float* data;
  int64_t row_step, column_step;

  Matrix at(int64_t row, int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
  Matrix transposed() const { return {data, column_step, row_step}; }

  // As the left operand without packing: rows that lie side by side, `row_length` apart.
  bool lies_in_rows() const { return column_step == 1 && row_step > 1; }
  const float* row(int64_t first, int64_t k0) const { return data + first * row_step + k0; }
  int64_t row_length() const { return row_step; }

  // As the left operand: to[k * rows + r]. The buffer has 8 floats more than that.
  void pack_left(float* to, int64_t first, int rows, int64_t k0, int64_t depth) const {
    const float* from = data + first * row_step + k0 * column_step;
    if (row_step == 1) {
      for (int64_t k = 0; k < depth; k++) {
#if PROA_AVX512
        store_some(to + k * rows, load_some(from + k * column_step, rows), rows);
#else
        std::memcpy(to + k * rows, from + k * column_step, sizeof(float) * rows);
#endif
      }
      return;
    }
    if (rows < 8) {
      const float* lines[8];
      for (int r = 0; r < 8; r++) lines[r] = from + smaller(r, rows - 1) * row_step;
      // Each line of 8 is wider than a row of `to` and is overwritten by the next; the last ones are written one by one.
      int64_t whole = depth & ~int64_t{7};
      transpose_8(to, rows, lines, whole);
      for (int64_t k = whole; k < depth; k++) {
        for (int r = 0; r < rows; r++) to[k * rows + r] = lines[r][k];
      }
      return;
    }
    for (int r = 0;; r += 8) {
      if (r + 8 > rows) r = rows - 8;  // the last block overlaps the one before
      const float* lines[8];
      for (int i = 0; i < 8; i++) lines[i] = from + (r + i) * row_step;
      transpose_8(to + r, rows, lines, depth);
      if (r + 8 == rows) break;
    }
  }

  // As the right operand: to[k * width + j], zeros behind the last column.
  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int width) const {
    const float* from = data + k0 * row_step + first * column_step;
    if (column_step == 1) {
      if (columns == kWidth) {
        for (int64_t k = 0; k < depth; k++) {
          const float* row = from + k * row_step;
          store(to + k * width, load(row));
          store(to + k * width + kLanes, load(row + kLanes));
          // The next columns: their lines lie far apart, and nobody else would see them coming.
          __builtin_prefetch(row + kWidth, 0, 2);
          __builtin_prefetch(row + kWidth + kLanes, 0, 2);
        }
        return;
      }
      for (int64_t k = 0; k < depth; k++) {
        std::memcpy(to + k * width, from + k * row_step, sizeof(float) * columns);
        std::memset(to + k * width + columns, 0, sizeof(float) * (width - columns));
      }
      return;
    }
    static const float zeros[4096] = {};
    for (int j = 0; j < width; j += 8) {
      for (int64_t k = 0; k < depth; k += 4096) {
        int64_t some = smaller<int64_t>(depth - k, 4096);
        const float* lines[8];
        for (int i = 0; i < 8; i++) lines[i] = j + i < columns ? from + (j + i) * column_step + k : zeros;
        transpose_8(to + k * width + j, width, lines, some);
      }
    }
  }

  // The columns themselves where they can be used without packing.
  const float* direct(int64_t k0, int64_t first, int columns, int width) const {
    return column_step == 1 && columns == width ? data + k0 * row_step + first : nullptr;
  }
  int64_t direct_step() const { return row_step; }
};

constexpr int64_t kDepth = 320;          // of a block: a column panel of b (40 KiB) stays in the first cache
constexpr int64_t kBlockColumns = 1024;  // of b: a block (1.3 MiB) stays in the second or third
constexpr int64_t kBlockRows = 32 * kMaxRows;

inline int rows_of_panels(int64_t rows) {
  // Equal panels: 64 rows are 5 of 13, not 4 of 14 and one of 8.
  return static_cast<int>(ceil_div(rows, ceil_div(rows, kMaxRows)));
}

// A result in memory: rows of `step` floats.
struct Result {
  float* data;
  int64_t step;

  // Where a tile lies, if its columns lie side by side; otherwise it is computed apart and carried by `read` and `write`.
  float* direct(int64_t row, int64_t column, int) const { return data + row * step + column; }
  void read(float*, int64_t, int, int64_t, int) const {}
  void write(const float*, int64_t, int, int64_t, int) const {}
};

// One thread's product. `left.pack_left` and `right.pack_right` bring the operands, `out` takes the tiles of the result.
template <class Left, class Right, class Out>
void multiply(int64_t rows, int64_t columns, int64_t depth, const Left& left, const Right& right, const Out& out,
              bool accumulate, const Finish& finish) {
  const int64_t depth_step = ceil_div(depth, larger<int64_t>(ceil_div(depth, kDepth), 1));
  const int64_t block_rows = smaller(rows, kBlockRows);
  const bool unpacked = rows <= 3 * kMaxRows;  // b is read only a few times: packing would only add to that
  float* packed_left = scratch<0>(block_rows * depth_step + 8);
  const bool in_rows = left.lies_in_rows();  // then it need not be packed
  const bool once = rows <= block_rows;  // a panel of b is used up before the next is packed into the same place
  float* packed_right = scratch<1>((once ? kWidth : round_up(smaller(columns, kBlockColumns), kWidth)) * depth_step);
  for (int64_t j0 = 0; j0 < columns; j0 += kBlockColumns) {
    const int64_t j1 = smaller(columns, j0 + kBlockColumns);
    for (int64_t k0 = 0; k0 < depth; k0 += depth_step) {
      const int64_t some = smaller(depth_step, depth - k0);
      const bool last = k0 + some == depth;
      const bool add = accumulate || k0 > 0;
      for (int64_t i0 = 0; i0 < rows; i0 += block_rows) {
        const int64_t i1 = smaller(rows, i0 + block_rows);
        const int step = rows_of_panels(i1 - i0);
        for (int64_t i = i0; i < i1 && !in_rows; i += step) {
          left.pack_left(packed_left + (i - i0) * some, i, static_cast<int>(smaller<int64_t>(step, i1 - i)), k0, some);
        }
        for (int64_t j = j0; j < j1; j += kWidth) {
          const int count = static_cast<int>(smaller<int64_t>(kWidth, j1 - j));
          const int width = count <= kLanes ? kLanes : kWidth;
          const float* b = unpacked ? right.direct(k0, j, count, width) : nullptr;
          int64_t b_step = right.direct_step();
          if (b == nullptr) {
            float* packed = packed_right + (once ? 0 : (j - j0) * some);
            if (i0 == 0) right.pack_right(packed, k0, some, j, count, width);
            b = packed;
            b_step = width;
          }
          for (int64_t i = i0; i < i1; i += step) {
            const int panel = static_cast<int>(smaller<int64_t>(step, i1 - i));
            const Finish here = finish.at(i, j);
            const Finish* at_last = last && finish.any() ? &here : nullptr;
            float apart[kMaxRows * kWidth];
            float* c = out.direct(i, j, count);
            const bool carried = c == nullptr;
            const int64_t c_step = carried ? kWidth : out.step;
            if (carried) {
              c = apart;
              if (add) out.read(apart, i, panel, j, count);
            }
            if (in_rows) {
              const RowTile compute = Tiles<kMaxRows>::find_for_rows(panel, width / kLanes);
              compute(some, left.row(i, k0), left.row_length(), b, b_step, c, c_step, count, add, at_last);
            } else {
              const Tile compute = Tiles<kMaxRows>::find(panel, width / kLanes);
              compute(some, packed_left + (i - i0) * some, b, b_step, c, c_step, count, add, at_last);
            }
            if (carried) out.write(apart, i, panel, j, count);
          }
        }
      }
    }
  }
}

}  // namespace proa
