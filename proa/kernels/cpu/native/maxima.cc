// Handler of maximum pooling for XLA. Images are [batch, channels, height, width].
#include <limits>
#include <vector>

#include "halving.h"
#include "parallel.h"
#include "vectors.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Sizes = ffi::Span<const int64_t>;

// `window`: kernel, stride and padding before, each for height and width.
static ffi::Error max_pooling(ffi::ThreadPool pool, Floats x, ffi::ResultBuffer<ffi::F32> y, Sizes window) {
  const auto in = x.dimensions(), out = y->dimensions();
  if (in.size() != 4 || out.size() != 4 || window.size() != 6 || in[0] != out[0] || in[1] != out[1]) {
    return ffi::Error::InvalidArgument("maximum pooling: the shapes do not fit");
  }
  const int64_t planes = in[0] * in[1], height = in[2], width = in[3], out_height = out[2], out_width = out[3];
  const int64_t kernel_h = window[0], kernel_w = window[1], step_h = window[2], step_w = window[3];
  const int64_t top = window[4], left = window[5];
  if (kernel_h < 1 || kernel_w < 1 || step_h < 1 || step_w < 1 || top < 0 || left < 0) {
    return ffi::Error::InvalidArgument("maximum pooling: the window does not fit");
  }
  if (y->element_count() == 0) return ffi::Error::Success();
  const float lowest = -std::numeric_limits<float>::infinity();
  // The highest of each column of a window's rows is found first, in a line that is wide enough for all windows; then the
  // highest of its columns. NaN is higher than anything.
  const int64_t line_width = larger((out_width - 1) * step_w + kernel_w, left + width) + kLanes;
  const bool by_halves = halves(kernel_h, kernel_w, step_h, step_w, top, left, height, width, out_height, out_width);
  const int64_t tasks = planes * height * width < 16384 ? 1 : smaller<int64_t>(planes, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    float* line = scratch<0>(line_width);
    for (int64_t i = 0; i < line_width; i++) line[i] = lowest;
    for (int64_t plane = planes * task / tasks; plane < planes * (task + 1) / tasks; plane++) {
      const float* from = x.typed_data() + plane * height * width;
      float* to = y->typed_data() + plane * out_height * out_width;
      if (by_halves) {
        halve_plane(from, width, out_height, out_width, to);
        continue;
      }
      for (int64_t a = 0; a < out_height; a++, to += out_width) {
        const int64_t first = larger<int64_t>(a * step_h - top, 0);
        const int64_t last = smaller(a * step_h - top + kernel_h, height);
        for (int64_t j = 0; j < width; j += kLanes) {
          const int count = static_cast<int>(smaller<int64_t>(kLanes, width - j));
          Vector best = all(lowest);
          for (int64_t r = first; r < last; r++) {
            const float* at = from + r * width + j;
            best = higher(count == kLanes ? load(at) : load_some(at, count), best);
          }
          if (count == kLanes) store(line + left + j, best);
          else store_some(line + left + j, best, count);
        }
        if (step_w == 1) {
          for (int64_t b = 0; b < out_width; b += kLanes) {
            const int count = static_cast<int>(smaller<int64_t>(kLanes, out_width - b));
            Vector best = all(lowest);
            for (int64_t k = 0; k < kernel_w; k++) {
              const float* at = line + b + k;
              best = higher(count == kLanes ? load(at) : load_some(at, count), best);
            }
            if (count == kLanes) store(to + b, best);
            else store_some(to + b, best, count);
          }
          continue;
        }
        for (int64_t b = 0; b < out_width; b++) {
          const float* at = line + b * step_w;
          float best = lowest;
          for (int64_t k = 0; k < kernel_w; k++) best = at[k] > best || at[k] != at[k] ? at[k] : best;
          to[b] = best;
        }
      }
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(MaxPooling, proa::max_pooling,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));
