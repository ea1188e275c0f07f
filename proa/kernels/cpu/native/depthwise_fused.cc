// Handler of depthwise convolutions of models that are only run, with everything behind them: bias, residual, activation.
#include "depthwise_lines.h"
#include "epilogue.h"

namespace proa {

struct End {
  const Epilogue& epilogue;
  const float* y;

  Vector operator()(Vector sum, int64_t channel, const float* to, int lanes) const {
    if (epilogue.column_bias) sum += load_up_to(epilogue.column_bias + channel, lanes);
    if (epilogue.residual) sum += load_up_to(epilogue.residual + (to - y), lanes);
    return epilogue.scaled(epilogue.activate(sum), channel, lanes);
  }
};

// Filters are [tap][channel]; a residual has the shape and order of the result.
static ffi::Error fused_depthwise(ffi::ThreadPool pool, Floats x, Floats filters, ffi::RemainingArgs more, Result y,
                                  Sizes window, bool has_bias, bool has_residual, bool has_after, int64_t activation,
                                  float low, float high) {
  const auto misfit = ffi::Error::InvalidArgument("fused depthwise convolution: the shapes do not fit");
  Space s;
  Epilogue epilogue;
  if (!s.read(x.dimensions(), y->dimensions(), window) || int64_t(filters.element_count()) != s.channels * s.taps() ||
      !read_epilogue(more, has_bias, has_residual, has_after, s.channels, int64_t(y->element_count()), epilogue.column_bias,
                   epilogue, activation, low, high)) {
    return misfit;
  }
  filter_image(pool, s, x.typed_data(), filters.typed_data(), y->typed_data(), End{epilogue, y->typed_data()});
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedDepthwise, proa::fused_depthwise,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<bool>("has_after")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
