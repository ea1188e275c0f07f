// Handler of depthwise convolutions of models that are only run, with everything behind them: bias, residual, activation.
#include "depthwise_lines.h"
#include "epilogue.h"

namespace proa {

// What stands behind the sums of a line, done while they are in the first caches: `sums` [columns][channels], of which
// channels [begin, end) are meant; `at` is the place of the line in result and residual.
static void finish_line(const Epilogue& epilogue, const Space& s, float* sums, int64_t begin, int64_t end, int64_t at) {
  if (epilogue.activation == kNone && !epilogue.residual && !epilogue.after) return;
  const int64_t channels = s.channels, columns = s.out[2];
  const bool joined = !epilogue.after && begin == 0 && end == channels;  // as one long column
  const int64_t count = joined ? columns * channels : end - begin;
  epilogue.with_activation([&](const auto& activate) {
    for (int64_t column = 0; column < (joined ? 1 : columns); column++) {
      float* here = sums + column * channels + begin;
      const float* residual = epilogue.residual ? epilogue.residual + at + column * channels + begin : nullptr;
      each_vector(count, [&](int64_t i, int lanes, auto whole) {
        Vector sum = take<whole>(here + i, lanes);
        if (residual) sum += take<whole>(residual + i, lanes);
        put<whole>(here + i, epilogue.scaled(activate(sum), begin + i, lanes), lanes);
      });
    }
  });
}

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
  const int64_t line = s.out[2] * s.channels;
  float* to = y->typed_data();
  filter_image(pool, s, x.typed_data(), filters.typed_data(), epilogue.column_bias,
               [&](int64_t l) { return to + l * line; },
               [&](int64_t l, float* sums, int64_t begin, int64_t end) {
                 finish_line(epilogue, s, sums, begin, end, l * line);
               });
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
