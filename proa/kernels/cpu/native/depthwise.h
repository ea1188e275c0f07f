// Convolutions in which every channel has filters of its own: no sums over channels, so no matrix product.
//
// A plane is first copied with its padding, columns sorted by their residue modulo the stride. After that the inputs of
// neighbouring outputs lie side by side for every tap, and nothing is outside.
#pragma once

#include "convolution.h"

namespace proa {

struct Plane {
  const Convolution& s;
  int64_t rows, columns;  // of the copy, for each residue
  std::vector<int64_t> offsets;  // of the taps

  explicit Plane(const Convolution& shape) : s(shape) {
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
  int64_t row_step() const { return s.stride_h * s.stride_w * columns; }  // from one output row to the next

  // Calls move(line of the copy, line of the plane, first, last) with copy[i] = plane[i * stride] for [first, last).
  template <class Move>
  void each_line(float* copy, int64_t plane, const Move& move) const {
    for (int64_t r = 0; r < rows; r++) {
      const int64_t row = r - s.top;
      for (int64_t phase = 0; phase < s.stride_w; phase++) {
        float* line = copy + (r * s.stride_w + phase) * columns;
        const int64_t start = phase - s.left;  // the plane's column of the line's first element
        int64_t first = start >= 0 ? 0 : ceil_div(-start, s.stride_w);
        int64_t last = s.width > start ? smaller(columns, (s.width - 1 - start) / s.stride_w + 1) : 0;
        if (row < 0 || row >= s.height || last < first) first = last = 0;
        move(line, plane + row * s.width + start, first, last);
      }
    }
  }
  void copy_in(float* copy, const float* from, float around = 0) const {
    each_line(copy, 0, [&](float* line, int64_t at, int64_t first, int64_t last) {
      for (int64_t i = 0; i < first; i++) line[i] = around;
      if (s.stride_w == 1) std::memcpy(line + first, from + at + first, sizeof(float) * (last - first));
      else for (int64_t i = first; i < last; i++) line[i] = from[at + i * s.stride_w];
      for (int64_t i = last; i < columns; i++) line[i] = around;
    });
  }
  void copy_out(float* copy, float* to) const {
    each_line(copy, 0, [&](float* line, int64_t at, int64_t first, int64_t last) {
      if (s.stride_w == 1) std::memcpy(to + at + first, line + first, sizeof(float) * (last - first));
      else for (int64_t i = first; i < last; i++) to[at + i * s.stride_w] = line[i];
    });
  }
};

inline int64_t plane_tasks(ffi::ThreadPool& pool, const Convolution& s, int64_t planes) {
  const double work = double(s.images) * s.filters * s.out_height * s.out_width * s.taps();
  return work < kWorthThreads / 4 ? 1 : smaller<int64_t>(planes, 4 * threads_of(pool));
}

inline void convolve_depthwise(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* weight,
                               const float* bias, float* y) {
  const Plane plane(s);
  const int64_t planes = s.images * s.channels, multiplier = s.group_filters(), tasks = plane_tasks(pool, s, planes);
  const int64_t taps = s.taps();
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      plane.copy_in(copy, x + p * s.height * s.width);
      for (int64_t filter = p % s.channels * multiplier; filter < (p % s.channels + 1) * multiplier; filter++) {
        const float* values = weight + filter * taps;
        float* to = y + (p / s.channels * s.filters + filter) * s.out_height * s.out_width;
        const Vector start = all(bias ? bias[filter] : 0);
        for (int64_t a = 0; a < s.out_height; a++) {
          const float* line = copy + a * plane.row_step();
          for (int64_t b = 0; b < s.out_width; b += kLanes) {
            Vector sum = start;
            for (int64_t t = 0; t < taps; t++) sum += all(values[t]) * load(line + b + plane.offsets[t]);
            store_some(to + a * s.out_width + b, sum, int(smaller<int64_t>(kLanes, s.out_width - b)));
          }
        }
      }
    }
  });
}

inline void convolve_depthwise_back(ffi::ThreadPool& pool, const Convolution& s, const float* dy, const float* weight,
                                    float* dx) {
  const Plane plane(s);
  const int64_t planes = s.images * s.channels, multiplier = s.group_filters(), tasks = plane_tasks(pool, s, planes);
  const int64_t taps = s.taps();
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      std::memset(copy, 0, sizeof(float) * plane.size());
      for (int64_t filter = p % s.channels * multiplier; filter < (p % s.channels + 1) * multiplier; filter++) {
        const float* values = weight + filter * taps;
        const float* from = dy + (p / s.channels * s.filters + filter) * s.out_height * s.out_width;
        for (int64_t a = 0; a < s.out_height; a++) {
          float* line = copy + a * plane.row_step();
          for (int64_t b = 0; b < s.out_width; b += kLanes) {
            const Vector grad = load_some(from + a * s.out_width + b, int(smaller<int64_t>(kLanes, s.out_width - b)));
            for (int64_t t = 0; t < taps; t++) {
              float* at = line + b + plane.offsets[t];
              store(at, load(at) + all(values[t]) * grad);
            }
          }
        }
      }
      // Where no window reaches (stride wider than the kernel, rows behind the last window) the gradient is 0.
      std::memset(dx + p * s.height * s.width, 0, sizeof(float) * s.height * s.width);
      plane.copy_out(copy, dx + p * s.height * s.width);
    }
  });
}

inline void convolve_depthwise_weight(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* dy,
                                      float* dw) {
  const Plane plane(s);
  const int64_t multiplier = s.group_filters(), tasks = plane_tasks(pool, s, s.channels), taps = s.taps();
  constexpr int64_t at_once = 8;  // taps whose sums stay in registers
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    std::vector<double> totals(multiplier * taps);
    for (int64_t channel = s.channels * task / tasks; channel < s.channels * (task + 1) / tasks; channel++) {
      std::fill(totals.begin(), totals.end(), 0.0);
      for (int64_t image = 0; image < s.images; image++) {
        plane.copy_in(copy, x + (image * s.channels + channel) * s.height * s.width);
        for (int64_t m = 0; m < multiplier; m++) {
          const float* from = dy + (image * s.filters + channel * multiplier + m) * s.out_height * s.out_width;
          for (int64_t t0 = 0; t0 < taps; t0 += at_once) {
            const int some = int(smaller(at_once, taps - t0));
            int64_t offsets[at_once];
            for (int t = 0; t < at_once; t++) offsets[t] = plane.offsets[t0 + smaller(t, some - 1)];
            Vector sums[at_once] = {};
            for (int64_t a = 0; a < s.out_height; a++) {
              const float* line = copy + a * plane.row_step();
              for (int64_t b = 0; b < s.out_width; b += kLanes) {
                const Vector grad =
                    load_some(from + a * s.out_width + b, int(smaller<int64_t>(kLanes, s.out_width - b)));
                for (int t = 0; t < at_once; t++) sums[t] += grad * load(line + b + offsets[t]);
              }
            }
            for (int t = 0; t < some; t++) totals[m * taps + t0 + t] += sum_of(sums[t]);
          }
        }
      }
      for (int64_t i = 0; i < multiplier * taps; i++) dw[channel * multiplier * taps + i] = float(totals[i]);
    }
  });
}

}  // namespace proa
