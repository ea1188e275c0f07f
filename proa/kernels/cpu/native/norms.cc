// Handlers of normalisation for XLA.
#include "norms.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("normalisation: the shapes do not fit"); }

// Mean and variance (biased) of each channel of x [outer, channels, inner].
static ffi::Error channel_moments(ffi::ThreadPool pool, Floats x, Out mean, Out variance) {
  const auto shape = x.dimensions();
  if (shape.size() != 3 || int64_t(mean->element_count()) != shape[1] || int64_t(variance->element_count()) != shape[1]) {
    return misfit();
  }
  const int64_t outer = shape[0], channels = shape[1], inner = shape[2];
  std::vector<float> shift(channels);
  for (int64_t c = 0; c < channels; c++) shift[c] = x.typed_data()[c * inner];
  std::vector<double> sums(channels), squares(channels);
  channel_sums(pool, outer, channels, inner, x.typed_data(), nullptr, shift.data(), sums.data(), squares.data());
  const double count = double(outer) * inner;
  for (int64_t c = 0; c < channels; c++) {
    const double middle = sums[c] / count, rest = squares[c] / count - middle * middle;
    mean->typed_data()[c] = float(shift[c] + middle);
    variance->typed_data()[c] = rest < 0 ? 0.0f : float(rest);  // a NaN stays one
  }
  return ffi::Error::Success();
}

// Sums of the gradient, and of it times (x - mean), over each channel.
static ffi::Error channel_grad_sums(ffi::ThreadPool pool, Floats x, Floats grad, Floats mean, Out total, Out along) {
  const auto shape = x.dimensions();
  if (shape.size() != 3 || grad.element_count() != x.element_count() || int64_t(mean.element_count()) != shape[1] ||
      int64_t(total->element_count()) != shape[1] || int64_t(along->element_count()) != shape[1]) {
    return misfit();
  }
  std::vector<double> sums(shape[1]), products(shape[1]);
  channel_sums(pool, shape[0], shape[1], shape[2], x.typed_data(), grad.typed_data(), mean.typed_data(), sums.data(),
               products.data());
  for (int64_t c = 0; c < shape[1]; c++) {
    total->typed_data()[c] = float(sums[c]);
    along->typed_data()[c] = float(products[c]);
  }
  return ffi::Error::Success();
}

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

XLA_FFI_DEFINE_HANDLER_SYMBOL(ChannelMoments, proa::channel_moments, PROA_BIND.Ret<proa::Floats>().Ret<proa::Floats>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(ChannelGradSums, proa::channel_grad_sums,
                              PROA_BIND.Arg<proa::Floats>().Arg<proa::Floats>().Ret<proa::Floats>().Ret<proa::Floats>());

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
