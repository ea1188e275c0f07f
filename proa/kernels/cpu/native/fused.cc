// Products and convolutions of a model that is only run: weights were packed when it was loaded, and what stands behind a
// sum (bias, residual, activation) is done while the sum is at hand.
#include <cmath>

#include "exponential.h"
#include "gemm.h"
#include "windows.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Sizes = ffi::Span<const int64_t>;

// The numbers are those of kernels/cpu/fused.py.
enum Activation : int64_t { kNone, kRelu, kClip, kHardswish, kSilu, kSigmoid, kGelu, kGeluByTanh, kTanh, kNumActivations };

// What is done to a sum once it is whole. The residual lies in memory as the result does.
struct Ending {
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  const float* residual = nullptr;
  int64_t activation = kNone;
  float low = 0, high = 0;

  Vector activate(Vector x) const {
    switch (activation) {  // NaN stays NaN in all of them
      case kRelu: return x < 0.0f ? Vector{} : x;
      case kClip: x = x < low ? all(low) : x; return x > high ? all(high) : x;
      case kHardswish: {
        Vector gate = x + all(3.0f);
        gate = gate < 0.0f ? Vector{} : gate;
        gate = gate > 6.0f ? all(6.0f) : gate;
        return x * gate * all(1.0f / 6);
      }
      case kSilu: return x / (all(1.0f) + exponential(-x));
      case kSigmoid: return all(1.0f) / (all(1.0f) + exponential(-x));
      case kGelu: {
        Vector share, density;
        normal_distribution(x, share, density);
        return x * share;
      }
      case kGeluByTanh: {  // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
        const Vector u = x * (all(1.5957691216f) + all(0.0713548163f) * x * x);
        return x / (all(1.0f) + exponential(-u));
      }
      case kTanh: {
        // Small arguments by the first terms of the series: 1 - 2 / (exp(2 x) + 1) would cancel there.
        const Vector square = x * x;
        const Vector small = x * (all(1.0f) + square * (all(-1.0f / 3) + square * (all(2.0f / 15) + square * (
                             all(-17.0f / 315) + square * all(62.0f / 2835)))));
        const Vector large = all(1.0f) - all(2.0f) / (exponential(x + x) + all(1.0f));
        return square < 0.0625f ? small : large;
      }
      default: return x;
    }
  }
};

static Vector load_up(const float* p, int count) { return count == kLanes ? load(p) : load_some(p, count); }

// A result of rows x columns in memory, its columns divided into images of `positions` each.
struct Place {
  float* data;
  int64_t row_step, image_step, positions;

  int64_t offset(int64_t row, int64_t column) const {
    return row * row_step + column / positions * image_step + column % positions;
  }
  int run(int64_t column, int count) const {  // columns that lie side by side
    return static_cast<int>(smaller<int64_t>(count, positions - column % positions));
  }
};

// Writes a tile of sums [rows][kWidth]; `sums` can be read kLanes beyond its end.
static void finish_tile(const float* sums, int rows, int columns, const Place& place, int64_t row, int64_t column,
                        bool first, bool last, const Ending& ending) {
  for (int j = 0; j < columns;) {
    const int run = place.run(column + j, columns - j);
    for (int r = 0; r < rows; r++) {
      const int64_t offset = place.offset(row + r, column + j);
      float* to = place.data + offset;
      for (int i = 0; i < run; i += kLanes) {
        const int count = smaller(kLanes, run - i);
        Vector sum = load(sums + r * kWidth + j + i);
        if (!first) sum += load_up(to + i, count);
        if (last) {
          if (ending.column_bias) sum += load_up(ending.column_bias + column + j + i, count);
          if (ending.row_bias) sum += all(ending.row_bias[row + r]);
          if (ending.residual) sum += load_up(ending.residual + offset + i, count);
          sum = ending.activate(sum);
        }
        if (count == kLanes) store(to + i, sum);
        else store_some(to + i, sum, count);
      }
    }
    j += run;
  }
}

constexpr double kWorthTwo = 6e5;  // multiplications from which on a second thread pays
constexpr int64_t kPanel = 32;     // columns of a packed panel, on every processor
constexpr int64_t kDeep = 1024;    // terms of a sum that are added up at once
constexpr int64_t kCached = 170000;  // floats: two thirds of a second cache of 1 MiB

// Asks for `count` floats before they are needed.
static void fetch(const float* from, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) __builtin_prefetch(from + i, 0, 2);
}

static int64_t parts_of(ffi::ThreadPool& pool, double work) {
  const int threads = threads_of(pool);
  if (work < kWorthTwo) return 1;
  return work > 16e6 * threads ? 2 * threads : threads;
}

// ---- products: the right operand packed as [panel][depth][kPanel] ---------------------------------------------------

// One row: waits for memory alone, so sums of four neighbouring k are kept apart to hide the additions.
static void row_times_panels(const float* x, const float* panels, int64_t depth, const Place& place, int64_t row,
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
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sums[u][v] += value * load(b + (k + u) * kPanel + v * kLanes);
      }
    }
    for (; k < depth; k++) {
      for (int v = 0; v < vectors; v++) sums[0][v] += all(x[k]) * load(b + k * kPanel + v * kLanes);
    }
    float whole[kPanel + kLanes];
    for (int v = 0; v < vectors; v++) {
      Vector sum = sums[0][v];
      for (int u = 1; u < at_once; u++) sum += sums[u][v];
      store(whole + v * kLanes, sum);
    }
    const int64_t end = smaller(last, j + kPanel);
    for (int64_t i = j; i < end; i += kWidth) {
      finish_tile(whole + (i - j), 1, static_cast<int>(smaller<int64_t>(kWidth, end - i)), place, row, i, true, true,
                  ending);
    }
  }
}

static void multiply_panels(const Matrix& left, const float* panels, int64_t depth, const Place& place, int64_t row0,
                            int64_t row1, int64_t column0, int64_t column1, const Ending& ending) {
  if (row1 - row0 <= 2) {
    for (int64_t r = row0; r < row1; r++) {
      row_times_panels(left.data + r * left.row_step, panels, depth, place, r, column0, column1, ending);
    }
    return;
  }
  // The packed rows of a block stay in the second cache; sums as long as that allows are added up in registers, and only
  // longer ones in a block of the result, which then has to stay there, too.
  const int64_t depth_step = ceil_div(depth, ceil_div(depth, kDeep));
  const int64_t block_rows = larger<int64_t>(kCached / depth_step / kMaxRows, 6) * kMaxRows;
  const int64_t block_columns = depth_step == depth ? round_up(column1 - column0, kPanel) : 768;
  float* packed = scratch<0>(smaller(row1 - row0, block_rows) * depth_step + 8);
  alignas(64) float sums[kMaxRows * kWidth + kLanes];
  for (int64_t i0 = row0; i0 < row1; i0 += block_rows) {
    const int64_t i1 = smaller(row1, i0 + block_rows);
    const int step = rows_of_panels(i1 - i0);
    const int64_t row_panels = ceil_div(i1 - i0, step);
    for (int64_t j0 = column0; j0 < column1; j0 += block_columns) {
      const int64_t j1 = smaller(column1, j0 + block_columns);
      for (int64_t k0 = 0; k0 < depth; k0 += depth_step) {
        const int64_t some = smaller(depth_step, depth - k0);
        for (int64_t i = i0; i < i1; i += step) {
          left.pack_left(packed + (i - i0) * some, i, static_cast<int>(smaller<int64_t>(step, i1 - i)), k0, some);
        }
        const int64_t ahead = ceil_div(some * kWidth, row_panels);  // of the next columns, for each panel of rows
        for (int64_t j = j0; j < j1; j += kWidth) {
          const int count = static_cast<int>(smaller<int64_t>(kWidth, j1 - j));
          const float* b = panels + j / kPanel * kPanel * depth + k0 * kPanel + j % kPanel;
          const float* next = kWidth == kPanel && j + kWidth < j1 ? b + depth * kPanel : nullptr;
          for (int64_t i = i0; i < i1; i += step) {
            const int rows = static_cast<int>(smaller<int64_t>(step, i1 - i));
            if (next != nullptr) {
              fetch(next, smaller(ahead, some * kPanel - (next - b - depth * kPanel)));
              next += ahead;
              if (next >= b + depth * kPanel + some * kPanel) next = nullptr;
            }
            const Tile compute = Tiles<kMaxRows>::find(rows, count <= kLanes ? 1 : 2);
            compute(some, packed + (i - i0) * some, b, kPanel, sums, kWidth, count, false, nullptr);
            finish_tile(sums, rows, count, place, i, j, k0 == 0, k0 + some == depth, ending);
          }
        }
      }
    }
  }
}

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes do not fit");
}

// The bias and the residual among further operands, in this order.
static bool read_ending(ffi::RemainingArgs& more, bool has_bias, bool has_residual, int64_t channels, int64_t size,
                        const float*& bias, Ending& ending, int64_t activation, float low, float high) {
  if (static_cast<int64_t>(more.size()) != has_bias + has_residual || activation < 0 || activation >= kNumActivations) {
    return false;
  }
  if (has_bias) {
    auto given = more.get<Floats>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != channels) return false;
    bias = given->typed_data();
  }
  if (has_residual) {
    auto given = more.get<Floats>(has_bias);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != size) return false;
    ending.residual = given->typed_data();
  }
  ending.activation = activation;
  ending.low = low;
  ending.high = high;
  return true;
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
  const Place place{y->typed_data(), columns, 0, columns};
  const Matrix left{x.typed_data(), depth, 1};
  const int64_t column_panels = ceil_div(columns, kPanel);
  const double work = double(rows) * columns * larger<int64_t>(depth, 1);
  int64_t parts = rows <= 2 && work > 1e5 ? threads_of(pool) : parts_of(pool, work);
  // Rows are divided only where each part still has many: every part reads the weights of its columns.
  int64_t row_parts = smaller<int64_t>(parts, larger<int64_t>(rows / (6 * kMaxRows), 1));
  int64_t column_parts = smaller(ceil_div(parts, row_parts), column_panels);
  const int64_t row_step = round_up(ceil_div(rows, row_parts), row_parts > 1 ? kMaxRows : 1);
  const int64_t column_step = ceil_div(column_panels, column_parts) * kPanel;
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  parallel_for(pool, row_parts * column_parts, [&](int64_t part) {
    const int64_t row = part / column_parts * row_step, column = part % column_parts * column_step;
    multiply_panels(left, panels.typed_data(), depth, place, row, smaller(rows, row + row_step), column,
                    smaller(columns, column + column_step), ending);
  });
  return ffi::Error::Success();
}

// ---- convolutions ---------------------------------------------------------------------------------------------------

struct Shape {
  int64_t images, channels, height, width, filters, out_height, out_width;
  int64_t stride_h, stride_w, top, left, dilation_h, dilation_w, groups, kernel_h, kernel_w;
  int64_t taps() const { return kernel_h * kernel_w; }
  int64_t positions() const { return out_height * out_width; }
};

// Filters packed as [group][panel][depth][panel_rows]; windows are packed on the way.
static void convolve_packed(ffi::ThreadPool& pool, const Shape& s, const float* x, const float* filters, int panel_rows,
                            float* y, const float* bias, const Ending& given) {
  const int64_t positions = s.positions(), columns = s.images * positions;
  const int64_t rows = s.filters / s.groups, channels = s.channels / s.groups, depth = channels * s.taps();
  std::vector<Tap> taps;
  for (int64_t i = 0; i < s.kernel_h; i++) {
    for (int64_t j = 0; j < s.kernel_w; j++) {
      taps.push_back({static_cast<int32_t>(i * s.dilation_h - s.top), static_cast<int32_t>(j * s.dilation_w - s.left),
                      i * s.kernel_w + j});
    }
  }
  const int64_t row_panels = ceil_div(rows, panel_rows), column_panels = ceil_div(columns, kWidth);
  const int64_t parts = ceil_div(parts_of(pool, double(rows) * columns * depth * s.groups), s.groups);
  int64_t row_parts = 1, column_parts = 1;
  if (rows > columns) {  // more weights than windows: divide those
    row_parts = smaller(parts, row_panels);
    column_parts = smaller(ceil_div(parts, row_parts), column_panels);
  } else {
    column_parts = smaller(parts, column_panels);
    row_parts = smaller(ceil_div(parts, column_parts), row_panels);
  }
  const int64_t row_step = ceil_div(row_panels, row_parts) * panel_rows;
  const int64_t column_step = ceil_div(column_panels, column_parts) * kWidth;
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  // The windows of a block, packed, stay in the second cache: all columns of a task where they are few, so that weights
  // are read once.
  const int64_t block = column_step <= 512 ? column_step : 8 * kWidth;
  const int64_t deepest = smaller<int64_t>(larger<int64_t>(kCached / block, 128), 768);
  const int64_t depth_step = ceil_div(depth, ceil_div(depth, deepest));
  const Tile narrow = Tiles<kMaxRows>::find(panel_rows, 1), wide = Tiles<kMaxRows>::find(panel_rows, 2);
  parallel_for(pool, s.groups * row_parts * column_parts, [&](int64_t task) {
    const int64_t group = task / (row_parts * column_parts), part = task % (row_parts * column_parts);
    const int64_t row0 = part / column_parts * row_step, row1 = smaller(rows, row0 + row_step);
    const int64_t column0 = part % column_parts * column_step, column1 = smaller(columns, column0 + column_step);
    const Windows windows{x + group * channels * s.height * s.width, s.channels * s.height * s.width,
                          s.height * s.width, int32_t(s.height), int32_t(s.width), int32_t(s.out_height),
                          int32_t(s.out_width), int32_t(s.stride_h), int32_t(s.stride_w), taps};
    const Place place{y + group * rows * positions, positions, s.filters * positions, positions};
    Ending ending = given;
    if (bias) ending.row_bias = bias + group * rows;
    if (ending.residual) ending.residual += group * rows * positions;
    const float* packed_rows = filters + group * row_panels * depth * panel_rows;
    float* packed = scratch<1>(block * depth_step);
    alignas(64) float sums[kMaxRows * kWidth + kLanes];
    for (int64_t j0 = column0; j0 < column1; j0 += block) {
      const int64_t j1 = smaller(column1, j0 + block);
      for (int64_t k0 = 0; k0 < depth; k0 += depth_step) {
        const int64_t some = smaller(depth_step, depth - k0);
        for (int64_t j = j0; j < j1; j += kWidth) {
          const int count = static_cast<int>(smaller<int64_t>(kWidth, j1 - j));
          windows.pack_right(packed + (j - j0) * some, k0, some, j, count, count <= kLanes ? kLanes : kWidth);
        }
        for (int64_t i = row0; i < row1; i += panel_rows) {
          const float* a = packed_rows + (i * depth + k0 * panel_rows);
          const int valid = static_cast<int>(smaller<int64_t>(panel_rows, row1 - i));
          if (i + panel_rows < row1) fetch(a + depth * panel_rows, some * panel_rows);
          for (int64_t j = j0; j < j1; j += kWidth) {
            const int count = static_cast<int>(smaller<int64_t>(kWidth, j1 - j));
            const bool is_narrow = count <= kLanes;
            (is_narrow ? narrow : wide)(some, a, packed + (j - j0) * some, is_narrow ? kLanes : kWidth, sums, kWidth,
                                        count, false, nullptr);
            finish_tile(sums, valid, count, place, i, j, k0 == 0, k0 + some == depth, ending);
          }
        }
      }
    }
  });
}

// Each channel with filters of its own. A plane is copied with its padding, columns sorted by their residue modulo the
// stride, so that the inputs of neighbouring results lie side by side for every tap.
struct PaddedPlane {
  const Shape& s;
  int64_t rows, columns;  // columns of one residue
  std::vector<int64_t> offsets;

  explicit PaddedPlane(const Shape& shape) : s(shape) {
    rows = (s.out_height - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
    columns = round_up(s.out_width, kLanes) + (s.kernel_w - 1) * s.dilation_w / s.stride_w + 1;
    for (int64_t i = 0; i < s.kernel_h; i++) {
      for (int64_t j = 0; j < s.kernel_w; j++) {
        const int64_t column = j * s.dilation_w;
        offsets.push_back((i * s.dilation_h * s.stride_w + column % s.stride_w) * columns + column / s.stride_w);
      }
    }
  }
  int64_t size() const { return rows * s.stride_w * columns; }
  int64_t row_step() const { return s.stride_h * s.stride_w * columns; }

  void copy(float* to, const float* from) const {
    for (int64_t r = 0; r < rows; r++) {
      const int64_t row = r - s.top;
      for (int64_t phase = 0; phase < s.stride_w; phase++, to += columns) {
        const int64_t start = phase - s.left;  // the plane's column of the line's first element
        int64_t first = start >= 0 ? 0 : ceil_div(-start, s.stride_w);
        int64_t last = s.width > start ? smaller(columns, (s.width - 1 - start) / s.stride_w + 1) : 0;
        if (row < 0 || row >= s.height || last < first) first = last = 0;
        first = smaller(first, columns);
        std::memset(to, 0, sizeof(float) * first);
        const float* line = from + row * s.width + start;
        if (s.stride_w == 1) {
          if (last > first) std::memcpy(to + first, line + first, sizeof(float) * (last - first));
        } else {
          for (int64_t i = first; i < last; i++) to[i] = line[i * s.stride_w];
        }
        std::memset(to + last, 0, sizeof(float) * (columns - last));
      }
    }
  }
};

template <int lines>
void depthwise_lines(const PaddedPlane& plane, const float* copy, const float* values, Vector start, float* to,
                     const float* residual, const Ending& ending) {
  const int64_t width = plane.s.out_width, step = plane.row_step(), taps = static_cast<int64_t>(plane.offsets.size());
  for (int64_t b = 0; b < width; b += kLanes) {
    Vector sums[lines];
    for (int r = 0; r < lines; r++) sums[r] = start;
    for (int64_t t = 0; t < taps; t++) {
      const Vector value = all(values[t]);
      const float* from = copy + b + plane.offsets[t];
#pragma GCC unroll 8
      for (int r = 0; r < lines; r++) sums[r] += value * load(from + r * step);
    }
    const int count = static_cast<int>(smaller<int64_t>(kLanes, width - b));
    for (int r = 0; r < lines; r++) {
      Vector sum = sums[r];
      if (residual) sum += load_up(residual + r * width + b, count);
      sum = ending.activate(sum);
      if (count == kLanes) store(to + r * width + b, sum);
      else store_some(to + r * width + b, sum, count);
    }
  }
}

static void convolve_depthwise_fused(ffi::ThreadPool& pool, const Shape& s, const float* x, const float* weight,
                                     float* y, const float* bias, const Ending& ending) {
  const PaddedPlane plane(s);
  const int64_t planes = s.images * s.channels, multiplier = s.filters / s.channels, taps = s.taps();
  const double work = double(s.images) * s.filters * s.positions() * taps;
  const int64_t tasks = work < kWorthTwo / 6 ? 1 : smaller<int64_t>(planes, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      plane.copy(copy, x + p * s.height * s.width);
      for (int64_t m = 0; m < multiplier; m++) {
        const int64_t filter = p % s.channels * multiplier + m;
        const int64_t at = (p / s.channels * s.filters + filter) * s.positions();
        const Vector start = all(bias ? bias[filter] : 0.0f);
        for (int64_t a = 0; a < s.out_height;) {
          const float* line = copy + a * plane.row_step();
          const int64_t here = at + a * s.out_width;
          const float* residual = ending.residual ? ending.residual + here : nullptr;
          const int64_t left = s.out_height - a;
          const float* values = weight + filter * taps;
          if (left >= 7) {
            depthwise_lines<7>(plane, line, values, start, y + here, residual, ending);
            a += 7;
          } else if (left >= 4) {
            depthwise_lines<4>(plane, line, values, start, y + here, residual, ending);
            a += 4;
          } else {
            depthwise_lines<1>(plane, line, values, start, y + here, residual, ending);
            a += 1;
          }
        }
      }
    }
  });
}

// `window`: stride, padding before, dilation of height and width, groups, kernel height and width, rows of a packed panel
// (0: the filters are as they were, one channel each).
static ffi::Error fused_convolution(ffi::ThreadPool pool, Floats x, Floats filters, ffi::RemainingArgs more,
                                    ffi::ResultBuffer<ffi::F32> y, Sizes window, bool has_bias, bool has_residual,
                                    int64_t activation, float low, float high) {
  const auto in = x.dimensions(), out = y->dimensions();
  if (in.size() != 4 || out.size() != 4 || window.size() != 10 || in[0] != out[0]) return misfit("fused convolution");
  const Shape s{in[0], in[1], in[2], in[3], out[1], out[2], out[3], window[0], window[1], window[2], window[3],
                window[4], window[5], window[6], window[7], window[8]};
  const int64_t panel_rows = window[9], most = int64_t{1} << 26;
  Ending ending;
  const float* bias = nullptr;
  if (s.groups < 1 || s.stride_h < 1 || s.stride_w < 1 || s.dilation_h < 1 || s.dilation_w < 1 || s.taps() < 1 ||
      s.channels % s.groups || s.filters % s.groups || panel_rows < 0 || panel_rows > kMaxRows ||
      s.channels * s.height * s.width >= most || s.filters * s.positions() >= most ||
      !read_ending(more, has_bias, has_residual, s.filters, int64_t(y->element_count()), bias, ending, activation, low,
                   high)) {
    return misfit("fused convolution");
  }
  if (y->element_count() == 0) return ffi::Error::Success();
  const int64_t size = int64_t(filters.element_count());
  if (panel_rows == 0) {
    if (s.groups != s.channels || size != s.filters * s.taps()) return misfit("fused convolution");
    convolve_depthwise_fused(pool, s, x.typed_data(), filters.typed_data(), y->typed_data(), bias, ending);
    return ffi::Error::Success();
  }
  const int64_t depth = s.channels / s.groups * s.taps();
  if (depth < 1 || size != s.groups * round_up(s.filters / s.groups, panel_rows) * depth) {
    return misfit("fused convolution");
  }
  convolve_packed(pool, s, x.typed_data(), filters.typed_data(), static_cast<int>(panel_rows), y->typed_data(), bias,
                  ending);
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedConvolution, proa::fused_convolution,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
