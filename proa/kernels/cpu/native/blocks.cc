// Rows times a weight that is kept in blocks of 8 or 4 bits, as large models are on machines of the size of a laptop. One row
// waits for the weight, which is read once and in order; for many rows a panel of it stays in the first cache.
#include "blocks.h"

#include <string>

namespace proa {

using Table = ffi::Buffer<ffi::U8>;

static ffi::Error unfit(const char* what) { return ffi::Error::InvalidArgument(std::string("block product: ") + what); }

// The rows of x, rounded; in memory that stays with the calling thread.
static RoundedRows round_rows(ffi::ThreadPool& pool, const float* x, int64_t rows, int64_t depth, const Blocks& w) {
  const int64_t length = w.groups * w.group();
  const int64_t group = w.group(), words = ceil_div(rows * length, 4);
  float* room = scratch<41>(words + 2 * rows * w.groups);
  RoundedRows all{reinterpret_cast<int8_t*>(room), room + words,
                  reinterpret_cast<int32_t*>(room + words + rows * w.groups)};
  auto one = [&](int64_t row) {
    const int64_t tile = row / kBlockRows * kBlockRows, in_tile = row - tile;
    const int64_t count = smaller<int64_t>(kBlockRows, rows - tile);
    for (int64_t g = 0; g < w.groups; g++) {
      const int64_t at = tile * w.groups + g * count + in_tile;
      const int64_t some = larger<int64_t>(0, smaller(group, depth - g * group));
      round_group(x + row * depth + g * group, some, group, w.has_minima, w.zero, all.numbers + at * group,
                  all.scales + at, all.shifts + at);
    }
  };
  const int64_t tasks = rows * length < 32768 ? 1 : smaller<int64_t>(rows, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t t) {
    for (int64_t row = rows * t / tasks; row < rows * (t + 1) / tasks; row++) one(row);
  });
  return all;
}

// Some panels of all rows.
static void multiply_panels(const Blocks& w, const RoundedRows& x, int64_t rows, int64_t outputs, const float* bias,
                            float* y, int64_t first, int64_t last) {
  alignas(64) float sums[kBlockRows * kPanelOutputs];
  for (int64_t panel = first; panel < last; panel++) {
    const int64_t column = panel * kPanelOutputs, some = smaller<int64_t>(kPanelOutputs, outputs - column);
    for (int64_t row = 0; row < rows; row += kBlockRows) {
      const int count = static_cast<int>(smaller<int64_t>(kBlockRows, rows - row));
      const RoundedRows tile{x.numbers + row * w.groups * w.group(), x.scales + row * w.groups, x.shifts + row * w.groups};
      block_tile_of<kBlockRows>(count, w, panel, tile, sums);
      for (int r = 0; r < count; r++) {
        float* to = y + (row + r) * outputs + column;
        const float* from = sums + r * kPanelOutputs;
        for (int64_t i = 0; i < some; i++) to[i] = bias ? from[i] + bias[column + i] : from[i];
      }
    }
  }
}

static ffi::Error block_product(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, Table blocks, ffi::RemainingArgs more,
                                ffi::ResultBuffer<ffi::F32> y, int64_t bits, int64_t zero, bool half, bool has_minima) {
  const auto shape = x.dimensions(), table = blocks.dimensions(), out = y->dimensions();
  if (shape.size() != 2 || table.size() != 3 || out.size() != 2 || (bits != 8 && bits != 4)) return unfit("wrong ranks");
  Blocks w;
  w.data = blocks.typed_data();
  w.panels = table[0];
  w.groups = table[1];
  w.bits = static_cast<int>(bits);
  w.zero = static_cast<int>(zero);
  w.half = half;
  w.has_minima = has_minima;
  const int64_t rows = shape[0], depth = shape[1], outputs = out[1];
  if (!w.measure(table[2]) || out[0] != rows || ceil_div(outputs, kPanelOutputs) != w.panels || zero < 0 || zero > 255 ||
      depth > w.groups * w.group() || depth <= (w.groups - 1) * w.group() || more.size() > 1) {
    return unfit("the shapes do not fit");
  }
  const float* bias = nullptr;
  if (more.size() == 1) {
    auto given = more.get<ffi::Buffer<ffi::F32>>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != outputs) return unfit("the bias does not fit");
    bias = given->typed_data();
  }
  if (rows == 0 || outputs == 0) return ffi::Error::Success();
  const RoundedRows rounded = round_rows(pool, x.typed_data(), rows, depth, w);
  // Below some 10 microseconds of one thread, waking another one costs more than it saves.
  const bool small = w.panels * w.groups * w.bytes < 150000 && double(outputs) * depth * rows < 4e6;
  const int64_t tasks = small ? 1 : smaller<int64_t>(w.panels, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t t) {
    multiply_panels(w, rounded, rows, outputs, bias, y->typed_data(), w.panels * t / tasks, w.panels * (t + 1) / tasks);
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(BlockProduct, proa::block_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<proa::Table>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Attr<int64_t>("bits")
                                  .Attr<int64_t>("zero")
                                  .Attr<bool>("half")
                                  .Attr<bool>("has_minima"));
