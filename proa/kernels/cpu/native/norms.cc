// Handlers of normalisation for XLA.
#include "norms.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("normalisation: the shapes do not fit"); }

// Of the operands `more` those that `given` names are there, in this order: weight, bias.
static ffi::Error row_norm_handler(ffi::ThreadPool pool, Floats x, Floats epsilon, ffi::RemainingArgs more, Out y,
                                   bool centred, bool has_weight, bool has_bias) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || more.size() != size_t(has_weight) + size_t(has_bias)) return misfit();
  const float* parameters[2] = {nullptr, nullptr};
  for (size_t i = 0; i < more.size(); i++) {
    auto one = more.get<Floats>(i);
    if (!one.has_value() || int64_t(one->element_count()) != shape[1]) return misfit();
    parameters[has_weight ? i : 1] = one->typed_data();
  }
  row_norm(pool, shape[0], shape[1], x.typed_data(), parameters[0], parameters[1], epsilon.typed_data()[0], centred,
           y->typed_data());
  return ffi::Error::Success();
}

static ffi::Error row_norm_grad_input_handler(ffi::ThreadPool pool, Floats x, Floats grad, Floats epsilon,
                                              ffi::RemainingArgs more, Out dx, bool centred) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || grad.element_count() != x.element_count() || more.size() > 1) return misfit();
  const float* weight = nullptr;
  if (more.size() == 1) {
    auto one = more.get<Floats>(0);
    if (!one.has_value() || int64_t(one->element_count()) != shape[1]) return misfit();
    weight = one->typed_data();
  }
  row_norm_grad_input(pool, shape[0], shape[1], x.typed_data(), grad.typed_data(), weight, epsilon.typed_data()[0],
                      centred, dx->typed_data());
  return ffi::Error::Success();
}

static ffi::Error row_norm_grad_weight_handler(ffi::ThreadPool pool, Floats x, Floats grad, Floats epsilon, Out dw,
                                               bool centred) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || grad.element_count() != x.element_count() || int64_t(dw->element_count()) != shape[1]) {
    return misfit();
  }
  row_norm_grad_weight(pool, shape[0], shape[1], x.typed_data(), grad.typed_data(), epsilon.typed_data()[0], centred,
                       dw->typed_data());
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_BIND xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(RowNorm, proa::row_norm_handler,
                              PROA_BIND.Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("centred")
                                  .Attr<bool>("has_weight")
                                  .Attr<bool>("has_bias"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(RowNormGradInput, proa::row_norm_grad_input_handler,
                              PROA_BIND.Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("centred"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(RowNormGradWeight, proa::row_norm_grad_weight_handler,
                              PROA_BIND.Arg<proa::Floats>().Arg<proa::Floats>().Ret<proa::Floats>().Attr<bool>("centred"));
