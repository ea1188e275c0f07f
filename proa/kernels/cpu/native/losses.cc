// Handlers of softmax with cross entropy for XLA: what a row of logits comes to, and the gradient in one pass.
#include "exponential.h"
#include "norms.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Numbers = ffi::Buffer<ffi::S32>;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("cross entropy: the shapes do not fit"); }

// For each row the largest logit, and the sum of the powers relative to it.
static ffi::Error row_powers(ffi::ThreadPool pool, Floats x, Out highest, Out sums) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || shape[1] < 1 || int64_t(highest->element_count()) != shape[0] ||
      int64_t(sums->element_count()) != shape[0]) {
    return misfit();
  }
  const int64_t rows = shape[0], length = shape[1], tasks = norm_tasks(pool, rows, rows * length);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      const float* from = x.typed_data() + r * length;
      Vector best = all(from[0]);
      int64_t i = 0;
      for (; i + kLanes <= length; i += kLanes) best = greater(load(from + i), best);
      float top = largest_of(best);
      for (; i < length; i++) top = from[i] > top ? from[i] : top;
      const Vector level = all(top);
      double total = 0, unused = 0;
      sum_pairs(length, [&](int64_t i, int count, Vector& p, Vector&) {
        p += keep(exponential(load_up_to(from + i, count) - level), count);
      }, total, unused);
      highest->typed_data()[r] = top;
      sums->typed_data()[r] = float(total);
    }
  });
  return ffi::Error::Success();
}

// (softmax(x) - 1 at the label) * scale, row by row; a label that is no class is at none.
static ffi::Error cross_entropy_grad(ffi::ThreadPool pool, Floats x, Numbers label, Floats scale, Floats highest,
                                     Floats sums, Out grad) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || int64_t(label.element_count()) != shape[0] || int64_t(scale.element_count()) != shape[0] ||
      int64_t(highest.element_count()) != shape[0] || int64_t(sums.element_count()) != shape[0] ||
      grad->element_count() != x.element_count()) {
    return misfit();
  }
  const int64_t rows = shape[0], length = shape[1], tasks = norm_tasks(pool, rows, rows * length);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      const float* from = x.typed_data() + r * length;
      float* to = grad->typed_data() + r * length;
      const float outer = scale.typed_data()[r], share = 1.0f / sums.typed_data()[r];
      const int64_t chosen = label.typed_data()[r];
      if (outer == 0 && share == share) {  // nothing comes from above, as where a label is left out
        std::memset(to, 0, sizeof(float) * length);
        continue;
      }
      const Vector level = all(highest.typed_data()[r]), factor = all(share * outer);
      for (int64_t i = 0; i < length; i += kLanes) {
        const int count = int(smaller<int64_t>(kLanes, length - i));
        store_up_to(to + i, exponential(load_up_to(from + i, count) - level) * factor, count);
      }
      if (chosen >= 0 && chosen < length) {
        const Vector power = exponential(all(from[chosen]) - level);
        to[chosen] = (power[0] * share - 1) * outer;
      }
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_BIND xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(RowPowers, proa::row_powers, PROA_BIND.Ret<proa::Floats>().Ret<proa::Floats>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(CrossEntropyGrad, proa::cross_entropy_grad,
                              PROA_BIND.Arg<proa::Numbers>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>());
