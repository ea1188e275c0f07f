// Handlers of convolutions in bfloat16 for XLA; images and weights lie as those of convolution.cc. An operand may hold floats,
// which are rounded first; a result that is float32 is not rounded.
#include "bfloat_convolution.h"

namespace proa {

using Any = ffi::AnyBuffer;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("convolution in bfloat16: the shapes or types do not fit"); }

static bool fit(Convolution& s, const Any& x, const Any& y, const Any& weight, Sizes window) {
  return is_number(x) && is_number(y) && is_number(weight) && describe(s, x.dimensions(), y.dimensions(), window) &&
         int64_t(weight.element_count()) == s.filters * s.group_channels() * s.taps();
}

static Output output_of(ffi::Result<Any>& result) {
  return {result->untyped_data(), result->element_type() == ffi::BF16, int64_t(result->element_count())};
}

static bool fill_empty(const Any& operand, const Output& result) {
  if (operand.element_count() != 0 && result.size != 0) return false;
  if (result.size) std::memset(result.data, 0, (result.rounds ? sizeof(uint16_t) : sizeof(float)) * result.size);
  return true;
}

static ffi::Error convolution(ffi::ThreadPool pool, Any x, Any weight, ffi::RemainingArgs more, ffi::Result<Any> y,
                              Sizes window) {
  Convolution s;
  if (!fit(s, x, *y, weight, window) || s.group_channels() % 2 != 0 || s.group_channels() == 0) return misfit();
  const float* bias = nullptr;
  if (more.size() > 0 && !read_bias(more, s.filters, bias)) return misfit();
  if (y->element_count() == 0) return ffi::Error::Success();
  convolve_pairs(pool, s, numbers_of(x), numbers_of(weight), bias, output_of(y));
  return ffi::Error::Success();
}

// Filters packed as [group][panel][tap, pair of channels][32][2].
static ffi::Error fused_convolution(ffi::ThreadPool pool, Any x, ffi::Buffer<ffi::BF16> filters, ffi::RemainingArgs more,
                                    ffi::Result<Any> y, Sizes window, bool has_bias,
                                    bool has_residual, bool has_after, int64_t activation, float low, float high) {
  Convolution s;
  Epilogue epilogue;
  const float* bias = nullptr;
  const int64_t size = y->element_count();
  if (!is_number(x) || !is_number(*y) || !describe(s, x.dimensions(), y->dimensions(), window) ||
      s.group_channels() % 2 != 0 || s.group_channels() == 0 ||
      !read_epilogue(more, has_bias, has_residual, has_after, s.filters, size, bias, epilogue, activation, low, high) ||
      int64_t(filters.element_count()) != s.groups * round_up(s.group_filters(), kPanel) * s.group_channels() * s.taps()) {
    return misfit();
  }
  if (size == 0) return ffi::Error::Success();
  const bool plain = activation == kNone && !has_residual && !has_after;
  convolve_packed_pairs(pool, s, numbers_of(x), static_cast<const float*>(filters.untyped_data()), bias,
                        plain ? nullptr : &epilogue, output_of(y));
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_input(ffi::ThreadPool pool, Any dy, Any weight, ffi::Result<Any> dx, Sizes window) {
  Convolution s;
  if (!fit(s, *dx, dy, weight, window) || s.group_filters() % 2 != 0) return misfit();
  if (fill_empty(dy, output_of(dx))) return ffi::Error::Success();
  convolve_pairs_back(pool, s, numbers_of(dy), numbers_of(weight), output_of(dx));
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_weight(ffi::ThreadPool pool, Any x, Any dy, ffi::Result<Any> dw, Sizes window) {
  Convolution s;
  if (!fit(s, x, dy, *dw, window)) return misfit();
  if (x.element_count() == 0 || fill_empty(dy, output_of(dw))) {
    fill_empty(x, output_of(dw));
    return ffi::Error::Success();
  }
  convolve_pairs_weight(pool, s, numbers_of(x), numbers_of(dy), output_of(dw));
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_BIND xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Any>().Arg<proa::Any>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(BfloatConvolution, proa::convolution,
                              PROA_BIND.RemainingArgs().Ret<proa::Any>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(BfloatConvolutionGradInput, proa::convolution_grad_input,
                              PROA_BIND.Ret<proa::Any>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(BfloatConvolutionGradWeight, proa::convolution_grad_weight,
                              PROA_BIND.Ret<proa::Any>().Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedBfloatConvolution, proa::fused_convolution,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Any>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::BF16>>()
                                  .RemainingArgs()
                                  .Ret<proa::Any>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<bool>("has_after")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
