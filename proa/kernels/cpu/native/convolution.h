// Convolutions of images stored channels first: forward, gradient of the input, gradient of the weight.
#pragma once

#include "products.h"
#include "windows.h"

namespace proa {

struct Convolution {
  int64_t images, channels, height, width;       // of the input
  int64_t filters, kernel_h, kernel_w;           // of the weight: [filters, channels / groups, kernel_h, kernel_w]
  int64_t out_height, out_width;
  int64_t stride_h, stride_w, top, left, dilation_h, dilation_w, groups;

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return kernel_h * kernel_w; }
  int64_t in_image() const { return channels * height * width; }
  int64_t out_image() const { return filters * out_height * out_width; }
  bool is_depthwise() const { return group_channels() == 1 && groups > 1; }

  std::vector<Tap> forward_taps() const {
    std::vector<Tap> taps;
    for (int64_t i = 0; i < kernel_h; i++) {
      for (int64_t j = 0; j < kernel_w; j++) {
        taps.push_back({static_cast<int32_t>(i * dilation_h - top), static_cast<int32_t>(j * dilation_w - left),
                        i * kernel_w + j});
      }
    }
    return taps;
  }
};

// Calls body for 0 ... count - 1, on several threads if there are many elements to move.
template <class Body>
void parallel_some(ffi::ThreadPool& pool, int64_t elements, int64_t count, const Body& body) {
  const int64_t tasks = elements < 60000 ? 1 : smaller<int64_t>(count, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t i = count * task / tasks; i < count * (task + 1) / tasks; i++) body(i);
  });
}

inline int64_t even_part(int64_t size, int64_t most) { return ceil_div(size, larger<int64_t>(ceil_div(size, most), 1)); }

// The weight as the left operand, packed once for all threads: blocks of depth_step values of k, in each of them panels of
// panel_rows rows.
struct PackedWeight {
  int64_t rows, depth, depth_step;
  int panel_rows;
  float* data;

  PackedWeight(int64_t num_rows, int64_t full_depth, float* memory)
      : rows(num_rows), depth(full_depth), depth_step(even_part(full_depth, kDepth)),
        panel_rows(rows_of_panels(num_rows)), data(memory) {}

  // pack(to, first row, rows, first k, depth) writes one panel.
  template <class Pack>
  void fill(int64_t panel, const Pack& pack) const {
    const int64_t row = panel * panel_rows;
    const int count = static_cast<int>(smaller<int64_t>(panel_rows, rows - row));
    for (int64_t k0 = 0; k0 < depth; k0 += depth_step) {
      const int64_t some = smaller(depth_step, depth - k0);
      pack(data + k0 * rows + row * some, row, count, k0, some);
    }
  }
  int64_t panels() const { return ceil_div(rows, panel_rows); }
};

constexpr int kStrip = 8;  // panels of columns that are packed together (328 KiB): they stay in the second cache

// Columns [first, first + count) of rows [row, end) of a pass.
inline void multiply_strip(const PackedWeight& weight, int64_t row, int64_t end, const Windows& windows, int64_t first,
                           int64_t count, const Spread& out, const float* bias) {
  static thread_local Chunks chunks;
  chunks.find(windows, first, count);
  const int64_t panels = ceil_div(count, kWidth), padded = panels * kWidth;
  float* packed = scratch<1>(padded * weight.depth_step);
  float* direct = out.direct(first, count);
  float* to = direct ? direct + row * out.step : scratch<2>((end - row) * padded);
  const int64_t to_step = direct ? out.step : padded;
  for (int64_t k0 = 0; k0 < weight.depth; k0 += weight.depth_step) {
    const int64_t some = smaller(weight.depth_step, weight.depth - k0);
    pack_windows(packed, windows, chunks, k0, some);
    for (int64_t i = row; i < end; i += weight.panel_rows) {
      const int rows = static_cast<int>(smaller<int64_t>(weight.panel_rows, end - i));
      Finish finish;
      if (bias) finish.row_bias = bias + i;
      const Finish* at_last = bias && k0 + some == weight.depth ? &finish : nullptr;
      for (int64_t p = 0; p < panels; p++) {
        const int columns = static_cast<int>(smaller<int64_t>(kWidth, count - p * kWidth));
        Tiles<kMaxRows>::find(rows, columns <= kLanes ? 1 : 2)(
            some, weight.data + k0 * weight.rows + i * some, packed + p * some * kWidth, kWidth,
            to + (i - row) * to_step + p * kWidth, to_step, columns, k0 > 0, at_last);
      }
    }
  }
  if (!direct) {
    Spread moved = out;
    moved.data += row * out.step;
    moved.write(to, to_step, end - row, first, count);
  }
}

// All columns of a pass for every group. `weight(group)`, `windows(group)`, `out(group)` and `bias(group)` say with what.
template <class Weight, class Source, class Out, class Bias>
void multiply_pass(ffi::ThreadPool& pool, int64_t groups, int64_t columns, const PackedWeight& shape,
                   const Weight& weight, const Source& windows, const Out& out, const Bias& bias) {
  const int64_t threads = double(shape.rows) * columns * shape.depth * groups < kWorthThreads ? 1 : threads_of(pool);
  const int64_t panels = ceil_div(columns, kWidth);
  int64_t strips = larger(ceil_div(panels, kStrip), smaller(panels, ceil_div(threads, groups)));
  if (strips > threads) strips = round_up(strips, threads);  // equal work for all
  strips = smaller(strips, panels);
  int64_t row_parts = 1;
  if (groups * strips < 4 * threads && (groups * panels < threads || ceil_div(panels, threads) * threads * 7 > panels * 8)) {
    row_parts = smaller(threads, shape.panels());  // too few columns to divide evenly
    strips = ceil_div(panels, kStrip);
  }
  parallel_for(pool, groups * strips * row_parts, [&](int64_t task) {
    const int64_t group = task / (strips * row_parts), part = task % row_parts, strip = task / row_parts % strips;
    const int64_t first = panels * strip / strips * kWidth;
    const int64_t last = smaller(columns, panels * (strip + 1) / strips * kWidth);
    const int64_t row = shape.panels() * part / row_parts * shape.panel_rows;
    const int64_t end = smaller(shape.rows, shape.panels() * (part + 1) / row_parts * shape.panel_rows);
    multiply_strip(weight(group), row, end, windows(group), first, last - first, out(group), bias(group));
  });
}

inline void convolve(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* weight,
                     const float* bias, float* y) {
  const int64_t positions = s.out_height * s.out_width, columns = s.images * positions;
  const int64_t rows = s.group_filters(), depth = s.group_channels() * s.taps(), size = rows * depth;
  const std::vector<Tap> taps = s.forward_taps();
  float* memory = scratch<5>(s.groups * size);
  const auto packed = [&](int64_t group) { return PackedWeight(rows, depth, memory + group * size); };
  const PackedWeight shape = packed(0);
  const int64_t panels = shape.panels(), tasks = s.groups * panels;
  const auto pack = [&](int64_t task) {
    const float* from = weight + task / panels * size;
    packed(task / panels).fill(task % panels, [&](float* to, int64_t row, int count, int64_t k0, int64_t some) {
      pack_lines(to, from + row * depth + k0, depth, count, some);
    });
  };
  parallel_some(pool, s.groups * size, tasks, pack);
  multiply_pass(
      pool, s.groups, columns, shape, packed,
      [&](int64_t group) {
        return Windows{x + group * s.group_channels() * s.height * s.width, s.in_image(), s.height * s.width,
                       int32_t(s.height), int32_t(s.width), int32_t(s.out_height), int32_t(s.out_width),
                       int32_t(s.stride_h), int32_t(s.stride_w), taps};
      },
      [&](int64_t group) {
        return Spread{y + group * rows * positions, s.out_image(), positions, positions, s.out_width, s.out_width, 1,
                      true};
      },
      [&](int64_t group) { return bias ? bias + group * rows : nullptr; });
}

// A panel of the weight for the gradient of the input: row = channel, k = (filter, tap), of the taps that fit.
inline void pack_turned_filters(float* to, const float* weight, int64_t filter_step, int64_t channel_step,
                                const std::vector<Tap>& taps, int rows, int64_t k0, int64_t depth) {
  const int64_t count = static_cast<int64_t>(taps.size());
  int64_t filter = k0 / count, t = k0 % count;
  for (int64_t k = 0; k < depth; k++, to += rows) {
    const float* from = weight + filter * filter_step + taps[t].weight;
    if (channel_step == 1) {
      for (int r = 0; r < rows; r += kLanes) {
        const int some = smaller(kLanes, rows - r);
        store_some(to + r, load_some(from + r, some), some);
      }
    } else {
      for (int r = 0; r < rows; r++) to[r] = from[r * channel_step];
    }
    if (++t == count) {
      t = 0;
      filter++;
    }
  }
}

// dx from dy. For each residue of an input position modulo the stride, the taps that reach it from a whole output position.
inline void convolve_back(ffi::ThreadPool& pool, const Convolution& s, const float* dy, const float* weight,
                          float* dx) {
  const int64_t rows = s.group_channels(), out_positions = s.out_height * s.out_width, plane = s.height * s.width;
  const auto taps_at = [&](int64_t at_h, int64_t at_w) {
    std::vector<Tap> taps;
    for (int64_t i = 0; i < s.kernel_h; i++) {
      for (int64_t j = 0; j < s.kernel_w; j++) {
        const int64_t h = at_h + s.top - i * s.dilation_h, w = at_w + s.left - j * s.dilation_w;
        if (h % s.stride_h == 0 && w % s.stride_w == 0) {
          taps.push_back({static_cast<int32_t>(h / s.stride_h), static_cast<int32_t>(w / s.stride_w),
                          i * s.kernel_w + j});
        }
      }
    }
    return taps;
  };
  bool all_reached = true;
  for (int64_t at_h = 0; at_h < smaller(s.stride_h, s.height); at_h++) {
    for (int64_t at_w = 0; at_w < smaller(s.stride_w, s.width); at_w++) all_reached &= !taps_at(at_h, at_w).empty();
  }
  if (!all_reached) {
    parallel_some(pool, s.images * s.in_image(), s.images * s.channels, [&](int64_t which) {
      std::memset(dx + which * plane, 0, sizeof(float) * plane);
    });
  }
  for (int64_t at_h = 0; at_h < smaller(s.stride_h, s.height); at_h++) {
    for (int64_t at_w = 0; at_w < smaller(s.stride_w, s.width); at_w++) {
      const std::vector<Tap> taps = taps_at(at_h, at_w);
      if (taps.empty()) continue;
      const int64_t grid_h = ceil_div(s.height - at_h, s.stride_h), grid_w = ceil_div(s.width - at_w, s.stride_w);
      const int64_t positions = grid_h * grid_w, columns = s.images * positions;
      const int64_t depth = s.group_filters() * static_cast<int64_t>(taps.size()), size = rows * depth;
      float* memory = scratch<5>(s.groups * size);
      const auto packed = [&](int64_t group) { return PackedWeight(rows, depth, memory + group * size); };
      const PackedWeight shape = packed(0);
      const int64_t panels = shape.panels();
      parallel_some(pool, s.groups * size, s.groups * panels, [&](int64_t task) {
        const float* from = weight + task / panels * s.group_filters() * rows * s.taps();
        packed(task / panels).fill(task % panels, [&](float* to, int64_t row, int count, int64_t k0, int64_t some) {
          pack_turned_filters(to, from + row * s.taps(), rows * s.taps(), s.taps(), taps, count, k0, some);
        });
      });
      multiply_pass(
          pool, s.groups, columns, shape, packed,
          [&](int64_t group) {
            return Windows{dy + group * s.group_filters() * out_positions, s.out_image(), out_positions,
                           int32_t(s.out_height), int32_t(s.out_width), int32_t(grid_h), int32_t(grid_w), 1, 1, taps};
          },
          [&](int64_t group) {
            return Spread{dx + group * rows * plane + at_h * s.width + at_w, s.in_image(), plane, positions, grid_w,
                          s.stride_h * s.width, s.stride_w, s.stride_h == 1 && s.stride_w == 1};
          },
          [](int64_t) -> const float* { return nullptr; });
    }
  }
}

// dw: a part of its rows and columns, summed over positions [begin, end) of image after image.
struct WeightPart {
  int64_t row, rows, column, columns, begin, end;
};

inline void convolve_weight_part(const Convolution& s, const Windows& windows, const float* dy, const WeightPart& part,
                                 float* to, int64_t to_step) {
  static thread_local Chunks chunks;
  const int64_t positions = s.out_height * s.out_width;
  const int64_t depth_step = even_part(part.end - part.begin, kDepth);
  const int panel_rows = rows_of_panels(part.rows);
  float* left = scratch<0>(part.rows * depth_step);
  float* right = scratch<1>(kWidth * depth_step);
  for (int64_t k0 = part.begin; k0 < part.end; k0 += depth_step) {
    const int64_t some = smaller(depth_step, part.end - k0);
    for (int64_t i = 0; i < part.rows; i += panel_rows) {
      const int rows = static_cast<int>(smaller<int64_t>(panel_rows, part.rows - i));
      for (int64_t k = 0; k < some;) {  // image after image
        const int64_t image = (k0 + k) / positions, rest = (k0 + k) % positions;
        const int64_t count = smaller(positions - rest, some - k);
        pack_lines(left + i * some + k * rows, dy + image * s.out_image() + (part.row + i) * positions + rest, positions,
                   rows, count);
        k += count;
      }
    }
    chunks.find(windows, k0, some);
    for (int64_t j = 0; j < part.columns; j += kWidth) {
      const int columns = static_cast<int>(smaller<int64_t>(kWidth, part.columns - j));
      pack_turned_windows(right, windows, chunks, some, part.column + j, columns);
      for (int64_t i = 0; i < part.rows; i += panel_rows) {
        const int rows = static_cast<int>(smaller<int64_t>(panel_rows, part.rows - i));
        Tiles<kMaxRows>::find(rows, columns <= kLanes ? 1 : 2)(some, left + i * some, right, kWidth, to + i * to_step + j,
                                                               to_step, columns, k0 > part.begin, nullptr);
      }
    }
  }
}

inline void convolve_weight(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* dy, float* dw) {
  const int64_t positions = s.out_height * s.out_width, depth = s.images * positions;
  const int64_t rows = s.group_filters(), columns = s.group_channels() * s.taps();
  const std::vector<Tap> taps = s.forward_taps();
  const int64_t threads = double(rows) * columns * depth * s.groups < kWorthThreads ? 1 : threads_of(pool);
  // Each way of dividing the work computes something twice: sums of parts of the positions are added at the end, parts of
  // the rows or columns bring the other operand into order again.
  const int64_t wanted = ceil_div(threads, s.groups);
  int64_t row_parts = 1, column_parts = 1, pieces = 1;
  if (wanted > 1) {
    const int64_t row_panels = ceil_div(rows, kMaxRows), column_panels = ceil_div(columns, kWidth);
    const auto cost = [&](int64_t panels, double again) {
      const double uneven = double(ceil_div(panels, wanted)) * wanted / panels - 1;
      return again + uneven * rows * columns * depth / (2 * kLanes);
    };
    const double by_rows = cost(row_panels, 1.5 * columns * depth), by_columns = cost(column_panels, double(rows) * depth);
    const double by_depth = cost(ceil_div(depth, kLanes), 2.0 * rows * columns);
    if (by_depth <= by_rows && by_depth <= by_columns) pieces = smaller(wanted, ceil_div(depth, kLanes));
    else if (by_rows < by_columns) row_parts = smaller(wanted, row_panels);
    else column_parts = smaller(wanted, column_panels);
  }
  const int64_t size = s.groups * rows * columns, parts = row_parts * column_parts * pieces;
  float* partial = pieces > 1 ? scratch<4>(size * (pieces - 1)) : nullptr;
  parallel_for(pool, s.groups * parts, [&](int64_t task) {
    const int64_t group = task / parts, part = task % parts;
    const Windows windows{x + group * s.group_channels() * s.height * s.width, s.in_image(), s.height * s.width,
                          int32_t(s.height), int32_t(s.width), int32_t(s.out_height), int32_t(s.out_width),
                          int32_t(s.stride_h), int32_t(s.stride_w), taps};
    WeightPart here{0, rows, 0, columns, 0, depth};
    float* to = dw + group * rows * columns;
    if (pieces > 1) {
      here.begin = depth * part / pieces;
      here.end = depth * (part + 1) / pieces;
      if (part > 0) to = partial + (part - 1) * size + group * rows * columns;
    } else if (row_parts > 1) {
      const int64_t panels = ceil_div(rows, kMaxRows), last = panels * (part + 1) / row_parts;
      here.row = panels * part / row_parts * kMaxRows;
      here.rows = smaller(rows, last * kMaxRows) - here.row;
    } else if (column_parts > 1) {
      const int64_t panels = ceil_div(columns, kWidth), last = panels * (part + 1) / column_parts;
      here.column = panels * part / column_parts * kWidth;
      here.columns = smaller(columns, last * kWidth) - here.column;
    }
    convolve_weight_part(s, windows, dy + group * rows * positions, here, to + here.row * columns + here.column, columns);
  });
  if (pieces == 1) return;
  parallel_some(pool, size, ceil_div(size, 4096), [&](int64_t block) {
    const int64_t end = smaller(size, (block + 1) * 4096);
    for (int64_t i = 0; i + 1 < pieces; i++) {
      const float* from = partial + i * size;
      for (int64_t j = block * 4096; j < end; j++) dw[j] += from[j];
    }
  });
}

}  // namespace proa
