// Handlers of convolutions for XLA. Images are [batch, channels, ...] with one to three axes of space; their channels lie
// side by side in memory. Weights are [filters, channels / groups, ...] as they are.
#include "convolution.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;

static bool has_weight(const Convolution& s, const Floats& weight) {
  return static_cast<int64_t>(weight.element_count()) == s.filters * s.group_channels() * s.taps();
}

static ffi::Error misfit() { return ffi::Error::InvalidArgument("convolution: the shapes do not fit"); }

static ffi::Error convolution(ffi::ThreadPool pool, Floats x, Floats weight, ffi::RemainingArgs more,
                              ffi::ResultBuffer<ffi::F32> y, Sizes window) {
  Convolution s;
  if (!describe(s, x.dimensions(), y->dimensions(), window) || !has_weight(s, weight)) return misfit();
  const float* bias = nullptr;
  if (more.size() == 1) {
    auto given = more.get<Floats>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != s.filters) return misfit();
    bias = given->typed_data();
  }
  if (y->element_count() == 0) return ffi::Error::Success();
  convolve(pool, s, x.typed_data(), weight.typed_data(), bias, y->typed_data());
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_input(ffi::ThreadPool pool, Floats dy, Floats weight,
                                         ffi::ResultBuffer<ffi::F32> dx, Sizes window) {
  Convolution s;
  if (!describe(s, dx->dimensions(), dy.dimensions(), window) || !has_weight(s, weight)) return misfit();
  if (dy.element_count() == 0 || dx->element_count() == 0) {
    std::memset(dx->typed_data(), 0, sizeof(float) * dx->element_count());
    return ffi::Error::Success();
  }
  convolve_back(pool, s, dy.typed_data(), weight.typed_data(), dx->typed_data());
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_weight(ffi::ThreadPool pool, Floats x, Floats dy, ffi::ResultBuffer<ffi::F32> dw,
                                          Sizes window) {
  Convolution s;
  if (!describe(s, x.dimensions(), dy.dimensions(), window) || !has_weight(s, *dw)) return misfit();
  if (x.element_count() == 0 || dy.element_count() == 0) {
    std::memset(dw->typed_data(), 0, sizeof(float) * dw->element_count());
    return ffi::Error::Success();
  }
  convolve_weight(pool, s, x.typed_data(), dy.typed_data(), dw->typed_data());
  return ffi::Error::Success();
}

// Filters packed as [group][panel][tap, channel][32]; result and residual are floats or bfloat16.
static ffi::Error fused_convolution(ffi::ThreadPool pool, Floats x, Floats filters, ffi::RemainingArgs more,
                                    ffi::Result<ffi::AnyBuffer> y, Sizes window, bool has_bias, bool has_residual,
                                    bool has_after, int64_t activation, float low, float high) {
  Convolution s;
  Epilogue epilogue;
  const float* bias = nullptr;
  if (!describe(s, x.dimensions(), y->dimensions(), window) ||
      !read_epilogue(more, has_bias, has_residual, has_after, s.filters, int64_t(y->element_count()), bias, epilogue, activation, low,
                   high)) {
    return misfit();
  }
  if (static_cast<int64_t>(filters.element_count()) !=
      s.groups * round_up(s.group_filters(), kPanel) * s.group_channels() * s.taps()) {
    return misfit();
  }
  if (y->element_count() == 0) return ffi::Error::Success();
  const bool plain = activation == kNone && !has_residual && !has_after;
  const bool rounds = y->element_type() == ffi::BF16;
  if (!rounds && y->element_type() != ffi::F32) return misfit();
  convolve_packed(pool, s, x.typed_data(), filters.typed_data(), {y->untyped_data(), rounds, int64_t(y->element_count())},
                  bias, plain ? nullptr : &epilogue);
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_BIND xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Floats>().Arg<proa::Floats>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(Convolution, proa::convolution,
                              PROA_BIND.RemainingArgs().Ret<proa::Floats>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ConvolutionGradInput, proa::convolution_grad_input,
                              PROA_BIND.Ret<proa::Floats>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ConvolutionGradWeight, proa::convolution_grad_weight,
                              PROA_BIND.Ret<proa::Floats>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedConvolution, proa::fused_convolution,
                              PROA_BIND.RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<bool>("has_after")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
