// Handlers of softmax along rows, and of GELU and SiLU, for XLA.
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

enum Kind : int64_t { kGelu = 0, kGeluByTanh = 1, kSilu = 2 };

// The activation as x * share, and its derivative.
template <int64_t kind>
inline void activation(Vector x, Vector& value, Vector& derivative) {
  if (kind == kGelu) {
    Vector share, density;
    normal_distribution(x, share, density);
    value = x * share;
    derivative = share + x * density;
    return;
  }
  // 0.5 (1 + tanh(u)) is the logistic function of 2 u.
  Vector inner = x, inner_derivative = all(1.0f);
  if (kind == kGeluByTanh) {
    const Vector squared = x * x;
    inner = x * (squared * all(1.59576912f * 0.044715f) + all(1.59576912f));
    inner_derivative = squared * all(3 * 1.59576912f * 0.044715f) + all(1.59576912f);
  }
  const Vector power = exponential(-inner), share = all(1.0f) / (power + all(1.0f));
  const Vector rest = power > all(1e30f) ? all(1.0f) : power * share;
  value = x * share;
  derivative = share + x * share * rest * inner_derivative;
}

// An activation, or with one more operand that times the derivative of the activation at x.
template <int64_t kind>
static void activate(ffi::ThreadPool& pool, int64_t size, const float* x, const float* outer, float* y) {
  const int64_t tasks = norm_tasks(pool, ceil_div(size, 4096), size);
  const int64_t step = round_up(ceil_div(size, tasks), kLanes);
  parallel_for(pool, tasks, [&](int64_t task) {
    const int64_t end = smaller(size, (task + 1) * step);
    for (int64_t i = task * step; i < end; i += kLanes) {
      const int count = int(smaller<int64_t>(kLanes, end - i));
      Vector value, derivative;
      activation<kind>(load_up_to(x + i, count), value, derivative);
      store_up_to(y + i, outer ? load_up_to(outer + i, count) * derivative : value, count);
    }
  });
}

static ffi::Error activation_handler(ffi::ThreadPool pool, Floats x, ffi::RemainingArgs more, Out y, int64_t kind) {
  const int64_t size = int64_t(x.element_count());
  const float* outer = nullptr;
  if (more.size() == 1) {
    auto given = more.get<Floats>(0);
    if (!given.has_value() || int64_t(given->element_count()) != size) {
      return ffi::Error::InvalidArgument("activation: the shapes do not fit");
    }
    outer = given->typed_data();
  }
  if (kind == kGelu) activate<kGelu>(pool, size, x.typed_data(), outer, y->typed_data());
  else if (kind == kGeluByTanh) activate<kGeluByTanh>(pool, size, x.typed_data(), outer, y->typed_data());
  else if (kind == kSilu) activate<kSilu>(pool, size, x.typed_data(), outer, y->typed_data());
  else return ffi::Error::InvalidArgument("activation: there is no such one");
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Softmax, proa::softmax,
                              xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>().Ret<proa::Floats>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(Activation, proa::activation_handler,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<int64_t>("kind"));
