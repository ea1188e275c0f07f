// Handlers of convolutions for XLA. Images are [batch, channels, height, width].
#include "convolution.h"

#include "depthwise.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Sizes = ffi::Span<const int64_t>;

// `window`: stride, padding before, dilation, each for height and width; then groups.
template <class Shape>
static bool describe(Convolution& s, const Shape& x, const Shape& weight, const Shape& y, Sizes window) {
  if (x.size() != 4 || weight.size() != 4 || y.size() != 4 || window.size() != 7) return false;
  s = {x[0], x[1], x[2], x[3], weight[0], weight[2], weight[3], y[2], y[3],
       window[0], window[1], window[2], window[3], window[4], window[5], window[6]};
  return s.groups > 0 && s.stride_h > 0 && s.stride_w > 0 && s.dilation_h > 0 && s.dilation_w > 0 &&
         s.channels % s.groups == 0 && s.filters % s.groups == 0 && weight[1] * s.groups == s.channels &&
         y[0] == s.images && y[1] == s.filters && s.in_image() < (int64_t{1} << 26) && s.out_image() < (int64_t{1} << 26);
}

static ffi::Error misfit() { return ffi::Error::InvalidArgument("convolution: the shapes do not fit"); }

static ffi::Error convolution(ffi::ThreadPool pool, Floats x, Floats weight, ffi::RemainingArgs more,
                              ffi::ResultBuffer<ffi::F32> y, Sizes window) {
  Convolution s;
  if (!describe(s, x.dimensions(), weight.dimensions(), y->dimensions(), window)) return misfit();
  const float* bias = nullptr;
  if (more.size() == 1) {
    auto given = more.get<Floats>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != s.filters) return misfit();
    bias = given->typed_data();
  }
  (s.is_depthwise() ? convolve_depthwise : convolve)(pool, s, x.typed_data(), weight.typed_data(), bias,
                                                     y->typed_data());
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_input(ffi::ThreadPool pool, Floats dy, Floats weight,
                                         ffi::ResultBuffer<ffi::F32> dx, Sizes window) {
  Convolution s;
  if (!describe(s, dx->dimensions(), weight.dimensions(), dy.dimensions(), window)) return misfit();
  (s.is_depthwise() ? convolve_depthwise_back : convolve_back)(pool, s, dy.typed_data(), weight.typed_data(),
                                                               dx->typed_data());
  return ffi::Error::Success();
}

static ffi::Error convolution_grad_weight(ffi::ThreadPool pool, Floats x, Floats dy, ffi::ResultBuffer<ffi::F32> dw,
                                          Sizes window) {
  Convolution s;
  if (!describe(s, x.dimensions(), dw->dimensions(), dy.dimensions(), window)) return misfit();
  (s.is_depthwise() ? convolve_depthwise_weight : convolve_weight)(pool, s, x.typed_data(), dy.typed_data(),
                                                                   dw->typed_data());
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Convolution, proa::convolution,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ConvolutionGradInput, proa::convolution_grad_input,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ConvolutionGradWeight, proa::convolution_grad_weight,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));
