// Handler of depthwise convolutions of models that are only run, with everything behind them: bias, residual, activation.
#include "depthwise_lines.h"
#include "ending.h"

namespace proa {

struct End {
  const Ending& ending;
  const float* y;

  Vector operator()(Vector sum, int64_t channel, const float* to, int lanes) const {
    if (ending.column_bias) sum += load_up_to(ending.column_bias + channel, lanes);
    if (ending.residual) sum += load_up_to(ending.residual + (to - y), lanes);
    return ending.activate(sum);
  }
};

// Of the operands after the weight, the bias comes first; the residual has the shape and order of the result.
static ffi::Error fused_depthwise(ffi::ThreadPool pool, Floats x, Floats weight, ffi::RemainingArgs more, Result y,
                                  Sizes window, bool has_bias, bool has_residual, int64_t activation, float low,
                                  float high) {
  const auto misfit = ffi::Error::InvalidArgument("fused depthwise convolution: the shapes do not fit");
  Space s;
  if (!s.read(x.dimensions(), y->dimensions(), window) || more.size() != size_t(has_bias) + size_t(has_residual) ||
      int64_t(weight.element_count()) != s.channels * s.taps() || activation < 0 || activation >= kNumActivations) {
    return misfit;
  }
  Ending ending;
  ending.activation = activation;
  ending.low = low;
  ending.high = high;
  if (has_bias) {
    const auto bias = more.get<Floats>(0);
    if (!bias.has_value() || int64_t(bias->element_count()) != s.channels) return misfit;
    ending.column_bias = bias->typed_data();
  }
  if (has_residual) {
    const auto residual = more.get<Floats>(has_bias);
    if (!residual.has_value() || residual->element_count() != y->element_count()) return misfit;
    ending.residual = residual->typed_data();
  }
  float* filters = scratch<0>(s.channels * s.taps());
  turn_filters(weight.typed_data(), s.channels, s.taps(), filters);
  filter_image(pool, s, x.typed_data(), filters, y->typed_data(), End{ending, y->typed_data()});
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
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
