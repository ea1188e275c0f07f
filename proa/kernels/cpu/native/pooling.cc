// Handler of the gradient of maximum pooling for XLA.
#include <limits>

#include "depthwise.h"
#include "halving.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;

// Every window's gradient goes to the first of its largest elements. `window`: kernel, stride, padding before, each for
// height and width.
static ffi::Error max_pool_grad(ffi::ThreadPool pool, Floats x, Floats grad, ffi::ResultBuffer<ffi::F32> dx,
                                ffi::Span<const int64_t> window) {
  const auto shape = x.dimensions(), out = grad.dimensions();
  if (shape.size() != 4 || out.size() != 4 || window.size() != 6 || out[0] != shape[0] || out[1] != shape[1] ||
      dx->element_count() != x.element_count()) {
    return ffi::Error::InvalidArgument("max_pool_grad: the shapes do not fit");
  }
  const Convolution s{shape[0], shape[1], shape[2], shape[3], shape[1], window[0], window[1], out[2], out[3],
                      window[2], window[3], window[4], window[5], 1, 1, shape[1]};
  const Plane plane(s);
  const int64_t planes = s.images * s.channels, taps = s.taps(), tasks = plane_tasks(pool, s, planes);
  const bool by_halves = halves(s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.top, s.left, s.height, s.width,
                                s.out_height, s.out_width);
  parallel_for(pool, tasks, [&](int64_t task) {
    float* copy = by_halves ? nullptr : scratch<0>(plane.size());
    for (int64_t p = planes * task / tasks; p < planes * (task + 1) / tasks; p++) {
      if (by_halves) {
        halve_plane_grad(x.typed_data() + p * s.height * s.width, grad.typed_data() + p * s.out_height * s.out_width,
                         s.height, s.width, s.out_height, s.out_width, dx->typed_data() + p * s.height * s.width);
        continue;
      }
      plane.copy_in(copy, x.typed_data() + p * s.height * s.width, -std::numeric_limits<float>::infinity());
      const float* grads = grad.typed_data() + p * s.out_height * s.out_width;
      float* to = dx->typed_data() + p * s.height * s.width;
      std::memset(to, 0, sizeof(float) * s.height * s.width);
      for (int64_t a = 0; a < s.out_height; a++) {
        const float* line = copy + a * plane.row_step();
        for (int64_t b = 0; b < s.out_width; b += kLanes) {
          Vector best = load(line + b + plane.offsets[0]);
          Integers winner{};
          for (int64_t t = 1; t < taps; t++) {
            const Vector value = load(line + b + plane.offsets[t]);
            const Integers wins = value > best;
            winner = wins ? Integers{} + int32_t(t) : winner;
            best = (wins | (value != value)) ? value : best;  // nothing is larger than a NaN
          }
          const int count = int(smaller<int64_t>(kLanes, s.out_width - b));
          for (int i = 0; i < count; i++) {
            const int64_t row = a * s.stride_h + winner[i] / s.kernel_w - s.top;
            const int64_t column = (b + i) * s.stride_w + winner[i] % s.kernel_w - s.left;
            if (row >= 0 && row < s.height && column >= 0 && column < s.width) {
              to[row * s.width + column] += grads[a * s.out_width + b + i];
            }
          }
        }
      }
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(MaxPoolGrad, proa::max_pool_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<xla::ffi::Span<const int64_t>>("window"));
