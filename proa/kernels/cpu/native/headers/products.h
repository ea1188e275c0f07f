// Matrix products over the pool: who computes which part of the result, and vectors, which need no tiles.
#pragma once

#include <type_traits>

#include "gemm.h"

namespace proa {

// Work below which a second thread costs more than it brings, in multiplications.
constexpr double kWorthThreads = 1.5e6;

// y[j] = sum over k of x[k] b(k, j), for columns [first, last).
inline void vector_times(const float* x, int64_t x_step, const Matrix& b, int64_t depth, float* y, int64_t first,
                         int64_t last, const Finish& finish) {
  if (b.column_step == 1 && b.row_step != 1) {  // rows of b are added up
    constexpr int64_t some = 8 * kLanes;
    for (int64_t j0 = first; j0 < last; j0 += some) {
      const int64_t j1 = smaller(last, j0 + some);
      if (j1 - j0 == some) {
        Vector sums[8] = {};
        for (int64_t k = 0; k < depth; k++) {
          const Vector value = all(x[k * x_step]);
          const float* line = b.data + k * b.row_step + j0;
          for (int v = 0; v < 8; v++) sums[v] += value * load(line + v * kLanes);
        }
        for (int v = 0; v < 8; v++) store(y + j0 + v * kLanes, sums[v]);
      } else {
        for (int64_t j = j0; j < j1; j++) y[j] = 0;
        for (int64_t k = 0; k < depth; k++) {
          const float value = x[k * x_step];
          const float* line = b.data + k * b.row_step;
          for (int64_t j = j0; j < j1; j++) y[j] += value * line[j];
        }
      }
    }
  } else {  // columns of b are contiguous: scalar products
    const float* from = x;
    if (x_step != 1) {
      float* copy = scratch<2>(depth);
      for (int64_t k = 0; k < depth; k++) copy[k] = x[k * x_step];
      from = copy;
    }
    for (int64_t j = first; j < last; j += 4) {
      const int count = static_cast<int>(smaller<int64_t>(4, last - j));
      const float* lines[4];
      for (int i = 0; i < 4; i++) lines[i] = b.data + (j + smaller(i, count - 1)) * b.column_step;
      Vector sums[4] = {};
      int64_t k = 0;
      for (; k + kLanes <= depth; k += kLanes) {
        const Vector value = load(from + k);
        for (int i = 0; i < 4; i++) sums[i] += value * load(lines[i] + k);
      }
      if (k < depth) {
        const Vector value = load_some(from + k, static_cast<int>(depth - k));
        for (int i = 0; i < 4; i++) sums[i] += value * load_some(lines[i] + k, static_cast<int>(depth - k));
      }
      for (int i = 0; i < count; i++) y[j + i] = sum_of(sums[i]);
    }
  }
  if (!finish.any()) return;
  for (int64_t j = first; j < last; j++) {
    float value = y[j];
    if (finish.column_bias) value += finish.column_bias[j];
    if (finish.row_bias) value += finish.row_bias[0];
    y[j] = finish.relu && value < 0 ? 0 : value;
  }
}

// c = a b on one thread, c contiguous.
template <class Left, class Right>
void multiply_alone(int64_t rows, int64_t columns, int64_t depth, const Left& a, const Right& b, float* c,
                    const Finish& finish) {
  multiply(rows, columns, depth, a, b, Result{c, columns}, false, finish);
}
inline void multiply_alone(int64_t rows, int64_t columns, int64_t depth, const Matrix& a, const Matrix& b, float* c,
                           const Finish& finish) {
  if (rows == 1) {
    vector_times(a.data, a.column_step, b, depth, c, 0, columns, finish);
  } else if (columns == 1) {
    Finish turned = finish;
    turned.column_bias = finish.row_bias;
    turned.row_bias = finish.column_bias;
    vector_times(b.data, b.row_step, a.transposed(), depth, c, 0, rows, turned);
  } else {
    multiply(rows, columns, depth, a, b, Result{c, columns}, false, finish);
  }
}

// The product of a vector and a matrix, in whichever order, on all threads.
inline void multiply_vector(ffi::ThreadPool& pool, int64_t rows, int64_t columns, int64_t depth, const Matrix& a,
                            const Matrix& b, float* c, const Finish& finish) {
  const int64_t length = larger(rows, columns);
  const int64_t step = round_up(ceil_div(length, 2 * threads_of(pool)), 8 * kLanes);
  Finish turned = finish;
  if (rows != 1) {
    turned.column_bias = finish.row_bias;
    turned.row_bias = finish.column_bias;
  }
  parallel_for(pool, ceil_div(length, step), [&](int64_t i) {
    const int64_t first = i * step, last = smaller(length, first + step);
    if (rows == 1) vector_times(a.data, a.column_step, b, depth, c, first, last, turned);
    else vector_times(b.data, b.row_step, a.transposed(), depth, c, first, last, turned);
  });
}

// c = a b (+ bias), c contiguous.
template <class Left, class Right>
void multiply_matrices(ffi::ThreadPool& pool, int64_t rows, int64_t columns, int64_t depth, const Left& a, const Right& b,
                       float* c, const Finish& finish) {
  const int threads = threads_of(pool);
  const double work = static_cast<double>(rows) * columns * depth;
  const bool is_vector = std::is_same_v<Left, Matrix> && (rows == 1 || columns == 1);
  // A vector's product waits for memory, which a second thread brings sooner.
  if (threads == 1 || work < (is_vector ? 2e5 : kWorthThreads)) {
    multiply_alone(rows, columns, depth, a, b, c, finish);
    return;
  }
  if constexpr (std::is_same_v<Left, Matrix>) {
    if (is_vector) return multiply_vector(pool, rows, columns, depth, a, b, c, finish);
  }
  const int64_t row_panels = ceil_div(rows, kStreamedRows), column_panels = ceil_div(columns, kStreamedWidth);
  // Every part packs its own operands: as few parts as there are threads, unless one would take long enough for another
  // thread to be held up by something else.
  const int64_t parts = work > 2e9 * threads ? 2 * threads : threads;
  if (larger(row_panels, column_panels) < threads && depth >= 2048) {
    // A small result of long sums: each thread adds up a part of k, and the parts are added at the end.
    const int64_t step = ceil_div(depth, threads), pieces = ceil_div(depth, step);
    const int64_t size = rows * columns;
    float* partial = scratch<3>(size * pieces);
    parallel_for(pool, pieces, [&](int64_t i) {
      multiply(rows, columns, smaller(step, depth - i * step), a.at(0, i * step), b.at(i * step, 0),
               Result{partial + i * size, columns}, false, Finish());
    });
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t j = 0; j < columns; j++) {
        float sum = 0;
        for (int64_t i = 0; i < pieces; i++) sum += partial[i * size + r * columns + j];
        if (finish.column_bias) sum += finish.column_bias[j];
        if (finish.row_bias) sum += finish.row_bias[r];
        if (finish.relu && sum < 0) sum = 0;
        if (finish.rounded) store_rounded(finish.rounded + r * finish.rounded_step + j, all(sum), 1);
        else c[r * columns + j] = sum;
      }
    }
    return;
  }
  // A grid of parts, as square as panels allow.
  int64_t row_parts = 1, column_parts = 1;
  while (row_parts * column_parts < parts) {
    const double height = static_cast<double>(rows) / row_parts, width = static_cast<double>(columns) / column_parts;
    if (height >= width && row_parts * 2 <= row_panels) row_parts *= 2;
    else if (column_parts * 2 <= column_panels) column_parts *= 2;
    else if (row_parts * 2 <= row_panels) row_parts *= 2;
    else break;
  }
  const int64_t row_step = round_up(ceil_div(rows, row_parts), kStreamedRows);
  const int64_t column_step = round_up(ceil_div(columns, column_parts), kStreamedWidth);
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  parallel_for(pool, row_parts * column_parts, [&](int64_t i) {
    const int64_t row = i / column_parts * row_step, column = i % column_parts * column_step;
    multiply(smaller(row_step, rows - row), smaller(column_step, columns - column), depth, a.at(row, 0),
             b.at(0, column), Result{c + row * columns + column, columns}, false, finish.at(row, column));
  });
}

}  // namespace proa
