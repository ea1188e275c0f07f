// Handlers of depthwise convolutions and their gradients for XLA: over one to three axes, channels side by side in memory.
#include "depthwise_lines.h"

namespace proa {

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string("depthwise ") + what + ": the shapes do not fit");
}

static ffi::Error convolution(ffi::ThreadPool pool, Floats x, Floats weight, ffi::RemainingArgs more, Result y,
                              Sizes window) {
  Space s;
  if (!s.read(x.dimensions(), y->dimensions(), window) || more.size() > 1 ||
      int64_t(weight.element_count()) != s.channels * s.taps()) {
    return misfit("convolution");
  }
  const float* added = nullptr;
  if (more.size()) {
    const auto bias = more.get<Floats>(0);
    if (!bias.has_value() || int64_t(bias->element_count()) != s.channels) return misfit("convolution");
    added = bias->typed_data();
  }
  float* filters = scratch<0>(s.channels * s.taps());
  turn_filters(weight.typed_data(), s.channels, s.taps(), filters);
  const auto place = [&](int64_t line) { return y->typed_data() + line * s.out[2] * s.channels; };
  filter_image(pool, s, x.typed_data(), filters, added, place, [](int64_t, float*, int64_t, int64_t) {});
  return ffi::Error::Success();
}

// ---- the gradient of the image --------------------------------------------------------------------------------------

// The taps that reach columns of one residue modulo the stride: every `apart`-th from `first` on, backwards. Each sees a
// column of dy that is `spread` behind the one before.
struct Residue {
  int64_t first, apart, count, spread, column, filters;  // column: of dy, seen by the last tap from column `residue`

  Residue(const Space& s, int64_t residue) {
    const int64_t step = s.stride[2], dilation = s.dilation[2], shared = std::gcd(step, dilation);
    apart = step / shared;
    spread = dilation / shared;
    first = 0;
    while (first < smaller(s.kernel[2], apart) && (residue + s.before[2] - first * dilation) % step != 0) first++;
    count = first < smaller(s.kernel[2], apart) ? (s.kernel[2] - 1 - first) / apart + 1 : 0;
    const int64_t last = first + (count - 1) * apart;
    column = count ? (residue + s.before[2] - last * dilation) / step : 0;
    filters = 0;
  }
};

// The lines of dy that a line of dx gets something from, along one axis.
static bool source(const Space& s, int axis, int64_t place, int64_t tap, int64_t& found) {
  const int64_t at = place + s.before[axis] - tap * s.dilation[axis];
  found = at / s.stride[axis];
  return at >= 0 && at % s.stride[axis] == 0 && found < s.out[axis];
}

static ffi::Error grad_input(ffi::ThreadPool pool, Floats dy, Floats weight, Result dx, Sizes window) {
  Space s;
  if (!s.read(dx->dimensions(), dy.dimensions(), window) ||
      int64_t(weight.element_count()) != s.channels * s.taps()) {
    return misfit("gradient");
  }
  if (dx->element_count() == 0) return ffi::Error::Success();
  // The filters of a residue lie together, in the order in which dy is gone through.
  const int64_t taps = s.taps(), channels = s.channels, line_filters = s.kernel[2] * channels;
  float* turned = scratch<1>(channels * taps);
  float* filters = scratch<0>(channels * taps);
  turn_filters(weight.typed_data(), channels, taps, turned);
  std::vector<Residue> residues;
  std::vector<FilterCode<float>> codes;
  int64_t filled = 0;
  for (int64_t r = 0; r < smaller(s.stride[2], s.in[2]); r++) {
    Residue residue(s, r);
    residue.filters = filled;
    for (int64_t j = residue.count - 1; j >= 0; j--, filled += channels) {
      const int64_t tap = residue.first + j * residue.apart;
      for (int64_t line = 0; line < s.kernel[0] * s.kernel[1]; line++) {
        std::memcpy(filters + line * line_filters + filled, turned + line * line_filters + tap * channels,
                    sizeof(float) * channels);
      }
    }
    residues.push_back(residue);
    codes.push_back(filter_line_of<float>(residue.count, 1, residue.spread, (s.in[2] - r - 1) / s.stride[2] + 1));
  }
  const int64_t lines = s.in_lines(), tasks = line_tasks(pool, lines, s.work());
  parallel_for(pool, tasks, [&](int64_t task) {
    std::vector<FilterLine<float>::Source> sources(s.kernel[0] * s.kernel[1]), shifted(sources.size());
    for (int64_t l = lines * task / tasks; l < lines * (task + 1) / tasks; l++) {
      const Position at(l, s.in);
      int count = 0;
      for (int64_t d = 0; d < s.kernel[0]; d++) {
        int64_t depth, height;
        if (!source(s, 0, at.depth, d, depth)) continue;
        for (int64_t h = 0; h < s.kernel[1]; h++) {
          if (!source(s, 1, at.height, h, height)) continue;
          const int64_t line = (at.image * s.out[0] + depth) * s.out[1] + height;
          sources[count++] = {dy.typed_data() + line * s.out[2] * channels, filters + (d * s.kernel[1] + h) * line_filters};
        }
      }
      for (size_t r = 0; r < residues.size(); r++) {
        const Residue& residue = residues[r];
        for (int i = 0; i < count; i++) shifted[i] = {sources[i].image, sources[i].filters + residue.filters};
        codes[r]({shifted.data(), count, nullptr, channels, s.out[2], 0, channels, residue.count, residue.column, 1,
                  residue.spread, (s.in[2] - int64_t(r) - 1) / s.stride[2] + 1, s.stride[2],
                  dx->typed_data() + (l * s.in[2] + int64_t(r)) * channels});
      }
    }
  });
  return ffi::Error::Success();
}

// ---- the gradient of the filters ------------------------------------------------------------------------------------

// Lines of x and dy, and the sums [taps][channels] that they add to.
struct Pair {
  const float *x, *dy;
  float* sums;
  int64_t channels, width, taps, step, spread;
};

constexpr int64_t kMostTaps = 7;  // whose sums stay in registers

// Outputs [start, start + outputs) of vectors at `x` and `dy`, added to the sums of `taps` taps; `column` of the first.
template <int taps, int outputs, bool inside, bool whole>
inline void correlate_some(const Pair& p, const float* x, const float* dy, int64_t column, int64_t step, int64_t spread,
                           int lanes, Vector* sums) {
#pragma GCC unroll 8
  for (int o = 0; o < outputs; o++) {
    const Vector grad = take<whole>(dy + o * p.channels, lanes);
#pragma GCC unroll 8
    for (int t = 0; t < taps; t++) {
      const int64_t at = column + o * step + t * spread;
      if (!(inside && whole) && uint64_t(at) >= uint64_t(p.width)) continue;
      sums[t] += grad * take<whole>(x + at * p.channels, lanes);
    }
  }
}

// `taps` of the taps, for all outputs [start, stop).
template <int taps, int known_step>
void correlate_line(const Pair& p, int64_t first, int64_t start, int64_t stop) {
  const int64_t step = known_step ? known_step : p.step, spread = known_step ? 1 : p.spread;
  // Outputs [low, high) see the inside alone.
  const int64_t reach = (taps - 1) * spread;
  int64_t low = first >= 0 ? 0 : ceil_div(-first, step);
  int64_t high = p.width - 1 - reach - first < 0 ? 0 : (p.width - 1 - reach - first) / step + 1;
  low = smaller(larger(low, start), stop);
  high = larger(smaller(high, stop), low);
  each_vector(p.channels, [&](int64_t c, int lanes, auto whole) {
    Vector sums[taps] = {};
    const float *x = p.x + c, *dy = p.dy + c;
    int64_t b = start;
    for (; b < low; b++) {
      correlate_some<taps, 1, false, whole>(p, x, dy + b * p.channels, first + b * step, step, spread, lanes, sums);
    }
    for (; b + 4 <= high; b += 4) {
      correlate_some<taps, 4, true, whole>(p, x, dy + b * p.channels, first + b * step, step, spread, lanes, sums);
    }
    for (; b < high; b++) {
      correlate_some<taps, 1, true, whole>(p, x, dy + b * p.channels, first + b * step, step, spread, lanes, sums);
    }
    for (; b < stop; b++) {
      correlate_some<taps, 1, false, whole>(p, x, dy + b * p.channels, first + b * step, step, spread, lanes, sums);
    }
#pragma GCC unroll 8
    for (int t = 0; t < taps; t++) {
      float* to = p.sums + t * p.channels + c;
      put<whole>(to, take<whole>(to, lanes) + sums[t], lanes);
    }
  });
}

using Correlate = void (*)(const Pair&, int64_t, int64_t, int64_t);
template <int step>
Correlate correlate_of(int64_t taps) {
  switch (taps) {
    case 1: return correlate_line<1, step>;
    case 2: return correlate_line<2, step>;
    case 3: return correlate_line<3, step>;
    case 4: return correlate_line<4, step>;
    case 5: return correlate_line<5, step>;
    case 6: return correlate_line<6, step>;
    default: return correlate_line<7, step>;
  }
}

static ffi::Error grad_weight(ffi::ThreadPool pool, Floats x, Floats dy, Result dw, Sizes window) {
  Space s;
  if (!s.read(x.dimensions(), dy.dimensions(), window) ||
      int64_t(dw->element_count()) != s.channels * s.taps()) {
    return misfit("gradient of the weight");
  }
  const int64_t channels = s.channels, size = s.taps() * channels, lines = s.out_lines();
  const int64_t tasks = smaller<int64_t>(line_tasks(pool, lines, s.work()), 2 * threads_of(pool));
  const int64_t step = s.dilation[2] == 1 || s.kernel[2] == 1 ? s.stride[2] : 0;
  // Sums of so many outputs are kept as floats before they are added to what is known so far.
  constexpr int64_t kShort = 256;
  std::vector<double> totals(tasks * size);
  parallel_for(pool, tasks, [&](int64_t task) {
    double* total = totals.data() + task * size;
    float* sums = scratch<2>(size);
    std::memset(sums, 0, sizeof(float) * size);
    int64_t pending = 0;
    const auto flush = [&] {
      for (int64_t i = 0; i < size; i++) {
        total[i] += sums[i];
        sums[i] = 0;
      }
      pending = 0;
    };
    for (int64_t l = lines * task / tasks; l < lines * (task + 1) / tasks; l++) {
      const Position at(l, s.out);
      const Taps deep(s, 0, at.depth), high(s, 1, at.height);
      for (int64_t start = 0; start < s.out[2]; start += kShort) {
        const int64_t stop = smaller(s.out[2], start + kShort);
        if (pending + stop - start > kShort) flush();
        pending += stop - start;
        for (int64_t d = deep.first; d < deep.last; d++) {
          for (int64_t h = high.first; h < high.last; h++) {
            const int64_t depth = at.depth * s.stride[0] - s.before[0] + d * s.dilation[0];
            const int64_t height = at.height * s.stride[1] - s.before[1] + h * s.dilation[1];
            const int64_t line = (at.image * s.in[0] + depth) * s.in[1] + height;
            for (int64_t t = 0; t < s.kernel[2]; t += kMostTaps) {
              const int64_t count = smaller(kMostTaps, s.kernel[2] - t);
              const Pair pair{x.typed_data() + line * s.in[2] * channels, dy.typed_data() + l * s.out[2] * channels,
                              sums + ((d * s.kernel[1] + h) * s.kernel[2] + t) * channels, channels, s.in[2], count,
                              s.stride[2], s.dilation[2]};
              const Correlate compute = step == 1   ? correlate_of<1>(count)
                                        : step == 2 ? correlate_of<2>(count)
                                                    : correlate_of<0>(count);
              compute(pair, t * s.dilation[2] - s.before[2], start, stop);
            }
          }
        }
      }
    }
    flush();
  });
  for (int64_t task = 1; task < tasks; task++) {
    for (int64_t i = 0; i < size; i++) totals[i] += totals[task * size + i];
  }
  for (int64_t c0 = 0; c0 < channels; c0 += kLanes) {
    for (int64_t t = 0; t < s.taps(); t++) {
      for (int64_t c = c0; c < smaller(channels, c0 + kLanes); c++) {
        dw->typed_data()[c * s.taps() + t] = static_cast<float>(totals[t * channels + c]);
      }
    }
  }
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(DepthwiseConvolution, proa::convolution,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(DepthwiseGradInput, proa::grad_input,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(DepthwiseGradWeight, proa::grad_weight,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));
