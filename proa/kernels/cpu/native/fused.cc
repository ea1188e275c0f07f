// Products of a model that is only run: weights were packed when it was loaded, and what stands behind a
// sum (bias, residual, activation) is done while the sum is at hand.
#include "ending.h"
#include "gemm.h"

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
static void finish_tile(const Result& out, int64_t row, int rows, int64_t column, int columns, const Ending& ending) {
  for (int r = 0; r < rows; r++) {
    const int64_t offset = (row + r) * out.step + column;
    for (int i = 0; i < columns; i += kLanes) {
      const int count = smaller(kLanes, columns - i);
      float* to = out.data + offset + i;
      Vector sum = load_up_to(to, count);
      if (ending.column_bias) sum += load_up_to(ending.column_bias + column + i, count);
      if (ending.residual) sum += load_up_to(ending.residual + offset + i, count);
      sum = ending.activate(sum);
      if (count == kLanes) store(to, sum);
      else store_some(to, sum, count);
    }
  }
}

// ---- products: the right operand packed as [panel][depth][kPanel] ---------------------------------------------------

// One row: waits for memory alone, so sums of four neighbouring k are kept apart to hide the additions.
static void row_times_panels(const float* x, const float* panels, int64_t depth, const Result& out, int64_t row,
                             int64_t first, int64_t last, const Ending& ending) {
  constexpr int vectors = kPanel / kLanes, at_once = kLanes == 16 ? 4 : 1;
  for (int64_t j = first; j < last; j += kPanel) {
    const float* b = panels + j * depth;
    Vector sums[at_once][vectors] = {};
    int64_t k = 0;
    for (; k + at_once <= depth; k += at_once) {
#pragma GCC unroll 4
      for (int u = 0; u < at_once; u++) {
        const Vector value = all(x[k + u]);
#pragma GCC unroll 12
        for (int v = 0; v < vectors; v++) sums[u][v] += value * load(b + (k + u) * kPanel + v * kLanes);
      }
    }
    for (; k < depth; k++) {
      for (int v = 0; v < vectors; v++) sums[0][v] += all(x[k]) * load(b + k * kPanel + v * kLanes);
    }
    const int columns = static_cast<int>(smaller<int64_t>(kPanel, last - j));
    float* to = out.data + row * out.step + j;
    for (int v = 0; v * kLanes < columns; v++) {
      Vector sum = sums[0][v];
      for (int u = 1; u < at_once; u++) sum += sums[u][v];
      store_some(to + v * kLanes, sum, smaller(kLanes, columns - v * kLanes));
    }
    finish_tile(out, row, 1, j, columns, ending);
  }
}

// As `multiply` does it (gemm.h), but nothing has to be packed.
static void multiply_panels(const Matrix& left, const float* panels, int64_t depth, const Result& out, int64_t row0,
                            int64_t row1, int64_t column0, int64_t column1, const Ending& ending) {
  const int64_t rows = row1 - row0;
  if (rows <= 2) {
    for (int64_t r = row0; r < row1; r++) {
      row_times_panels(left.data + r * left.row_step, panels, depth, out, r, column0, column1, ending);
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
          const StreamedTile tile = Tiles<kStreamedRows>::find_streamed<Singles, true>(panel, (count + kLanes - 1) / kLanes);
          tile(some, left.row(i, k0), left.row_length(), b, kPanel, out.data + i * out.step + j, out.step, count, k0 > 0,
               nullptr, next);
          if (k0 + some == depth) finish_tile(out, i, panel, j, count, ending);
        }
      }
    }
  }
}

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes do not fit");
}

static ffi::Error fused_product(ffi::ThreadPool pool, Floats x, Floats panels, ffi::RemainingArgs more,
                                ffi::ResultBuffer<ffi::F32> y, bool has_bias, bool has_residual, int64_t activation,
                                float low, float high) {
  const auto shape = x.dimensions(), packed = panels.dimensions(), out = y->dimensions();
  if (shape.size() != 2 || packed.size() != 3 || out.size() != 2) return misfit("fused product");
  const int64_t rows = shape[0], depth = shape[1], columns = out[1];
  Ending ending;
  const float* bias = nullptr;
  if (depth < 1 || out[0] != rows || packed[1] != depth || packed[2] != kPanel || packed[0] != ceil_div(columns, kPanel) ||
      !read_ending(more, has_bias, has_residual, columns, rows * columns, bias, ending, activation, low, high)) {
    return misfit("fused product");
  }
  if (rows == 0 || columns == 0) return ffi::Error::Success();
  ending.column_bias = bias;
  const Result result{y->typed_data(), columns};
  const Matrix left{x.typed_data(), depth, 1};
  const int64_t column_panels = ceil_div(columns, kPanel);
  const double work = double(rows) * columns * larger<int64_t>(depth, 1);
  int64_t parts = rows <= 2 && work > 1e5 ? threads_of(pool) : parts_of(pool, work);
  // Rows are divided only where each part still has many: every part reads the weights of its columns.
  int64_t row_parts = smaller<int64_t>(parts, larger<int64_t>(rows / (10 * kStreamedRows), 1));
  int64_t column_parts = smaller(ceil_div(parts, row_parts), column_panels);
  const int64_t row_step = round_up(ceil_div(rows, row_parts), row_parts > 1 ? kStreamedRows : 1);
  const int64_t column_step = ceil_div(column_panels, column_parts) * kPanel;
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  parallel_for(pool, row_parts * column_parts, [&](int64_t part) {
    const int64_t row = part / column_parts * row_step, column = part % column_parts * column_step;
    multiply_panels(left, panels.typed_data(), depth, result, row, smaller(rows, row + row_step), column,
                    smaller(columns, column + column_step), ending);
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedProduct, proa::fused_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
