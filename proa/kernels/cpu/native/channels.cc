// Handlers of the sums over channels for XLA. Images are [images, channels, ...] by their shape; `last` says that channels lie
// side by side in memory all the same. Their numbers are float32 or bfloat16; sums are float32.
#include "channels.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Any = ffi::AnyBuffer;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("sums over channels: the shapes do not fit"); }

struct Sizes {
  int64_t outer, channels, inner;

  explicit Sizes(const Any& x) {
    const auto shape = x.dimensions();
    outer = shape[0], channels = shape[1], inner = 1;
    for (size_t i = 2; i < shape.size(); i++) inner *= shape[i];
  }
  int64_t positions() const { return outer * inner; }
};

static bool fits(int64_t channels, const Floats& values) { return int64_t(values.element_count()) == channels; }

// Calls body with pointers to the numbers of the images, which are all of one type; false where that is none of ours.
template <class Body, class... More>
static bool with_numbers(const Body& body, const Any& first, const More&... more) {
  if (((first.element_type() != more.element_type()) || ...)) return false;
  const auto call = [&](auto zero) {
    using Number = decltype(zero);
    body(static_cast<const Number*>(first.untyped_data()), static_cast<const Number*>(more.untyped_data())...);
  };
  if (first.element_type() == ffi::F32) call(float{});
  else if (first.element_type() == ffi::BF16) call(uint16_t{});
  else return false;
  return true;
}

// A number near the mean of each channel: that of a few positions far from each other. Where it is not finite, 0.
template <class Number>
static std::vector<float> middles(const Sizes& sizes, const Number* x, bool last) {
  constexpr int64_t kSamples = 8;
  std::vector<float> middle(sizes.channels, 0.0f);
  if (!sizes.positions()) return middle;
  for (int64_t sample = 0; sample < kSamples; sample++) {
    const int64_t position = sizes.positions() * sample / kSamples;
    const int64_t plane = position / sizes.inner * sizes.channels * sizes.inner + position % sizes.inner;
    const Number* from = x + (last ? position * sizes.channels : plane);
    const int64_t step = last ? 1 : sizes.inner;
    for (int64_t c = 0; c < sizes.channels; c++) middle[c] += value_of(from[c * step]) * (1.0f / kSamples);
  }
  for (float& one : middle) one = std::isfinite(one) ? one : 0.0f;
  return middle;
}

// Mean and variance (biased) of each channel.
template <class Number>
static void find_moments(ffi::ThreadPool& pool, const Sizes& sizes, const Number* data, float* mean, float* variance, bool last) {
  const int64_t channels = sizes.channels;
  const std::vector<float> middle = middles(sizes, data, last);
  std::vector<double> sums(channels), squares(channels);
  if (last) {
    const Rows rows(sizes.positions(), channels);
    const std::vector<float> wide = rows.along(middle.data());
    sum_rows(pool, rows, [from = wide.data(), data](int64_t place, int64_t lane, int count, Vector& p, Vector& q) {
      const Vector d = load_up_to(data + place, count) - load_up_to(from + lane, count);
      p += d;
      q += d * d;
    }, sums.data(), squares.data());
  } else {
    sum_planes(pool, sizes.outer, channels, sizes.inner, [&](int64_t place, int64_t c, int count, Vector& p, Vector& q) {
      const Vector d = keep(load_up_to(data + place, count) - all(middle[c]), count);
      p += d;
      q += d * d;
    }, sums.data(), squares.data());
  }
  const double count = double(sizes.positions());
  for (int64_t c = 0; c < channels; c++) {
    const double rest = sums[c] / count, square = squares[c] / count - rest * rest;
    mean[c] = float(middle[c] + rest);
    variance[c] = square < 0 ? 0.0f : float(square);  // a NaN stays one
  }
}

static ffi::Error channel_moments(ffi::ThreadPool pool, Any x, Out mean, Out variance, bool last) {
  if (x.dimensions().size() < 2) return misfit();
  const Sizes sizes(x);
  if (!fits(sizes.channels, *mean) || !fits(sizes.channels, *variance)) return misfit();
  const bool known = with_numbers([&](const auto* data) {
    find_moments(pool, sizes, data, mean->typed_data(), variance->typed_data(), last);
  }, x);
  return known ? ffi::Error::Success() : misfit();
}

// What stands behind a batch norm; as in normalisation.py.
enum Activation { kNone, kRelu, kHardswish };

// A gradient taken back through the activation, where z is what it was applied to.
template <int activation>
static Vector before(Vector grad, Vector z) {
  const Vector zero{}, three = all(3.0f);
  if (activation == kRelu) return z > zero ? grad : zero;
  if (activation == kHardswish) return grad * (z <= -three ? zero : z >= three ? all(1.0f) : z * (1.0f / 3) + 0.5f);
  return grad;
}

template <int activation, class Number>
static void sum_grads(ffi::ThreadPool& pool, const Rows& rows, const Number* x, const Number* grad, const float* mean,
                      const float* scale, const float* shift, double* sums, double* products) {
  const std::vector<float> means = rows.along(mean), scales = rows.along(scale), shifts = rows.along(shift);
  const float *m = means.data(), *a = scales.data(), *b = shifts.data();
  sum_rows(pool, rows, [=](int64_t place, int64_t lane, int count, Vector& p, Vector& q) {
    const Vector d = load_up_to(x + place, count) - load_up_to(m + lane, count);
    Vector g = load_up_to(grad + place, count);
    if (activation != kNone) g = before<activation>(g, d * load(a + lane) + load(b + lane));
    p += g;
    q += g * d;
  }, sums, products);
}

// Sums of the gradient, and of it times (x - mean), over each channel. With an `activation` the gradient is that of its
// result, and `more` are scale and shift: it was applied to (x - mean) * scale + shift.
static ffi::Error channel_grad_sums(ffi::ThreadPool pool, Any x, Any grad, Floats mean, ffi::RemainingArgs more,
                                    Out total, Out along, bool last, int64_t activation) {
  if (x.dimensions().size() < 2 || grad.element_count() != x.element_count()) return misfit();
  const Sizes sizes(x);
  const int64_t channels = sizes.channels;
  if (!fits(channels, mean) || !fits(channels, *total) || !fits(channels, *along)) return misfit();
  const float* middle = mean.typed_data();
  const float* parameters[2] = {middle, middle};  // unused without an activation
  if (more.size() != (activation == kNone ? 0 : 2) || (activation != kNone && !last)) return misfit();
  for (size_t i = 0; i < more.size(); i++) {
    auto one = more.get<Floats>(i);
    if (!one.has_value() || !fits(channels, *one)) return misfit();
    parameters[i] = one->typed_data();
  }
  std::vector<double> sums(channels), products(channels);
  const bool known = with_numbers([&](const auto* data, const auto* grads) {
    using Number = std::decay_t<decltype(*data)>;
    if (last) {
      const Rows rows(sizes.positions(), channels);
      const auto sum = activation == kRelu        ? sum_grads<kRelu, Number>
                       : activation == kHardswish ? sum_grads<kHardswish, Number>
                                                  : sum_grads<kNone, Number>;
      sum(pool, rows, data, grads, middle, parameters[0], parameters[1], sums.data(), products.data());
    } else {
      sum_planes(pool, sizes.outer, channels, sizes.inner, [&](int64_t place, int64_t c, int count, Vector& p, Vector& q) {
        const Vector g = load_up_to(grads + place, count);
        p += g;
        q += g * (load_up_to(data + place, count) - all(middle[c]));
      }, sums.data(), products.data());
    }
  }, x, grad);
  if (!known) return misfit();
  for (int64_t c = 0; c < channels; c++) {
    total->typed_data()[c] = float(sums[c]);
    along->typed_data()[c] = float(products[c]);
  }
  return ffi::Error::Success();
}

// The sum of each channel of an image that lies with its channels side by side.
static ffi::Error channel_sums(ffi::ThreadPool pool, Any x, Out total) {
  if (x.dimensions().size() < 2) return misfit();
  const Sizes sizes(x);
  if (!fits(sizes.channels, *total)) return misfit();
  std::vector<double> sums(sizes.channels), unused(sizes.channels);
  const bool known = with_numbers([&](const auto* data) {
    sum_rows(pool, Rows(sizes.positions(), sizes.channels),
             [data](int64_t place, int64_t, int count, Vector& p, Vector&) { p += load_up_to(data + place, count); },
             sums.data(), unused.data());
  }, x);
  if (!known) return misfit();
  for (int64_t c = 0; c < sizes.channels; c++) total->typed_data()[c] = float(sums[c]);
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_BIND xla::ffi::Ffi::Bind().Ctx<xla::ffi::ThreadPool>().Arg<proa::Any>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(ChannelMoments, proa::channel_moments,
                              PROA_BIND.Ret<proa::Floats>().Ret<proa::Floats>().Attr<bool>("last"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ChannelGradSums, proa::channel_grad_sums,
                              PROA_BIND.Arg<proa::Any>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("last")
                                  .Attr<int64_t>("activation"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(ChannelSums, proa::channel_sums, PROA_BIND.Ret<proa::Floats>());
