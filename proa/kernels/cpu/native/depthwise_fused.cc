// Handler of depthwise convolutions of models that are only run, with everything behind them: bias, residual, activation.
#include "depthwise_lines.h"
#include "epilogue.h"
#include "pairs.h"

namespace proa {

// What stands behind the sums of a line, done while they are in the first caches: `sums` [columns][channels], of which
// channels [begin, end) are meant; `at` is the place of the line in result and residual. The result is `rounded` or, if that
// is null, in the place of the sums.
static void finish_line(const Epilogue& epilogue, const Space& s, float* sums, int64_t begin, int64_t end, int64_t at,
                        uint16_t* rounded) {
  const bool plain = epilogue.activation == kNone && !epilogue.residual && !epilogue.rounded_residual && !epilogue.after;
  if (plain && !rounded) return;
  const int64_t channels = s.channels, columns = s.out[2];
  const bool joined = !epilogue.after && begin == 0 && end == channels;  // as one long column
  const int64_t count = joined ? columns * channels : end - begin;
  epilogue.with_activation([&](const auto& activate) {
    for (int64_t column = 0; column < (joined ? 1 : columns); column++) {
      const int64_t first = column * channels + begin;
      each_vector(count, [&](int64_t i, int lanes, auto whole) {
        float* here = sums + first + i;
        Vector sum = take<whole>(here, lanes);
        if (epilogue.residual) sum += take<whole>(epilogue.residual + at + first + i, lanes);
        if (epilogue.rounded_residual) sum += take<whole>(epilogue.rounded_residual + at + first + i, lanes);
        sum = epilogue.scaled(activate(sum), begin + i, lanes);
        if (rounded) store_halves(rounded + at + first + i, Pairs::rounded(sum), whole ? kLanes : lanes);
        else put<whole>(here, sum, lanes);
      });
    }
  });
}

template <class Number>
static void filter(ffi::ThreadPool& pool, const Space& s, const Number* x, const float* filters, const Epilogue& epilogue,
                   float* sums, uint16_t* rounded) {
  const int64_t line = s.out[2] * s.channels;
  filter_image(pool, s, x, filters, epilogue.column_bias,
               [&](int64_t l) { return rounded ? scratch<2>(line) : sums + l * line; },
               [&](int64_t l, float* made, int64_t begin, int64_t end) {
                 finish_line(epilogue, s, made, begin, end, l * line, rounded);
               });
}

// Filters are [tap][channel]; a residual has the shape and order of the result. Images are floats or bfloat16.
static ffi::Error fused_depthwise(ffi::ThreadPool pool, ffi::AnyBuffer x, Floats filters, ffi::RemainingArgs more,
                                  ffi::Result<ffi::AnyBuffer> y, Sizes window, bool has_bias, bool has_residual,
                                  bool has_after, int64_t activation, float low, float high) {
  const auto misfit = ffi::Error::InvalidArgument("fused depthwise convolution: the shapes do not fit");
  Space s;
  Epilogue epilogue;
  if (!is_number(x) || !is_number(*y) || !s.read(x.dimensions(), y->dimensions(), window) ||
      int64_t(filters.element_count()) != s.channels * s.taps() ||
      !read_epilogue(more, has_bias, has_residual, has_after, s.channels, int64_t(y->element_count()), epilogue.column_bias,
                   epilogue, activation, low, high)) {
    return misfit;
  }
  const bool rounds = y->element_type() == ffi::BF16;
  float* sums = rounds ? nullptr : static_cast<float*>(y->untyped_data());
  uint16_t* rounded = rounds ? static_cast<uint16_t*>(y->untyped_data()) : nullptr;
  const Numbers image = numbers_of(x);
  if (image.wide) filter(pool, s, image.floats(), filters.typed_data(), epilogue, sums, rounded);
  else filter(pool, s, image.halves(), filters.typed_data(), epilogue, sums, rounded);
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(FusedDepthwise, proa::fused_depthwise,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<bool>("has_after")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
