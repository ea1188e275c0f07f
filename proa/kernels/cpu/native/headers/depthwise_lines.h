// Convolutions in which every channel has a filter of its own, with channels side by side in memory.
//
// A lane is a channel. A few neighbouring outputs are summed up in registers, so that what they share of the image and of
// the filters is read once. Taps outside the image are left out: there is no padding in memory.
#pragma once

#include <numeric>

#include "space.h"

namespace proa {

// What a line of outputs is the sum of: some lines of the image, each with a line of filters [taps][channels].
struct FilterLine {
  struct Source {
    const float *image, *filters;
  };
  const Source* sources;
  int num_sources;
  int64_t channels, width;              // of the image
  int64_t taps, first, step, spread;    // output i, tap t is at column first + i * step + t * spread
  int64_t count, out_step;              // of outputs, and where they go: every out_step-th column
  float* to;
};

constexpr int kManyOutputs = kLanes == 16 ? 7 : 4, kSomeOutputs = kLanes == 16 ? 4 : 2;

// Outputs `start` ... `start + outputs - 1`. With `taps` known (and `step`), columns lie side by side.
template <int taps, int step, int outputs, bool inside, class Finish>
void filter_some(const FilterLine& line, int64_t start, const Finish& finish) {
  const int64_t channels = line.channels, column = line.first + start * line.step;
  each_vector(channels, [&](int64_t c, int lanes, auto whole) {
    constexpr bool safe = inside && whole;  // vectors that are not whole are too few for code of their own
    Vector sums[outputs] = {};
    for (int s = 0; s < line.num_sources; s++) {
      const float* filters = line.sources[s].filters + c;
      const float* image = line.sources[s].image + c;
      if constexpr (taps > 0) {
        Vector values[taps];
#pragma GCC unroll 8
        for (int t = 0; t < taps; t++) values[t] = take<whole>(filters + t * channels, lanes);
#pragma GCC unroll 24
        for (int j = 0; j < (outputs - 1) * step + taps; j++) {
          if (!safe && uint64_t(column + j) >= uint64_t(line.width)) continue;
          const Vector value = take<whole>(image + (column + j) * channels, lanes);
#pragma GCC unroll 8
          for (int t = 0; t < taps; t++) {
            const int o = (j - t) / step;
            if (j >= t && (j - t) % step == 0 && o < outputs) sums[o] += values[t] * value;
          }
        }
      } else {
        for (int64_t t = 0; t < line.taps; t++) {
          const Vector value = take<whole>(filters + t * channels, lanes);
          const int64_t at = column + t * line.spread;
#pragma GCC unroll 8
          for (int o = 0; o < outputs; o++) {
            if (!safe && uint64_t(at + o * line.step) >= uint64_t(line.width)) continue;
            sums[o] += value * take<whole>(image + (at + o * line.step) * channels, lanes);
          }
        }
      }
    }
    Vector found[outputs];
#pragma GCC unroll 8
    for (int o = 0; o < outputs; o++) found[o] = sums[o];
#pragma GCC unroll 1
    for (int o = 0; o < outputs; o++) {  // as a loop: `finish` may be long
      float* to = line.to + (start + o) * line.out_step * channels + c;
      put<whole>(to, finish(found[o], c, to, lanes), lanes);
    }
  });
}

// All outputs of a line. The last ones may be computed twice: that is quicker than one by one.
template <int taps, int step, int outputs, class Finish>
void filter_line(const FilterLine& line, const Finish& finish) {
  const int64_t reach = (line.taps - 1) * line.spread;
  for (int64_t done = 0; done < line.count; done += outputs) {
    const int64_t start = smaller(done, line.count - outputs), left = line.first + start * line.step;
    if (left >= 0 && left + (outputs - 1) * line.step + reach < line.width) {
      filter_some<taps, step, outputs, true>(line, start, finish);
    } else {
      filter_some<taps, step, outputs, false>(line, start, finish);
    }
  }
}

template <int taps, int step, class Finish>
void (*filter_line_of(int64_t count))(const FilterLine&, const Finish&) {
  const auto cost = [&](int outputs) { return count < outputs ? INT64_MAX : ceil_div(count, outputs) * (outputs + 1); };
  const int64_t many = cost(kManyOutputs), some = cost(kSomeOutputs);
  if (many < INT64_MAX && many <= some) return filter_line<taps, step, kManyOutputs, Finish>;
  return some < INT64_MAX ? filter_line<taps, step, kSomeOutputs, Finish> : filter_line<taps, step, 1, Finish>;
}

// The code for a kind of line.
template <class Finish>
void (*filter_line_of(int64_t taps, int64_t step, int64_t spread, int64_t count))(const FilterLine&, const Finish&) {
  if (spread == 1 || taps == 1) {
    if (step == 1) {
      switch (taps) {
        case 1: return filter_line_of<1, 1, Finish>(count);
        case 2: return filter_line_of<2, 1, Finish>(count);
        case 3: return filter_line_of<3, 1, Finish>(count);
        case 4: return filter_line_of<4, 1, Finish>(count);
        case 5: return filter_line_of<5, 1, Finish>(count);
        case 7: return filter_line_of<7, 1, Finish>(count);
        default: break;
      }
    } else if (step == 2) {
      switch (taps) {
        case 3: return filter_line_of<3, 2, Finish>(count);
        case 5: return filter_line_of<5, 2, Finish>(count);
        default: break;
      }
    }
  }
  return filter_line_of<0, 0, Finish>(count);
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

// y = x filtered, what `finish(sum, channel, its place in y, number of lanes)` makes of each vector of sums. `filters` are
// turned.
template <class Finish>
void filter_image(ffi::ThreadPool& pool, const Space& s, const float* x, const float* filters, float* y,
                  const Finish& finish) {
  const auto compute = filter_line_of<Finish>(s.kernel[2], s.stride[2], s.dilation[2], s.out[2]);
  const int64_t lines = s.out_lines(), tasks = line_tasks(pool, lines, s.work());
  if (s.out[2] < 1 || s.channels < 1) return;
  parallel_for(pool, tasks, [&](int64_t task) {
    std::vector<FilterLine::Source> sources(s.kernel[0] * s.kernel[1]);
    for (int64_t l = lines * task / tasks; l < lines * (task + 1) / tasks; l++) {
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
      compute({sources.data(), count, s.channels, s.in[2], s.kernel[2], -s.before[2], s.stride[2], s.dilation[2],
               s.out[2], 1, y + l * s.out[2] * s.channels},
              finish);
    }
  });
}

// Sums as they are, or with a bias.
struct AddBias {
  const float* bias;
  Vector operator()(Vector sum, int64_t channel, const float*, int lanes) const {
    if (bias == nullptr) return sum;
    return sum + (lanes == kLanes ? load(bias + channel) : load_some(bias + channel, lanes));
  }
};

}  // namespace proa
