// Handlers of softmax along rows and of GELU for XLA.
#include "exponential.h"
#include "norms.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error softmax(ffi::ThreadPool pool, Floats x, Out y) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || y->element_count() != x.element_count()) {
    return ffi::Error::InvalidArgument("softmax: the shapes do not fit");
  }
  const int64_t rows = shape[0], length = shape[1], tasks = norm_tasks(pool, rows, rows * length);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      const float* from = x.typed_data() + r * length;
      float* to = y->typed_data() + r * length;
      Vector best = all(from[0]);
      int64_t i = 0;
      for (; i + kLanes <= length; i += kLanes) best = greater(load(from + i), best);
      float top = largest_of(best);
      for (; i < length; i++) top = from[i] > top ? from[i] : top;
      const Vector highest = all(top);
      double total = 0, unused = 0;
      sum_pairs(length, [&](int64_t i, int count, Vector& p, Vector&) {
        const Vector power = keep(exponential(load_up_to(from + i, count) - highest), count);
        store_up_to(to + i, power, count);
        p += power;
      }, total, unused);
      const Vector factor = all(float(1.0 / total));
      for (int64_t i = 0; i < length; i += kLanes) {
        const int count = int(smaller<int64_t>(kLanes, length - i));
        store_up_to(to + i, load_up_to(to + i, count) * factor, count);
      }
    }
  });
  return ffi::Error::Success();
}

// gelu(x), or with one more operand that times the slope of gelu at x.
static ffi::Error gelu(ffi::ThreadPool pool, Floats x, ffi::RemainingArgs more, Out y) {
  const int64_t size = int64_t(x.element_count());
  const float* outer = nullptr;
  if (more.size() == 1) {
    auto given = more.get<Floats>(0);
    if (!given.has_value() || int64_t(given->element_count()) != size) {
      return ffi::Error::InvalidArgument("gelu: the shapes do not fit");
    }
    outer = given->typed_data();
  }
  const int64_t tasks = norm_tasks(pool, ceil_div(size, 4096), size);
  const int64_t step = round_up(ceil_div(size, tasks), kLanes);
  parallel_for(pool, tasks, [&](int64_t task) {
    const int64_t end = smaller(size, (task + 1) * step);
    for (int64_t i = task * step; i < end; i += kLanes) {
      const int count = int(smaller<int64_t>(kLanes, end - i));
      const Vector value = load_up_to(x.typed_data() + i, count);
      Vector share, density;
      normal_distribution(value, share, density);
      Vector result = value * share;
      if (outer) result = load_up_to(outer + i, count) * (share + value * density);
      store_up_to(y->typed_data() + i, result, count);
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Softmax, proa::softmax,
                              xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>().Ret<proa::Floats>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Gelu, proa::gelu,
    xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>().RemainingArgs().Ret<proa::Floats>());
