// Products of matrices: c = a b (+ bias, + relu).
//
// Register tiles are all that computes; everything else brings operands into their order. Where operands come from is a
// *source* with a `pack` function, so that transposed matrices and others are multiplied by the same code, and never
// stored. What one multiplication is, says an *arithmetic*: of floats here, of pairs of bfloat16 in pairs.h, where a pair takes
// the place of a float and depths count pairs.
#pragma once

#include "parallel.h"
#include "vectors.h"

namespace proa {

// Where b is streamed, tiles have three vectors and fewer rows: more of the work is multiplication, less is loading.
// Packed panels are whole eights of columns wide, so that three of the shortest vectors would not do.
constexpr int kStreamedVectors = kLanes == 4 ? 2 : 3;
constexpr int kStreamedRows = kLanes == 16 ? 8 : kLanes == 8 ? 4 : 6;
constexpr int kStreamedWidth = kStreamedVectors * kLanes;
constexpr int64_t kAhead = 12;  // steps of k by which b is asked for in advance

// What is done to a sum before it is stored, once all of k is in it.
struct Finish {
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  bool relu = false;
  uint16_t* rounded = nullptr;  // where it goes as bfloat16, in rows of `rounded_step`; c then only holds sums of parts of k
  int64_t rounded_step = 0;
  bool any() const { return column_bias != nullptr || row_bias != nullptr || relu || rounded != nullptr; }
  Vector apply(Vector sum, int row, int column, int count) const {
    if (column_bias) sum += count == kLanes ? load(column_bias + column) : load_some(column_bias + column, count);
    if (row_bias) sum += all(row_bias[row]);
    return relu ? greater(sum, Vector{}) : sum;
  }
  Finish at(int64_t row, int64_t column) const {
    Finish moved = *this;
    if (column_bias) moved.column_bias += column;
    if (row_bias) moved.row_bias += row;
    if (rounded) moved.rounded += row * rounded_step + column;
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
      if (accumulate) sum += load_up_to(c + j, count);
      if (finish) sum = finish->apply(sum, r, j, count);
      if (finish && finish->rounded) store_rounded(finish->rounded + r * finish->rounded_step + j, sum, count);
      else store_up_to(c + j, sum, count);
    }
  }
}

// c[rows x columns] (+)= a b, where a is packed [depth][rows], or lies in rows of `a_step` floats if that is not 0, and b has
// rows of `b_step` floats. columns <= vectors * kLanes, but all vectors of b can be read.
//
// `streamed`: b comes from the second cache and is asked for some steps before it is needed, and so, row by row, is `next`,
// the tile of the result that follows this one. The first cache then belongs to a.
template <class Arithmetic, int rows, int vectors, bool in_rows, bool streamed>
void any_tile(int64_t depth, const float* a, int64_t a_step, const float* b, int64_t b_step, float* c, int64_t c_step,
              int columns, bool accumulate, const Finish* finish, const float* next) {
  // Every third row: the two behind it are reached by the processor's own addressing.
  const float* third[(rows + 2) / 3];
  if constexpr (in_rows) {
#pragma GCC unroll 16
    for (int i = 0; i < (rows + 2) / 3; i++) third[i] = a + 3 * i * a_step;
  }
  Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      sums[r][v] = Vector{};
      // The result is asked for now, so that it is there when the sums are.
      if (!streamed) __builtin_prefetch(c + r * c_step + v * kLanes, 1);
    }
  }
  const int64_t some = streamed ? depth / rows + 1 : depth;  // steps for each row of the next tile
  for (int64_t k = 0; k < depth;) {
    if (streamed) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) __builtin_prefetch(next + v * kLanes, 1);
      next += c_step;
    }
    const int64_t end = smaller(depth, k + some);
    for (; k < end; k++) {
      Vector column[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        column[v] = load(b + v * kLanes);
        if (streamed) __builtin_prefetch(b + kAhead * b_step + v * kLanes);
      }
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) {
        const Vector value = Arithmetic::broadcast(in_rows ? third[r / 3] + r % 3 * a_step : a + r);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[r][v] = Arithmetic::add(sums[r][v], value, column[v]);
      }
      if constexpr (in_rows) {
#pragma GCC unroll 16
        for (int i = 0; i < (rows + 2) / 3; i++) third[i]++;
      } else {
        a += rows;
      }
      b += b_step;
    }
  }
  if (finish == nullptr && columns == vectors * kLanes) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
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
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) store(finished + (r * vectors + v) * kLanes, sums[r][v]);
  }
  write_tile(finished, rows, vectors * kLanes, c, c_step, columns, accumulate, finish);
}

// With b in the first cache.
template <int rows, int vectors>
void tile(int64_t depth, const float* a, const float* b, int64_t b_step, float* c, int64_t c_step, int columns,
          bool accumulate, const Finish* finish) {
  any_tile<Singles, rows, vectors, false, false>(depth, a, 0, b, b_step, c, c_step, columns, accumulate, finish, nullptr);
}

using Tile = void (*)(int64_t, const float*, const float*, int64_t, float*, int64_t, int, bool, const Finish*);
using StreamedTile = void (*)(int64_t, const float*, int64_t, const float*, int64_t, float*, int64_t, int, bool,
                              const Finish*, const float*);

template <int rows>
struct Tiles {
  static Tile find(int wanted, int vectors) {
    if (wanted == rows) return vectors == 1 ? tile<rows, 1> : tile<rows, 2>;
    return Tiles<rows - 1>::find(wanted, vectors);
  }
  template <class Arithmetic, bool in_rows>
  static StreamedTile find_streamed(int wanted, int vectors) {
    if (wanted != rows) return Tiles<rows - 1>::template find_streamed<Arithmetic, in_rows>(wanted, vectors);
    if (vectors == 1) return any_tile<Arithmetic, rows, 1, in_rows, true>;
    return vectors == 2 ? any_tile<Arithmetic, rows, 2, in_rows, true> : any_tile<Arithmetic, rows, 3, in_rows, true>;
  }
};
template <>
struct Tiles<0> {
  static Tile find(int, int) { return nullptr; }
  template <class, bool>
  static StreamedTile find_streamed(int, int) { return nullptr; }
};

// A matrix in memory: element (i, j) at data[i * row_step + j * column_step], one of the steps being 1.
struct Matrix {
  using Arithmetic = Singles;
  const float* data;
  int64_t row_step, column_step;

  Matrix at(int64_t row, int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
  Matrix transposed() const { return {data, column_step, row_step}; }

  // As the left operand without packing: rows that lie side by side, `row_length` apart.
  bool lies_in_rows() const { return column_step == 1 && row_step > 1; }
  bool is_packed() const { return !lies_in_rows(); }
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

  // Panels of `step` rows, one behind the other, of which the last may have fewer.
  void pack_panels(float* to, int64_t first, int64_t rows, int step, int64_t k0, int64_t depth) const {
    // Of a transposed matrix several at once, because they share its lines.
    const int64_t at_once = row_step == 1 ? 8 * step : step;
    for (int64_t r = 0; r < rows; r += at_once) {
      const int64_t some = smaller(at_once, rows - r);
      if (row_step == 1 && step == kStreamedRows && some % step == 0) {
        pack_whole_panels(to + r * depth, data + first + r + k0 * column_step, some / step, depth);
        continue;
      }
      for (int64_t i = r; i < r + some; i += step) {
        pack_left(to + i * depth, first + i, static_cast<int>(smaller<int64_t>(step, rows - i)), k0, depth);
      }
    }
  }
  void pack_whole_panels(float* to, const float* from, int64_t panels, int64_t depth) const {
    for (int64_t k = 0; k < depth; k++, from += column_step, to += kStreamedRows) {
      const float* ahead = from + (k + 16 < depth ? 16 * column_step : 0);  // lines far apart: nobody else sees them coming
      for (int64_t p = 0; p < panels; p++) {
        if (p % 2 == 0) __builtin_prefetch(ahead + p * kStreamedRows);
        std::memcpy(to + p * depth * kStreamedRows, from + p * kStreamedRows, sizeof(float) * kStreamedRows);
      }
    }
  }

  // As the right operand: to[k * width + j], zeros behind the last column.
  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int width) const {
    const float* from = data + k0 * row_step + first * column_step;
    if (column_step == 1) {
      if (columns == width) {
        for (int64_t k = 0; k < depth; k++) {
          const float* row = from + k * row_step;
          for (int j = 0; j < width; j += kLanes) {
            store(to + k * width + j, load(row + j));
            // The next columns: their lines lie far apart, and nobody else would see them coming.
            __builtin_prefetch(row + width + j, 0, 2);
          }
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

constexpr int64_t kDepth = 320;  // of a block: a column panel of b (40 KiB) stays in the first cache

inline int rows_of_panels(int64_t rows, int most = kMaxRows) {
  // Equal panels: 64 rows are 5 of 13, not 4 of 14 and one of 8.
  return static_cast<int>(ceil_div(rows, ceil_div(rows, most)));
}

// A result in memory: rows of `step` floats.
struct Result {
  float* data;
  int64_t step;
};

constexpr int64_t kPackedRows = 1 << 19;  // floats of a (2 MiB): they come back from the second or third cache in order

// Blocks of a streamed product: a panel of rows of a (12 KiB) stays in the first cache, a block of b (576 KiB) in the second.
struct BlockSizes {
  int64_t pieces, depth, columns;
  BlockSizes(int64_t whole_depth, int64_t whole_columns) {
    pieces = larger<int64_t>(ceil_div(whole_depth, 384), 1);
    depth = larger<int64_t>(ceil_div(whole_depth, pieces), 1);
    columns = smaller(round_up(whole_columns, kLanes), 384 * 384 / depth / kStreamedWidth * kStreamedWidth);
  }
  // Vectors of the panel that follows: 4 are 2 and 2, not 3 and 1.
  static int vectors_of(int64_t columns_left) {
    const int64_t vectors = ceil_div(columns_left, kLanes);
    return vectors == 4 ? 2 : static_cast<int>(smaller<int64_t>(vectors, kStreamedVectors));
  }
};

// One thread's product. `right.pack_right` brings columns of b in order.
//
// A block of b is packed and stays in the second cache; each panel of rows is multiplied by all of it. Where there are only
// a few rows, each column panel of b is used up before the next one is packed, or used as it lies.
template <class Left, class Right>
void multiply(int64_t rows, int64_t columns, int64_t depth, const Left& left, const Right& right, const Result& out,
              bool accumulate, const Finish& finish) {
  using Arithmetic = typename Left::Arithmetic;
  if (rows < 1 || columns < 1) return;
  const BlockSizes blocks(depth, columns);
  const int step = rows_of_panels(rows, kStreamedRows);
  const bool few = rows <= 3 * kStreamedRows;
  const bool in_rows = left.lies_in_rows(), packs = left.is_packed();
  // Rows that are packed at once, and used for all columns.
  const int64_t most = kPackedRows / blocks.depth / step * step;
  const int64_t group = packs ? smaller(rows, most) : rows;
  float* packed_left = packs ? scratch<0>(group * blocks.depth + 8) : nullptr;
  float* packed_right = scratch<1>((few ? kStreamedWidth : blocks.columns) * blocks.depth);

  for (int64_t piece = 0; piece < blocks.pieces; piece++) {
    const int64_t k0 = piece * blocks.depth, some = larger<int64_t>(smaller(blocks.depth, depth - k0), 0);
    const bool add = accumulate || k0 > 0;
    const bool finishes = piece + 1 == blocks.pieces && finish.any();
    auto compute = [&](int64_t i, int64_t j, const float* a, const float* b, int64_t b_step, int vectors,
                       const float* next) {
      const int panel = static_cast<int>(smaller<int64_t>(step, rows - i));
      const int count = static_cast<int>(smaller<int64_t>(vectors * kLanes, columns - j));
      const Finish here = finish.at(i, j);
      const StreamedTile tile = in_rows ? Tiles<kStreamedRows>::template find_streamed<Arithmetic, true>(panel, vectors)
                                        : Tiles<kStreamedRows>::template find_streamed<Arithmetic, false>(panel, vectors);
      tile(some, a, packs ? some : left.row_length(), b, b_step, out.data + i * out.step + j, out.step, count, add,
           finishes ? &here : nullptr, next);
    };
    if (few) {
      if (packs) left.pack_panels(packed_left, 0, rows, step, k0, some);
      for (int64_t j = 0; j < columns;) {
        const int vectors = BlockSizes::vectors_of(columns - j), width = vectors * kLanes;
        const int count = static_cast<int>(smaller<int64_t>(width, columns - j));
        const float* b = right.direct(k0, j, count, width);
        const int64_t b_step = b ? right.direct_step() : width;
        if (!b) right.pack_right(packed_right, k0, some, j, count, width);
        for (int64_t i = 0; i < rows; i += step) {
          const float* next = out.data + (i + step < rows ? (i + step) * out.step + j : j + count);
          compute(i, j, packs ? packed_left + i * some : left.row(i, k0), b ? b : packed_right, b_step, vectors, next);
        }
        j += width;
      }
      continue;
    }
    for (int64_t i0 = 0; i0 < rows; i0 += group) {
      const int64_t i1 = smaller(rows, i0 + group);
      if (packs) left.pack_panels(packed_left, i0, i1 - i0, step, k0, some);
      for (int64_t j0 = 0; j0 < columns; j0 += blocks.columns) {
        const int64_t j1 = smaller(columns, j0 + blocks.columns);
        for (int64_t j = j0; j < j1;) {
          const int width = BlockSizes::vectors_of(j1 - j) * kLanes;
          right.pack_right(packed_right + (j - j0) * some, k0, some, j, static_cast<int>(smaller<int64_t>(width, j1 - j)),
                           width);
          j += width;
        }
        for (int64_t i = i0; i < i1; i += step) {
          const float* a = packs ? packed_left + (i - i0) * some : left.row(i, k0);
          for (int64_t j = j0; j < j1;) {
            const int vectors = BlockSizes::vectors_of(j1 - j), width = vectors * kLanes;
            const float* next = out.data + (j + width < j1 ? i * out.step + j + width : (i + step) * out.step + j0);
            compute(i, j, a, packed_right + (j - j0) * some, width, vectors, next);
            j += width;
          }
        }
      }
    }
  }
}

}  // namespace proa
