// What is done to a sum once it is whole, in models that are only run: bias, residual, activation.
#pragma once

#include <cmath>

#include "exponential.h"
#include "parallel.h"
#include "vectors.h"

namespace proa {

// The numbers are those of kernels/cpu/fused.py.
enum Activation : int64_t { kNone, kRelu, kClip, kHardswish, kSilu, kSigmoid, kGelu, kGeluByTanh, kTanh, kNumActivations };

// What is done to a sum once it is whole. The residual lies in memory as the result does.
struct Epilogue {
  const float* column_bias = nullptr;
  const float* residual = nullptr;
  const uint16_t* rounded_residual = nullptr;  // the same as bfloat16
  const float* after = nullptr;  // a factor for each column, then a number to add for each: of what the activation gave
  int64_t columns = 0;
  int64_t activation = kNone;
  float low = 0, high = 0;

  // What is done behind the activation, from a column on.
  Vector scaled(Vector x, int64_t column, int count) const {
    if (after == nullptr) return x;
    return x * load_up_to(after + column, count) + load_up_to(after + columns + column, count);
  }

  Vector activate(Vector x) const {
    switch (activation) {  // NaN stays NaN in all of them
      case kRelu: return short_one<kRelu>(x);
      case kClip: return short_one<kClip>(x);
      case kHardswish: return short_one<kHardswish>(x);
      case kSilu: return x / (all(1.0f) + exponential(-x));
      case kSigmoid: return all(1.0f) / (all(1.0f) + exponential(-x));
      case kGelu: {
        Vector share, density;
        normal_distribution(x, share, density);
        return x * share;
      }
      case kGeluByTanh: {  // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
        const Vector u = x * (all(1.5957691216f) + all(0.0713548163f) * x * x);
        return x / (all(1.0f) + exponential(-u));
      }
      case kTanh: {
        // Small arguments by the first terms of the series: 1 - 2 / (exp(2 x) + 1) would cancel there.
        const Vector square = x * x;
        const Vector small = x * (all(1.0f) + square * (all(-1.0f / 3) + square * (all(2.0f / 15) + square * (
                             all(-17.0f / 315) + square * all(62.0f / 2835)))));
        const Vector large = all(1.0f) - all(2.0f) / (exponential(x + x) + all(1.0f));
        return square < 0.0625f ? small : large;
      }
      default: return x;
    }
  }

  // Calls body(activate) if the activation is a short one, else `other`: where many vectors follow, it is asked once.
  template <class Body, class Other>
  inline __attribute__((always_inline)) void with_short_activation(const Body& body, const Other& other) const {
    switch (activation) {
      case kNone: return body([](Vector x) { return x; });
      case kRelu: return body([this](Vector x) { return short_one<kRelu>(x); });
      case kClip: return body([this](Vector x) { return short_one<kClip>(x); });
      case kHardswish: return body([this](Vector x) { return short_one<kHardswish>(x); });
      default: return other();
    }
  }
  template <class Body>
  void with_activation(const Body& body) const {
    with_short_activation(body, [&] { body([this](Vector x) { return activate(x); }); });
  }

 private:
  template <int64_t which>
  Vector short_one(Vector x) const {
    if constexpr (which == kRelu) return x < 0.0f ? Vector{} : x;
    if constexpr (which == kClip) {
      x = x < low ? all(low) : x;
      return x > high ? all(high) : x;
    }
    Vector gate = x + all(3.0f);
    gate = gate < 0.0f ? Vector{} : gate;
    gate = gate > 6.0f ? all(6.0f) : gate;
    return x * gate * all(1.0f / 6);
  }
};

// The bias, the residual and what is behind the activation among further operands, in this order.
inline bool read_epilogue(ffi::RemainingArgs& more, bool has_bias, bool has_residual, bool has_after, int64_t channels,
                        int64_t size, const float*& bias, Epilogue& epilogue, int64_t activation, float low, float high) {
  if (static_cast<int64_t>(more.size()) != has_bias + has_residual + has_after || activation < 0 ||
      activation >= kNumActivations) {
    return false;
  }
  if (has_bias) {
    auto given = more.get<ffi::Buffer<ffi::F32>>(0);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != channels) return false;
    bias = given->typed_data();
  }
  if (has_residual) {
    auto given = more.get<ffi::AnyBuffer>(has_bias);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != size) return false;
    const bool rounded = given->element_type() == ffi::BF16;
    if (!rounded && given->element_type() != ffi::F32) return false;
    if (rounded) epilogue.rounded_residual = static_cast<const uint16_t*>(given->untyped_data());
    else epilogue.residual = static_cast<const float*>(given->untyped_data());
  }
  if (has_after) {
    auto given = more.get<ffi::Buffer<ffi::F32>>(has_bias + has_residual);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != 2 * channels) return false;
    epilogue.after = given->typed_data();
    epilogue.columns = channels;
  }
  epilogue.activation = activation;
  epilogue.low = low;
  epilogue.high = high;
  return true;
}

}  // namespace proa
