// Handlers of scaled dot-product attention and its gradient for XLA.
#include "attention.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Any = ffi::AnyBuffer;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error misfit() { return ffi::Error::InvalidArgument("attention: the shapes do not fit"); }

// The measures of a call; false where shapes do not fit. A mask has four dimensions, each 1 or that of the scores.
static bool measure(Attention& a, const Any& query, const Any& key, const Any& value, const Floats& scale, const ffi::RemainingArgs& more, bool causal) {
  const auto q = query.dimensions(), k = key.dimensions(), v = value.dimensions();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || scale.element_count() != 1 || more.size() > 1) return false;
  if (q[0] != k[0] || q[0] != v[0] || q[2] != k[2] || q[2] != v[2] || q[3] != k[3] || k[1] != v[1]) return false;
  a.batch = q[0], a.queries = q[1], a.heads = q[2], a.width = q[3], a.keys = k[1], a.value_width = v[3];
  a.scale = scale.typed_data()[0];
  a.causal = causal;
  if (query.element_count() == 0 || key.element_count() == 0 || value.element_count() == 0) return false;
  if (more.size() == 0) return true;
  auto mask = more.get<ffi::AnyBuffer>(0);
  if (!mask.has_value() || mask->dimensions().size() != 4) return false;
  const int64_t scores[4] = {a.batch, a.heads, a.queries, a.keys};
  int64_t step = 1;
  for (int i = 3; i >= 0; i--) {
    const int64_t size = mask->dimensions()[i];
    if (size != 1 && size != scores[i]) return false;
    a.mask.steps[i] = size == 1 ? 0 : step;
    step *= size;
  }
  if (mask->element_type() == ffi::F32) a.mask.added = static_cast<const float*>(mask->untyped_data());
  else if (mask->element_type() == ffi::PRED) a.mask.shown = static_cast<const bool*>(mask->untyped_data());
  else return false;
  return true;
}

// Whether all are of the type of the first, and calls body with a number of it.
template <class Body>
static bool with_type(const Body& body, std::initializer_list<const Any*> buffers) {
  const auto type = (*buffers.begin())->element_type();
  for (const Any* buffer : buffers) {
    if (buffer->element_type() != type) return false;
  }
  if (type == ffi::F32) body(float{});
  else if (type == ffi::BF16) body(uint16_t{});
  else return false;
  return true;
}

template <class Number>
static const Number* data_of(const Any& buffer) {
  return static_cast<const Number*>(buffer.untyped_data());
}

static ffi::Error attention(ffi::ThreadPool pool, Any query, Any key, Any value, Floats scale,
                            ffi::RemainingArgs more, Out out, Out statistics, bool causal) {
  Attention a;
  if (!measure(a, query, key, value, scale, more, causal)) return misfit();
  if (int64_t(out->element_count()) != a.batch * a.queries * a.heads * a.value_width ||
      int64_t(statistics->element_count()) != 2 * a.batch * a.heads * a.queries) {
    return misfit();
  }
  const int64_t all_heads = a.batch * a.heads, blocks = ceil_div(a.queries, kQueries);
  // Few long sequences are divided among threads as well.
  const int64_t parts = smaller(blocks, larger<int64_t>(ceil_div(4 * threads_of(pool), all_heads), 1));
  const int64_t step = ceil_div(blocks, parts) * kQueries;
  const bool known = with_type([&](auto zero) {
    using Number = decltype(zero);
    parallel_for(pool, all_heads * parts, [&](int64_t task) {
      const int64_t head = task / parts, first = task % parts * step;
      if (first >= a.queries) return;
      attend(a, head / a.heads, head % a.heads, first, smaller(a.queries, first + step), data_of<Number>(query),
             data_of<Number>(key), data_of<Number>(value), out->typed_data(),
             statistics->typed_data() + 2 * head * a.queries);
    });
  }, {&query, &key, &value});
  return known ? ffi::Error::Success() : misfit();
}

static ffi::Error attention_grad(ffi::ThreadPool pool, Any query, Any key, Any value, Floats scale, Floats out, Any grad,
                                 Floats statistics, ffi::RemainingArgs more, Out query_grad, Out key_grad,
                                 Out value_grad, bool causal) {
  Attention a;
  if (!measure(a, query, key, value, scale, more, causal)) return misfit();
  const int64_t size = a.batch * a.queries * a.heads * a.value_width;
  if (int64_t(out.element_count()) != size || int64_t(grad.element_count()) != size ||
      int64_t(statistics.element_count()) != 2 * a.batch * a.heads * a.queries ||
      query_grad->element_count() != query.element_count() || key_grad->element_count() != key.element_count() ||
      value_grad->element_count() != value.element_count()) {
    return misfit();
  }
  const bool known = with_type([&](auto zero) {
    using Number = decltype(zero);
    parallel_for(pool, a.batch * a.heads, [&](int64_t head) {
      attend_back(a, head / a.heads, head % a.heads, data_of<Number>(query), data_of<Number>(key), data_of<Number>(value),
                  out.typed_data(), data_of<Number>(grad), statistics.typed_data() + 2 * head * a.queries,
                  query_grad->typed_data(), key_grad->typed_data(), value_grad->typed_data());
    });
  }, {&query, &key, &value, &grad});
  return known ? ffi::Error::Success() : misfit();
}

}  // namespace proa

#define PROA_BIND                              \
  xla::ffi::Ffi::Bind()                        \
      .Ctx<xla::ffi::ThreadPool>()             \
      .Arg<proa::Any>()                        \
      .Arg<proa::Any>()                        \
      .Arg<proa::Any>()                        \
      .Arg<proa::Floats>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Attention, proa::attention,
    PROA_BIND.RemainingArgs().Ret<proa::Floats>().Ret<proa::Floats>().Attr<bool>("causal"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(AttentionGrad, proa::attention_grad,
                              PROA_BIND.Arg<proa::Floats>()
                                  .Arg<proa::Any>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("causal"));
