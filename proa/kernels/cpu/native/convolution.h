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
};

// How a result of rows x columns is divided: whole panels, columns first, so that windows are packed by one thread only.
struct Division {
  int64_t row_step, column_step, row_parts, column_parts;
  Division(int64_t rows, int64_t columns, int64_t parts) {
    column_step = round_up(ceil_div(columns, smaller(parts, ceil_div(columns, int64_t{kWidth}))), kWidth);
    column_parts = ceil_div(columns, column_step);
    row_step = ceil_div(rows, smaller(larger<int64_t>(parts / column_parts, 1), ceil_div(rows, int64_t{kMaxRows})));
    row_parts = ceil_div(rows, row_step);
  }
  int64_t count() const { return row_parts * column_parts; }
};

inline int64_t parts_for(ffi::ThreadPool& pool, double work) {
  const int threads = threads_of(pool);
  if (work < kWorthThreads) return 1;
  return work > 16e6 * threads ? 2 * threads : threads;
}

inline void convolve(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* weight,
                     const float* bias, float* y) {
  const int64_t positions = s.out_height * s.out_width, columns = s.images * positions;
  const int64_t rows = s.group_filters(), depth = s.group_channels() * s.taps();
  std::vector<Tap> taps;
  for (int64_t i = 0; i < s.kernel_h; i++) {
    for (int64_t j = 0; j < s.kernel_w; j++) {
      taps.push_back({static_cast<int32_t>(i * s.dilation_h - s.top), static_cast<int32_t>(j * s.dilation_w - s.left),
                      i * s.kernel_w + j});
    }
  }
  const int64_t parts = parts_for(pool, static_cast<double>(rows) * columns * depth * s.groups);
  const Division division(rows, columns, ceil_div(parts, s.groups));
  parallel_for(pool, s.groups * division.count(), [&](int64_t task) {
    const int64_t group = task / division.count(), part = task % division.count();
    const int64_t row = part / division.column_parts * division.row_step;
    const int64_t column = part % division.column_parts * division.column_step;
    const Windows windows{x + group * s.group_channels() * s.height * s.width, s.in_image(), s.height * s.width,
                          int32_t(s.height), int32_t(s.width), int32_t(s.out_height), int32_t(s.out_width),
                          int32_t(s.stride_h), int32_t(s.stride_w), taps};
    const Spread out{y + (group * rows + row) * positions, s.out_image(), positions, positions, s.out_width,
                     s.out_width, 1, true, column};
    Finish finish;
    if (bias) finish.row_bias = bias + group * rows + row;
    multiply(smaller(division.row_step, rows - row), smaller(division.column_step, columns - column), depth,
             Matrix{weight + (group * rows + row) * depth, depth, 1}, WindowColumns{windows, column}, out, false,
             finish);
  });
}

// The weight as the left operand of that: row = input channel, k = (filter, tap), of the taps that fit.
struct TurnedFilters {
  const float* weight;
  int64_t filter_step, channel_step;
  const std::vector<Tap>& taps;

  void pack_left(float* to, int64_t first, int rows, int64_t k0, int64_t depth) const {
    const int64_t count = static_cast<int64_t>(taps.size());
    int64_t filter = k0 / count, t = k0 % count;
    for (int64_t k = 0; k < depth; k++, to += rows) {
      const float* from = weight + filter * filter_step + first * channel_step + taps[t].weight;
      if (channel_step == 1) std::memcpy(to, from, sizeof(float) * rows);
      else for (int r = 0; r < rows; r++) to[r] = from[r * channel_step];
      if (++t == count) {
        t = 0;
        filter++;
      }
    }
  }
};

// dx from dy. For each residue of an input position modulo the stride, the taps that reach it from a whole output position.
inline void convolve_back(ffi::ThreadPool& pool, const Convolution& s, const float* dy, const float* weight,
                          float* dx) {
  const int64_t rows = s.group_channels(), out_positions = s.out_height * s.out_width;
  for (int64_t at_h = 0; at_h < smaller(s.stride_h, s.height); at_h++) {
    for (int64_t at_w = 0; at_w < smaller(s.stride_w, s.width); at_w++) {
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
      const int64_t grid_h = ceil_div(s.height - at_h, s.stride_h), grid_w = ceil_div(s.width - at_w, s.stride_w);
      const int64_t positions = grid_h * grid_w, columns = s.images * positions;
      const int64_t count = static_cast<int64_t>(taps.size()), depth = s.group_filters() * count;
      if (count == 0) {  // nothing reaches these
        parallel_for(pool, s.images * s.channels, [&](int64_t plane) {
          for (int64_t a = 0; a < grid_h; a++) {
            float* line = dx + (plane * s.height + at_h + a * s.stride_h) * s.width + at_w;
            for (int64_t b = 0; b < grid_w; b++) line[b * s.stride_w] = 0;
          }
        });
        continue;
      }
      const int64_t parts = parts_for(pool, static_cast<double>(rows) * columns * depth * s.groups);
      const Division division(rows, columns, ceil_div(parts, s.groups));
      parallel_for(pool, s.groups * division.count(), [&](int64_t task) {
        const int64_t group = task / division.count(), part = task % division.count();
        const int64_t row = part / division.column_parts * division.row_step;
        const int64_t column = part % division.column_parts * division.column_step;
        const Windows windows{dy + group * s.group_filters() * out_positions, s.out_image(), out_positions,
                              int32_t(s.out_height), int32_t(s.out_width), int32_t(grid_h), int32_t(grid_w), 1, 1,
                              taps};
        float* first = dx + (group * rows + row) * s.height * s.width + at_h * s.width + at_w;
        const Spread out{first, s.in_image(), s.height * s.width, positions, grid_w, s.stride_h * s.width, s.stride_w,
                         s.stride_h == 1 && s.stride_w == 1, column};
        multiply(smaller(division.row_step, rows - row), smaller(division.column_step, columns - column), depth,
                 TurnedFilters{weight + (group * s.group_filters() * rows + row) * s.taps(), rows * s.taps(), s.taps(),
                               taps},
                 WindowColumns{windows, column}, out, false, Finish());
      });
    }
  }
}

inline void convolve_weight(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* dy, float* dw) {
  const int64_t positions = s.out_height * s.out_width, depth = s.images * positions;
  const int64_t rows = s.group_filters(), columns = s.group_channels() * s.taps();
  std::vector<Tap> taps;
  for (int64_t i = 0; i < s.kernel_h; i++) {
    for (int64_t j = 0; j < s.kernel_w; j++) {
      taps.push_back({static_cast<int32_t>(i * s.dilation_h - s.top), static_cast<int32_t>(j * s.dilation_w - s.left),
                      i * s.kernel_w + j});
    }
  }
  const int64_t parts = parts_for(pool, static_cast<double>(rows) * columns * depth * s.groups);
  const Division division(rows, columns, ceil_div(parts, s.groups));
  // Few columns and many threads: the sums over positions are divided too.
  const int64_t threads = threads_of(pool);
  int64_t pieces = parts == 1 ? 1 : ceil_div(threads, s.groups * division.count());
  const int64_t piece = ceil_div(depth, smaller(pieces, ceil_div(depth, kDepth)));
  pieces = ceil_div(depth, piece);
  const int64_t size = s.groups * rows * columns;
  float* partial = pieces > 1 ? scratch<4>(size * (pieces - 1)) : nullptr;
  parallel_for(pool, s.groups * division.count() * pieces, [&](int64_t task) {
    const int64_t which = task % pieces, begin = which * piece;
    const int64_t group = task / pieces / division.count(), part = task / pieces % division.count();
    const int64_t row = part / division.column_parts * division.row_step;
    const int64_t column = part % division.column_parts * division.column_step;
    const Windows windows{x + group * s.group_channels() * s.height * s.width, s.in_image(), s.height * s.width,
                          int32_t(s.height), int32_t(s.width), int32_t(s.out_height), int32_t(s.out_width),
                          int32_t(s.stride_h), int32_t(s.stride_w), taps};
    const Images images{dy + (group * rows + row) * positions, s.out_image(), positions, begin};
    float* to = (which == 0 ? dw : partial + (which - 1) * size) + (group * rows + row) * columns + column;
    multiply(smaller(division.row_step, rows - row), smaller(division.column_step, columns - column),
             smaller(piece, depth - begin), images, TurnedWindows{windows, begin, column}, Result{to, columns}, false,
             Finish());
  });
  for (int64_t i = 0; i + 1 < pieces; i++) {
    for (int64_t j = 0; j < size; j++) dw[j] += partial[i * size + j];
  }
}

}  // namespace proa
