// Convolutions in which every channel has a filter of its own, with channels side by side in memory.
//
// A lane is a channel. A few neighbouring outputs are summed up in registers, so that what they share of the image and of
// the filters is read once. Taps outside the image are left out: there is no padding in memory.
#pragma once

#include <numeric>

#include "space.h"

namespace proa {

// What a line of outputs is the sum of: some lines of the image, each with a line of filters [taps][channels], and a bias.
// Images are floats or, as `Number` says, the bits of bfloat16.
template <class Number>
struct FilterLine {
  struct Source {
    const Number* image;
    const float* filters;
  };
  const Source* sources;
  int num_sources;
  const float* bias;                    // or null
  int64_t channels, width;              // of the image
  int64_t begin, end;                   // of the channels to be filtered
  int64_t taps, first, step, spread;    // output i, tap t is at column first + i * step + t * spread
  int64_t count, out_step;              // of outputs, and where they go: every out_step-th column
  float* to;
};

constexpr int kManyOutputs = kLanes == 16 ? 7 : 4, kSomeOutputs = kLanes == 16 ? 4 : 2;

// What is read in the place of columns outside the image: a choice of addresses is quicker than a jump at every tap.
alignas(64) inline const float kNothing[kLanes] = {};

// Outputs `start` ... `start + outputs - 1`. With `taps` known (and `step`), columns lie side by side.
template <int taps, int step, int outputs, bool inside, class Number>
void filter_some(const FilterLine<Number>& line, int64_t start) {
  const int64_t channels = line.channels, column = line.first + start * line.step;
  const auto* nothing = reinterpret_cast<const Number*>(kNothing);
  each_vector(line.begin, line.end, [&](int64_t c, int lanes, auto whole) {
    Vector sums[outputs];
    const Vector bias = line.bias ? take<whole>(line.bias + c, lanes) : Vector{};
#pragma GCC unroll 8
    for (int o = 0; o < outputs; o++) sums[o] = bias;
    for (int s = 0; s < line.num_sources; s++) {
      const float* filters = line.sources[s].filters + c;
      const Number* image = line.sources[s].image + c;
      const auto column_of = [&](int64_t at) {
        const Number* place = image + at * channels;
        return take<whole>(inside || uint64_t(at) < uint64_t(line.width) ? place : nothing, lanes);
      };
      if constexpr (taps > 0) {
        Vector values[taps];
#pragma GCC unroll 8
        for (int t = 0; t < taps; t++) values[t] = take<whole>(filters + t * channels, lanes);
#pragma GCC unroll 24
        for (int j = 0; j < (outputs - 1) * step + taps; j++) {
          const Vector value = column_of(column + j);
#pragma GCC unroll 8
          for (int t = 0; t < taps; t++) {
            const int o = (j - t) / step;
            if (j >= t && (j - t) % step == 0 && o < outputs) sums[o] += values[t] * value;
          }
        }
      } else {
        for (int64_t t = 0; t < line.taps; t++) {
          const Vector value = take<whole>(filters + t * channels, lanes);
#pragma GCC unroll 8
          for (int o = 0; o < outputs; o++) sums[o] += value * column_of(column + t * line.spread + o * line.step);
        }
      }
    }
#pragma GCC unroll 8
    for (int o = 0; o < outputs; o++) put<whole>(line.to + (start + o) * line.out_step * channels + c, sums[o], lanes);
  });
}

// All outputs of a line. The last ones may be computed twice: that is quicker than one by one.
template <int taps, int step, int outputs, class Number>
void filter_line(const FilterLine<Number>& line) {
  const int64_t reach = (line.taps - 1) * line.spread;
  for (int64_t done = 0; done < line.count; done += outputs) {
    const int64_t start = smaller(done, line.count - outputs), left = line.first + start * line.step;
    if (left >= 0 && left + (outputs - 1) * line.step + reach < line.width) {
      filter_some<taps, step, outputs, true>(line, start);
    } else {
      filter_some<taps, step, outputs, false>(line, start);
    }
  }
}

template <class Number>
using FilterCode = void (*)(const FilterLine<Number>&);

template <int taps, int step, class Number>
FilterCode<Number> filter_line_of(int64_t count) {
  const auto cost = [&](int outputs) { return count < outputs ? INT64_MAX : ceil_div(count, outputs) * (outputs + 1); };
  const int64_t many = cost(kManyOutputs), some = cost(kSomeOutputs);
  if (many < INT64_MAX && many <= some) return filter_line<taps, step, kManyOutputs, Number>;
  return some < INT64_MAX ? filter_line<taps, step, kSomeOutputs, Number> : filter_line<taps, step, 1, Number>;
}

// The code for a kind of line.
template <class Number>
FilterCode<Number> filter_line_of(int64_t taps, int64_t step, int64_t spread, int64_t count) {
  if (spread == 1 || taps == 1) {
    if (step == 1) {
      switch (taps) {
        case 1: return filter_line_of<1, 1, Number>(count);
        case 2: return filter_line_of<2, 1, Number>(count);
        case 3: return filter_line_of<3, 1, Number>(count);
        case 4: return filter_line_of<4, 1, Number>(count);
        case 5: return filter_line_of<5, 1, Number>(count);
        case 7: return filter_line_of<7, 1, Number>(count);
        default: break;
      }
    } else if (step == 2) {
      switch (taps) {
        case 3: return filter_line_of<3, 2, Number>(count);
        case 5: return filter_line_of<5, 2, Number>(count);
        default: break;
      }
    }
  }
  return filter_line_of<0, 0, Number>(count);
}

// Filters [channels][taps] as [taps][channels], which is how the others want them.
inline void turn_filters(const float* weight, int64_t channels, int64_t taps, float* to) {
  for (int64_t c0 = 0; c0 < channels; c0 += kLanes) {
    const int64_t c1 = smaller(channels, c0 + kLanes);
    for (int64_t t = 0; t < taps; t++) {
      for (int64_t c = c0; c < c1; c++) to[t * channels + c] = weight[c * taps + t];
    }
  }
}

// Sums of x filtered, with a bias; `filters` are turned. Where the sums of a line of outputs go `place(line)` says, and
// `finish(line, its sums, first and last of the channels)` is called when they are there.
template <class Number, class Place, class Finish>
void filter_image(ffi::ThreadPool& pool, const Space& s, const Number* x, const float* filters, const float* bias,
                  const Place& place, const Finish& finish) {
  if (s.out[2] < 1 || s.channels < 1) return;
  const auto compute = filter_line_of<Number>(s.kernel[2], s.stride[2], s.dilation[2], s.out[2]);
  const int64_t lines = s.out_lines(), tasks = line_tasks(pool, lines, s.work());
  // Few lines are not to be shared evenly; their channels are.
  const int64_t vectors = ceil_div(s.channels, kLanes), threads = threads_of(pool);
  const int64_t parts = tasks > 1 && lines < 4 * threads && lines % threads ? smaller(vectors, threads) : 1;
  parallel_for(pool, tasks * parts, [&](int64_t task) {
    std::vector<typename FilterLine<Number>::Source> sources(s.kernel[0] * s.kernel[1]);
    const int64_t part = task % parts, group = task / parts;
    const int64_t begin = vectors * part / parts * kLanes, end = smaller(s.channels, vectors * (part + 1) / parts * kLanes);
    for (int64_t l = lines * group / tasks; l < lines * (group + 1) / tasks; l++) {
      const Position at(l, s.out);
      const Taps deep(s, 0, at.depth), high(s, 1, at.height);
      int count = 0;
      for (int64_t d = deep.first; d < deep.last; d++) {
        for (int64_t h = high.first; h < high.last; h++) {
          const int64_t depth = at.depth * s.stride[0] - s.before[0] + d * s.dilation[0];
          const int64_t height = at.height * s.stride[1] - s.before[1] + h * s.dilation[1];
          const int64_t line = (at.image * s.in[0] + depth) * s.in[1] + height;
          sources[count++] = {x + line * s.in[2] * s.channels,
                              filters + (d * s.kernel[1] + h) * s.kernel[2] * s.channels};
        }
      }
      float* to = place(l);
      compute({sources.data(), count, bias, s.channels, s.in[2], begin, end, s.kernel[2], -s.before[2], s.stride[2],
               s.dilation[2], s.out[2], 1, to});
      finish(l, to, begin, end);
    }
  });
}

}  // namespace proa
