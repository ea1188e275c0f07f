// Convolutions in which every channel has filters of its own: no sums over channels, so no matrix product.
//
// A plane is first copied with its padding, columns sorted by their residue modulo the stride. After that the inputs of
// neighbouring outputs lie side by side for every tap, and nothing is outside.
#pragma once

#include "convolution.h"

namespace proa {

// to[i] = from[2 * i]; nothing behind the last of these is read.
inline void every_second(float* to, const float* from, int64_t count) {
  int64_t i = 0;
#if PROA_AVX512
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  for (; i + kLanes < count; i += kLanes) {
    store(to + i, (Vector)_mm512_permutex2var_ps((__m512)load(from + 2 * i), even, (__m512)load(from + 2 * i + kLanes)));
  }
#endif
  for (; i < count; i++) to[i] = from[2 * i];
}

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
      else if (s.stride_w == 2) every_second(line + first, from + at + 2 * first, last - first);
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

// The filters of one plane, `taps` of them known to the compiler or 0: sums of a line's windows.
template <int known>
void filter_plane(const Plane& plane, const float* copy, const float* weight, float bias, float* to) {
  const Convolution& s = plane.s;
  const int taps = known ? known : static_cast<int>(s.taps());
  const int64_t* offsets = plane.offsets.data();
  const Vector start = all(bias);
  for (int64_t a = 0; a < s.out_height; a++) {
    const float* line = copy + a * plane.row_step();
    for (int64_t b = 0; b < s.out_width; b += kLanes) {
      Vector sums[3] = {start, Vector{}, Vector{}};  // three chains, so that no product waits for the one before
#pragma GCC unroll 25
      for (int t = 0; t < taps; t++) sums[known ? t % 3 : 0] += all(weight[t]) * load(line + b + offsets[t]);
      const Vector sum = sums[0] + (sums[1] + sums[2]);
      const int64_t left = s.out_width - b;
      if (left >= kLanes) store(to + a * s.out_width + b, sum);
      else store_some(to + a * s.out_width + b, sum, static_cast<int>(left));
    }
  }
}

using FilterPlane = void (*)(const Plane&, const float*, const float*, float, float*);
inline FilterPlane filter_plane_of(int64_t taps) {
  return taps == 9 ? filter_plane<9> : taps == 25 ? filter_plane<25> : filter_plane<0>;
}

inline void convolve_depthwise(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* weight,
                               const float* bias, float* y) {
  const Plane plane(s);
  const int64_t planes = s.images * s.channels, multiplier = s.group_filters(), tasks = plane_tasks(pool, s, planes);
  const FilterPlane compute = filter_plane_of(s.taps());
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      plane.copy_in(copy, x + p * s.height * s.width);
      for (int64_t filter = p % s.channels * multiplier; filter < (p % s.channels + 1) * multiplier; filter++) {
        float* to = y + (p / s.channels * s.filters + filter) * s.out_height * s.out_width;
        compute(plane, copy, weight + filter * s.taps(), bias ? bias[filter] : 0, to);
      }
    }
  });
}

// Every element of dy spread over its window.
template <int known>
void spread_plane(const Plane& plane, const float* from, const float* weight, float* copy) {
  const Convolution& s = plane.s;
  const int taps = known ? known : static_cast<int>(s.taps());
  const int64_t* offsets = plane.offsets.data();
  for (int64_t a = 0; a < s.out_height; a++) {
    float* line = copy + a * plane.row_step();
    for (int64_t b = 0; b < s.out_width; b += kLanes) {
      const Vector grad = load_some(from + a * s.out_width + b, int(smaller<int64_t>(kLanes, s.out_width - b)));
#pragma GCC unroll 25
      for (int t = 0; t < taps; t++) {
        float* at = line + b + offsets[t];
        store(at, load(at) + all(weight[t]) * grad);
      }
    }
  }
}

inline void convolve_depthwise_back(ffi::ThreadPool& pool, const Convolution& s, const float* dy, const float* weight,
                                    float* dx) {
  const int64_t taps = s.taps(), multiplier = s.group_filters();
  if (s.stride_h == 1 && s.stride_w == 1 && multiplier == 1) {
    // A convolution itself, of dy with the filters turned round.
    Convolution turned = s;
    turned.height = s.out_height;
    turned.width = s.out_width;
    turned.out_height = s.height;
    turned.out_width = s.width;
    turned.top = (s.kernel_h - 1) * s.dilation_h - s.top;
    turned.left = (s.kernel_w - 1) * s.dilation_w - s.left;
    float* filters = scratch<5>(s.filters * taps);
    for (int64_t i = 0; i < s.filters * taps; i++) filters[i] = weight[i / taps * taps + taps - 1 - i % taps];
    convolve_depthwise(pool, turned, dy, filters, nullptr, dx);
    return;
  }
  const Plane plane(s);
  const int64_t planes = s.images * s.channels, tasks = plane_tasks(pool, s, planes);
  const auto spread = taps == 9 ? spread_plane<9> : taps == 25 ? spread_plane<25> : spread_plane<0>;
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      std::memset(copy, 0, sizeof(float) * plane.size());
      for (int64_t filter = p % s.channels * multiplier; filter < (p % s.channels + 1) * multiplier; filter++) {
        const float* from = dy + (p / s.channels * s.filters + filter) * s.out_height * s.out_width;
        spread(plane, from, weight + filter * taps, copy);
      }
      // Where no window reaches (stride wider than the kernel, rows behind the last window) the gradient is 0.
      std::memset(dx + p * s.height * s.width, 0, sizeof(float) * s.height * s.width);
      plane.copy_out(copy, dx + p * s.height * s.width);
    }
  });
}

// The sums of dy times what `count` of the taps see, added to `totals`; all of them stay in registers.
template <int count>
void correlate_plane(const Plane& plane, const float* copy, const float* from, int64_t first, double* totals) {
  const Convolution& s = plane.s;
  const int64_t* offsets = plane.offsets.data() + first;
  Vector sums[count] = {};
  for (int64_t a = 0; a < s.out_height; a++) {
    const float* line = copy + a * plane.row_step();
    for (int64_t b = 0; b < s.out_width; b += kLanes) {
      const int64_t left = s.out_width - b;
      const float* at = from + a * s.out_width + b;
      const Vector grad = left >= kLanes ? load(at) : load_some(at, static_cast<int>(left));
#pragma GCC unroll 25
      for (int t = 0; t < count; t++) sums[t] += grad * load(line + b + offsets[t]);
    }
  }
  for (int t = 0; t < count; t++) totals[first + t] += sum_of(sums[t]);
}

inline void convolve_depthwise_weight(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* dy,
                                      float* dw) {
  const Plane plane(s);
  const int64_t multiplier = s.group_filters(), tasks = plane_tasks(pool, s, s.channels), taps = s.taps();
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = scratch<0>(plane.size());
    std::vector<double> totals(multiplier * taps);
    for (int64_t channel = s.channels * task / tasks; channel < s.channels * (task + 1) / tasks; channel++) {
      totals.assign(totals.size(), 0.0);
      for (int64_t image = 0; image < s.images; image++) {
        plane.copy_in(copy, x + (image * s.channels + channel) * s.height * s.width);
        for (int64_t m = 0; m < multiplier; m++) {
          const float* from = dy + (image * s.filters + channel * multiplier + m) * s.out_height * s.out_width;
          double* sums = totals.data() + m * taps;
          int64_t t = 0;
#if PROA_AVX512
          for (; t + 25 <= taps; t += 25) correlate_plane<25>(plane, copy, from, t, sums);
          for (; t + 9 <= taps; t += 9) correlate_plane<9>(plane, copy, from, t, sums);
#endif
          for (; t + 3 <= taps; t += 3) correlate_plane<3>(plane, copy, from, t, sums);
          for (; t < taps; t++) correlate_plane<1>(plane, copy, from, t, sums);
        }
      }
      for (int64_t i = 0; i < multiplier * taps; i++) dw[channel * multiplier * taps + i] = float(totals[i]);
    }
  });
}

}  // namespace proa
