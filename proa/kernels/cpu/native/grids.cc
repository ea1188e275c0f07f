// Floats on a grid of bytes whose step comes from the numbers themselves; and products with weights that are kept in 8 or 4
// bits, which are made floats again in registers.
#include <string>
#include <vector>

#include "gemm.h"
#include "quantised.h"

namespace proa {

using Signed = ffi::Buffer<ffi::S8>;

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes do not fit");
}

// ---- to a grid ------------------------------------------------------------------------------------------------------

struct Range {
  float low = 0, high = 0;  // 0 is always on the grid
  bool has_nan = false;

  void take(const float* x, int64_t count) {
    Vector lows = all(low), highs = all(high), odd = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const Vector v = load(x + i);
      lows = v < lows ? v : lows;
      highs = v > highs ? v : highs;
      odd = v == v ? odd : all(1.0f);
    }
    for (; i < count; i++) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
      has_nan = has_nan || x[i] != x[i];
    }
    low = smaller(low, -largest_of(-lows));
    high = larger(high, largest_of(highs));
    has_nan = has_nan || largest_of(odd) > 0;
  }
  void join(const Range& other) {
    low = smaller(low, other.low);
    high = larger(high, other.high);
    has_nan = has_nan || other.has_nan;
  }
};

struct Grid {
  float scale = 1;
  int32_t zero = 128;

  Grid(const Range& range, bool symmetric) {
    const float reach = symmetric ? larger(range.high, -range.low) / 127.0f : (range.high - range.low) / 255.0f;
    scale = range.has_nan ? __builtin_nanf("") : reach > 0 ? reach : 1.0f;
    if (symmetric) return;
    const float at = __builtin_rintf(-range.low / scale);
    zero = at >= 0 && at <= 255 ? static_cast<int32_t>(at) : 0;
  }

  void write(uint8_t* to, const float* x, int64_t count) const {
    const float inverse = 1.0f / scale, low = static_cast<float>(-zero), high = low + 255.0f;
    for (int64_t i = 0; i < count; i += kLanes) {
      const int some = static_cast<int>(smaller<int64_t>(kLanes, count - i));
      Vector v = load_up_to(x + i, some) * all(inverse);
      v = v > low ? v : all(low);
      v = v < high ? v : all(high);
      const Vector shifted = v + all(12582912.0f);
      const Integers whole = reinterpret_cast<const Integers&>(shifted) - (0x4B400000 - zero);
      store_some_as(to + i, __builtin_convertvector(whole, Bytes), some);
    }
  }
};

// Rows of x on grids of their own, or all on one where there is room for one scale only.
static ffi::Error quantise_rows(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::U8> y,
                                ffi::ResultBuffer<ffi::F32> scales, ffi::ResultBuffer<ffi::S32> zeros, bool symmetric) {
  const auto shape = x.dimensions();
  const int64_t size = static_cast<int64_t>(x.element_count()), grids = static_cast<int64_t>(scales->element_count());
  if (shape.size() != 2 || static_cast<int64_t>(y->element_count()) != size || (grids != 1 && grids != shape[0]) ||
      static_cast<int64_t>(zeros->element_count()) != grids) {
    return misfit("quantise rows");
  }
  const float* from = x.typed_data();
  auto keep = [&](int64_t i, const Grid& grid) {
    scales->typed_data()[i] = grid.scale;
    zeros->typed_data()[i] = grid.zero;
  };
  const int64_t parts = size < 32768 ? 1 : smaller<int64_t>(4 * threads_of(pool), ceil_div(size, 8192));
  if (grids == shape[0]) {
    const int64_t row = shape[1], tasks = smaller(parts, shape[0]);
    parallel_for(pool, tasks, [&](int64_t t) {
      for (int64_t r = shape[0] * t / tasks; r < shape[0] * (t + 1) / tasks; r++) {
        Range range;
        range.take(from + r * row, row);
        const Grid grid(range, symmetric);
        keep(r, grid);
        grid.write(y->typed_data() + r * row, from + r * row, row);
      }
    });
    return ffi::Error::Success();
  }
  std::vector<Range> ranges(parts);
  auto begin = [&](int64_t t) { return size * t / parts; };
  parallel_for(pool, parts, [&](int64_t t) { ranges[t].take(from + begin(t), begin(t + 1) - begin(t)); });
  for (int64_t t = 1; t < parts; t++) ranges[0].join(ranges[t]);
  const Grid grid(ranges[0], symmetric);
  keep(0, grid);
  parallel_for(pool, parts, [&](int64_t t) {
    grid.write(y->typed_data() + begin(t), from + begin(t), begin(t + 1) - begin(t));
  });
  return ffi::Error::Success();
}

// ---- weights in few bits --------------------------------------------------------------------------------------------

// Weights [outputs, depth]; of 4 bits two outputs share a row of bytes, the first one in the low half. Scales are
// [groups of the depth, outputs].
struct FewBits {
  const int8_t* data;
  const float* scales;
  int64_t depth, outputs, groups;
  int bits;

  int64_t group_length() const { return depth / groups; }
  const int8_t* row(int64_t output) const { return data + (bits == 4 ? output / 2 : output) * depth; }

  Vector vector(const int8_t* from, int64_t output, int count) const {
    const Integers wide = widened(load_some_as<SignedBytes>(from, count));
    if (bits == 8) return __builtin_convertvector(wide, Vector);
    return __builtin_convertvector(output % 2 ? wide >> 4 : (wide << 28) >> 28, Vector);
  }

  // to[0 ... count) = the weights of an output from k on.
  void line(float* to, int64_t output, int64_t k, int64_t count) const {
    const int8_t* from = row(output);
    for (const int64_t end = k + count; k < end;) {
      const int64_t group = k / group_length(), until = smaller(end, (group + 1) * group_length());
      const Vector scale = all(scales[group * outputs + output]);
      for (; k < until; k += kLanes, to += kLanes) {
        const int some = static_cast<int>(smaller<int64_t>(kLanes, until - k));
        const Vector values = vector(from + k, output, some) * scale;
        if (some == kLanes) store(to, values);
        else store_some(to, values, some);
      }
      to -= k - until;  // the last step may have been shorter
      k = until;
    }
  }

  // As the right operand of a product (see gemm.h): to[k * width + j], zeros behind the last column.
  void pack_right(float* to, int64_t k0, int64_t count, int64_t first, int columns, int width) const {
    alignas(64) float lines[8][kDepth];
    const float* rows[8] = {lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6], lines[7]};
    for (int j = 0; j < width; j += 8) {
      for (int64_t k = 0; k < count; k += kDepth) {
        const int64_t some = smaller(kDepth, count - k);
        for (int i = 0; i < 8; i++) {
          if (j + i < columns) line(lines[i], first + j + i, k0 + k, some);
          else std::memset(lines[i], 0, sizeof(float) * some);
        }
        transpose_8(to + k * width + j, width, rows, some);
      }
    }
  }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return 0; }
};

constexpr int kFewRows = 4, kFewOutputs = 4;

// A few rows: waits for the weights, which are read once, along the depth.
template <int rows>
void multiply_few(const float* x, const FewBits& w, const float* bias, float* y, int64_t first, int64_t last) {
  const int64_t length = w.group_length();
  for (int64_t o = first; o < last; o += kFewOutputs) {
    const int outputs = static_cast<int>(smaller<int64_t>(kFewOutputs, last - o));
    Vector totals[kFewOutputs][rows] = {};
    for (int64_t g = 0; g < w.groups; g++) {
      Vector sums[kFewOutputs][rows] = {};
      auto add = [&](int64_t k, int some) __attribute__((always_inline)) {
        Vector values[rows];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) values[r] = load_up_to(x + r * w.depth + k, some);
#pragma GCC unroll 4
        for (int i = 0; i < kFewOutputs; i++) {
          const int64_t output = o + smaller(i, outputs - 1);
          const Vector weight = w.vector(w.row(output) + k, output, some);
#pragma GCC unroll 4
          for (int r = 0; r < rows; r++) sums[i][r] += weight * values[r];
        }
      };
      int64_t k = g * length;
      const int64_t end = k + length;
      for (; k + kLanes <= end; k += kLanes) add(k, kLanes);
      if (k < end) add(k, static_cast<int>(end - k));
      for (int i = 0; i < outputs; i++) {
        const Vector scale = all(w.scales[g * w.outputs + o + i]);
        for (int r = 0; r < rows; r++) totals[i][r] += scale * sums[i][r];
      }
    }
    for (int i = 0; i < outputs; i++) {
      for (int r = 0; r < rows; r++) y[r * w.outputs + o + i] = sum_of(totals[i][r]) + (bias ? bias[o + i] : 0.0f);
    }
  }
}

static ffi::Error weight_only_product(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, Signed weight,
                                      ffi::Buffer<ffi::F32> scales, ffi::RemainingArgs more,
                                      ffi::ResultBuffer<ffi::F32> y, int64_t bits) {
  const auto shape = x.dimensions(), table = weight.dimensions(), steps = scales.dimensions(), out = y->dimensions();
  const char* name = "weight only product";
  if (shape.size() != 2 || table.size() != 2 || steps.size() != 2 || out.size() != 2 || (bits != 8 && bits != 4)) {
    return misfit(name);
  }
  const int64_t rows = shape[0], depth = shape[1], outputs = out[1];
  if (out[0] != rows || table[1] != depth || table[0] * (bits == 4 ? 2 : 1) != outputs || steps[1] != outputs ||
      steps[0] < 1 || depth < 1 || depth % steps[0] || more.size() > 1) {
    return misfit(name);
  }
  const float* bias = nullptr;
  if (more.size() == 1) {
    auto given = more.get<ffi::Buffer<ffi::F32>>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != outputs) return misfit(name);
    bias = given->typed_data();
  }
  if (rows == 0 || outputs == 0) return ffi::Error::Success();
  const FewBits w{weight.typed_data(), scales.typed_data(), depth, outputs, steps[0], static_cast<int>(bits)};
  const float* from = x.typed_data();
  float* to = y->typed_data();
  const int threads = threads_of(pool);
  const double work = double(rows) * depth * outputs;
  if (rows <= kFewRows) {
    const int64_t tasks = work < 2e5 ? 1 : smaller<int64_t>(ceil_div(outputs, kFewOutputs), 4 * threads);
    const int64_t step = round_up(ceil_div(outputs, tasks), kFewOutputs);
    parallel_for(pool, ceil_div(outputs, step), [&](int64_t t) {
      const int64_t first = t * step, last = smaller(outputs, first + step);
      switch (rows) {
        case 1: return multiply_few<1>(from, w, bias, to, first, last);
        case 2: return multiply_few<2>(from, w, bias, to, first, last);
        case 3: return multiply_few<3>(from, w, bias, to, first, last);
        default: return multiply_few<4>(from, w, bias, to, first, last);
      }
    });
    return ffi::Error::Success();
  }
  // Columns are divided, so that every weight is made a float by one thread only.
  const int64_t panels = ceil_div(outputs, kWidth);
  const int64_t tasks = work < 1e6 ? 1 : smaller<int64_t>(panels, 2 * threads);
  const int64_t step = ceil_div(panels, tasks) * kWidth;
  parallel_for(pool, ceil_div(outputs, step), [&](int64_t t) {
    const int64_t first = t * step;
    struct Part : FewBits {
      int64_t first;
      void pack_right(float* to, int64_t k0, int64_t count, int64_t j, int columns, int width) const {
        FewBits::pack_right(to, k0, count, first + j, columns, width);
      }
    } part{w, first};
    Finish finish;
    finish.column_bias = bias ? bias + first : nullptr;
    multiply(rows, smaller(outputs, first + step) - first, depth, Matrix{from, depth, 1}, part,
             Result{to + first, outputs}, false, finish);
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(QuantiseRows, proa::quantise_rows,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::U8>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Ret<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .Attr<bool>("symmetric"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(WeightOnlyProduct, proa::weight_only_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Arg<proa::Signed>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::Buffer<xla::ffi::F32>>()
                                  .Attr<int64_t>("bits"));
