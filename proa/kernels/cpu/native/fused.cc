// Products of a model that is only run: weights were packed when it was loaded, and what stands behind a
// sum (bias, residual, activation) is done while the sum is at hand.
#include "epilogue.h"
#include "gemm.h"
#include "pairs.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;

constexpr double kWorthTwo = 6e5;  // multiplications from which on a second thread pays
constexpr int64_t kPanel = 48;     // columns of a packed panel, on every processor (COLUMNS in kernels/cpu/fused.py)

static int64_t parts_of(ffi::ThreadPool& pool, double work) {
  const int threads = threads_of(pool);
  if (work < kWorthTwo) return 1;
  return work > 16e6 * threads ? 2 * threads : threads;
}

// Does to whole sums in the result what stands behind them.
static void finish_tile(const Result& out, int64_t row, int rows, int64_t column, int columns, const Epilogue& epilogue) {
  for (int r = 0; r < rows; r++) {
    const int64_t offset = (row + r) * out.step + column;
    for (int i = 0; i < columns; i += kLanes) {
      const int count = smaller(kLanes, columns - i);
      float* to = out.data + offset + i;
      Vector sum = load_up_to(to, count);
      if (epilogue.column_bias) sum += load_up_to(epilogue.column_bias + column + i, count);
      if (epilogue.residual) sum += load_up_to(epilogue.residual + offset + i, count);
      sum = epilogue.activate(sum);
      if (count == kLanes) store(to, sum);
      else store_some(to, sum, count);
    }
  }
}

// ---- products: the right operand packed as [panel][depth][kPanel], of floats or of pairs (pairs.h) --------------------

// One row: waits for memory alone, so sums of four neighbouring k are kept apart to hide the additions.
template <class Arithmetic>
static void row_times_panels(const float* x, const float* panels, int64_t depth, const Result& out, int64_t row,
                             int64_t first, int64_t last, const Epilogue& epilogue) {
  constexpr int vectors = kPanel / kLanes, at_once = kLanes == 16 ? 4 : 1;
  for (int64_t j = first; j < last; j += kPanel) {
    const float* b = panels + j * depth;
    Vector sums[at_once][vectors] = {};
    int64_t k = 0;
    for (; k + at_once <= depth; k += at_once) {
#pragma GCC unroll 4
      for (int u = 0; u < at_once; u++) {
        const Vector value = Arithmetic::broadcast(x + k + u);
#pragma GCC unroll 12
        for (int v = 0; v < vectors; v++) {
          sums[u][v] = Arithmetic::add(sums[u][v], value, load(b + (k + u) * kPanel + v * kLanes));
        }
      }
    }
    for (; k < depth; k++) {
      const Vector value = Arithmetic::broadcast(x + k);
      for (int v = 0; v < vectors; v++) sums[0][v] = Arithmetic::add(sums[0][v], value, load(b + k * kPanel + v * kLanes));
    }
    const int columns = static_cast<int>(smaller<int64_t>(kPanel, last - j));
    float* to = out.data + row * out.step + j;
    for (int v = 0; v * kLanes < columns; v++) {
      Vector sum = sums[0][v];
      for (int u = 1; u < at_once; u++) sum += sums[u][v];
      store_some(to + v * kLanes, sum, smaller(kLanes, columns - v * kLanes));
    }
    finish_tile(out, row, 1, j, columns, epilogue);
  }
}

// As `multiply` does it (gemm.h), but nothing has to be packed.
template <class Arithmetic>
static void multiply_panels(const Matrix& left, const float* panels, int64_t depth, const Result& out, int64_t row0,
                            int64_t row1, int64_t column0, int64_t column1, const Epilogue& epilogue) {
  const int64_t rows = row1 - row0;
  if (rows <= 2) {
    for (int64_t r = row0; r < row1; r++) {
      row_times_panels<Arithmetic>(left.data + r * left.row_step, panels, depth, out, r, column0, column1, epilogue);
    }
    return;
  }
  const BlockSizes blocks(depth, column1 - column0);
  const int step = rows_of_panels(rows, kStreamedRows);
  const int64_t block_columns = rows <= 3 * kStreamedRows ? kPanel : round_up(blocks.columns, kPanel);
  for (int64_t j0 = column0; j0 < column1; j0 += block_columns) {
    const int64_t j1 = smaller(column1, j0 + block_columns);
    for (int64_t k0 = 0; k0 < depth; k0 += blocks.depth) {
      const int64_t some = smaller(blocks.depth, depth - k0);
      for (int64_t i = row0; i < row1; i += step) {
        const int panel = static_cast<int>(smaller<int64_t>(step, row1 - i));
        for (int64_t j = j0; j < j1; j += kStreamedWidth) {
          const int count = static_cast<int>(smaller<int64_t>(kStreamedWidth, j1 - j));
          const float* b = panels + j / kPanel * kPanel * depth + k0 * kPanel + j % kPanel;
          const float* next = out.data + (j + kStreamedWidth < j1 ? i * out.step + j + kStreamedWidth
                                                                  : (i + step) * out.step + j0);
          const StreamedTile tile = Tiles<kStreamedRows>::template find_streamed<Arithmetic, true>(panel, (count + kLanes - 1) / kLanes);
          tile(some, left.row(i, k0), left.row_length(), b, kPanel, out.data + i * out.step + j, out.step, count, k0 > 0,
               nullptr, next);
          if (k0 + some == depth) finish_tile(out, i, panel, j, count, epilogue);
        }
      }
    }
  }
}

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes do not fit");
}

// Rows of floats as rows of pairs, the last one filled up with 0.
static const float* paired_rows(ffi::ThreadPool& pool, const float* x, int64_t rows, int64_t depth) {
  const int64_t pairs = ceil_div(depth, 2);
  float* to = scratch<10>(rows * pairs);
  const int64_t tasks = rows * depth < 60000 ? 1 : smaller<int64_t>(rows, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      Numbers{x + r * depth, true}.copy(reinterpret_cast<uint16_t*>(to + r * pairs), depth, 2 * pairs);
    }
  });
  return to;
}

// `depth` counts what panels hold: floats or pairs.
template <class Arithmetic>
static void multiply_all(ffi::ThreadPool& pool, const float* x, const float* panels, int64_t rows, int64_t columns,
                         int64_t depth, const Result& result, const Epilogue& epilogue) {
  const Matrix left{x, depth, 1};
  const int64_t column_panels = ceil_div(columns, kPanel);
  const double work = double(rows) * columns * depth;
  const int64_t parts = rows <= 2 && work > 1e5 ? threads_of(pool) : parts_of(pool, work);
  // Rows are divided only where each part still has many: every part reads the weights of its columns.
  int64_t row_parts = smaller<int64_t>(parts, larger<int64_t>(rows / (10 * kStreamedRows), 1));
  int64_t column_parts = smaller(ceil_div(parts, row_parts), column_panels);
  const int64_t row_step = round_up(ceil_div(rows, row_parts), row_parts > 1 ? kStreamedRows : 1);
  const int64_t column_step = ceil_div(column_panels, column_parts) * kPanel;
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  parallel_for(pool, row_parts * column_parts, [&](int64_t part) {
    const int64_t row = part / column_parts * row_step, column = part % column_parts * column_step;
    multiply_panels<Arithmetic>(left, panels, depth, result, row, smaller(rows, row + row_step), column,
                                smaller(columns, column + column_step), epilogue);
  });
}

// Panels are [panel][depth][kPanel] of floats, or [panel][pair of the depth][kPanel][2] of bfloat16: x is rounded then.
static ffi::Error fused_product(ffi::ThreadPool pool, Floats x, ffi::AnyBuffer panels, ffi::RemainingArgs more,
                                ffi::ResultBuffer<ffi::F32> y, bool has_bias, bool has_residual, int64_t activation,
                                float low, float high) {
  const auto shape = x.dimensions(), packed = panels.dimensions(), out = y->dimensions();
  const bool paired = panels.element_type() == ffi::BF16;
  if (!is_number(panels) || shape.size() != 2 || packed.size() != (paired ? 4 : 3) || out.size() != 2) {
    return misfit("fused product");
  }
  const int64_t rows = shape[0], depth = shape[1], columns = out[1], lines = paired ? ceil_div(depth, 2) : depth;
  Epilogue epilogue;
  const float* bias = nullptr;
  if (depth < 1 || out[0] != rows || packed[1] != lines || packed[2] != kPanel || packed[0] != ceil_div(columns, kPanel) ||
      (paired && packed[3] != 2) ||
      !read_epilogue(more, has_bias, has_residual, false, columns, rows * columns, bias, epilogue, activation, low, high) ||
      epilogue.rounded_residual) {
    return misfit("fused product");
  }
  if (rows == 0 || columns == 0) return ffi::Error::Success();
  epilogue.column_bias = bias;
  const Result result{y->typed_data(), columns};
  const auto* weights = static_cast<const float*>(panels.untyped_data());
  if (paired) {
    multiply_all<Pairs>(pool, paired_rows(pool, x.typed_data(), rows, depth), weights, rows, columns, lines, result, epilogue);
  } else {
    multiply_all<Singles>(pool, x.typed_data(), weights, rows, columns, depth, result, epilogue);
  }
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedProduct, proa::fused_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
