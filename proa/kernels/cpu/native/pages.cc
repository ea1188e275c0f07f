// Handlers of attention over pages and of writing into them.
#include "pages.h"

#include <string>

namespace proa {

using Any = ffi::AnyBuffer;
using Whole = ffi::Buffer<ffi::S32>;
using Floats = ffi::Buffer<ffi::F32>;

static ffi::Error unfit(const char* what) { return ffi::Error::InvalidArgument(std::string("pages: ") + what); }

static bool read_pool(const Any& from, Pool* to) {
  const auto shape = from.dimensions();
  if (shape.size() != 4) return false;
  switch (from.element_type()) {
    case ffi::F32: to->kind = Pool::kFloat; break;
    case ffi::F16: to->kind = Pool::kHalf; break;
    case ffi::BF16: to->kind = Pool::kBrain; break;
    case ffi::S8: to->kind = Pool::kByte; break;
    default: return false;
  }
  to->data = from.untyped_data();
  to->heads = shape[2];
  to->size = shape[3];
  return true;
}

static ffi::Error paged_attention(ffi::ThreadPool pool, Floats query, Any keys, Any values, Whole tables, Whole positions,
                                  ffi::RemainingArgs more, ffi::ResultBuffer<ffi::F32> out, bool has_sinks,
                                  int64_t window, float scale, float cap) {
  PagedStep step;
  const auto q = query.dimensions(), k = keys.dimensions(), v = values.dimensions(), t = tables.dimensions();
  if (q.size() != 4 || t.size() != 2 || !read_pool(keys, &step.keys) || !read_pool(values, &step.values)) {
    return unfit("wrong ranks or types");
  }
  step.sequences = q[0], step.length = q[1], step.heads = q[2];
  step.pages = k[0], step.page = k[1], step.width = t[1];
  if (k[0] != v[0] || k[1] != v[1] || k[2] != v[2] || k[3] != q[3] || t[0] != q[0] || k[2] < 1 || q[2] % k[2] ||
      static_cast<int64_t>(positions.element_count()) != q[0] * q[1] ||
      static_cast<int64_t>(out->element_count()) != q[0] * q[1] * q[2] * v[3]) {
    return unfit("the shapes do not fit");
  }
  if (step.pages < 1 || step.page < 1 || step.width < 1) return unfit("there are no pages");
  size_t next = 0;
  auto floats = [&](int64_t count, const float** to) {
    auto given = more.get<Floats>(next++);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != count) return false;
    *to = given->typed_data();
    return true;
  };
  step.sinks = nullptr;
  if (has_sinks && !floats(step.heads, &step.sinks)) return unfit("the sinks do not fit");
  const int64_t scales = k[0] * k[1] * k[2];
  if (step.keys.kind == Pool::kByte && !floats(scales, &step.keys.scales)) return unfit("the scales do not fit");
  if (step.values.kind == Pool::kByte && !floats(scales, &step.values.scales)) return unfit("the scales do not fit");
  step.query = query.typed_data();
  step.out = out->typed_data();
  step.tables = tables.typed_data();
  step.positions = positions.typed_data();
  step.window = window;
  step.scale = scale;
  step.cap = cap;
  if (query.element_count() == 0 || v[3] == 0) return ffi::Error::Success();
  int64_t furthest = 0;
  for (int64_t i = 0; i < step.sequences * step.length; i++) furthest = larger<int64_t>(furthest, step.positions[i]);
  const int64_t heads = step.keys.heads, rows = step.groups() * step.length, threads = threads_of(pool);
  const double work = double(step.sequences) * step.heads * step.length * (smaller(furthest, step.width * step.page) + 1) *
                      (k[3] + v[3]);
  // Many queries go head by head. A few go through all heads at once, unless other threads would wait; below some 20
  // microseconds nothing is divided.
  const bool small = work < 2e5;
  const bool together = rows * heads <= kPageRows && (small || step.sequences >= threads);
  const int64_t lines = step.sequences * (together ? 1 : heads);
  const int64_t parts = small || together ? 1 : smaller(rows, larger<int64_t>(1, ceil_div(8 * threads, lines)));
  const int64_t share = ceil_div(rows, parts);
  auto run = [&](int64_t task) {
    const int64_t line = task / parts, first = task % parts * share, last = smaller(rows, first + share);
    if (together) attend_pages(step, line, 0, heads, first, last);
    else if (first < rows) attend_pages(step, line / heads, line % heads, 1, first, last);
  };
  if (small) {
    for (int64_t task = 0; task < lines; task++) run(task);
  } else {
    parallel_for(pool, lines * parts, run);
  }
  return ffi::Error::Success();
}

// The pool lies where the result does, unless the caller wants it kept: then it was copied there.
static ffi::Error write_pages(Any pool, Any rows, Whole slots, ffi::Result<Any> out) {
  const auto shape = pool.dimensions();
  if (shape.size() < 2 || pool.size_bytes() != out->size_bytes() || pool.element_type() != rows.element_type()) {
    return unfit("the shapes do not fit");
  }
  const int64_t lines = shape[0] * shape[1], count = static_cast<int64_t>(slots.element_count());
  if (lines == 0 || count == 0) return ffi::Error::Success();
  const size_t bytes = pool.size_bytes() / lines;
  if (rows.size_bytes() != bytes * count) return unfit("the rows do not fit");
  if (pool.untyped_data() != out->untyped_data()) std::memcpy(out->untyped_data(), pool.untyped_data(), pool.size_bytes());
  char* to = static_cast<char*>(out->untyped_data());
  const char* from = static_cast<const char*>(rows.untyped_data());
  for (int64_t i = 0; i < count; i++) {
    const int64_t slot = slots.typed_data()[i];
    if (slot >= 0 && slot < lines) std::memcpy(to + slot * bytes, from + i * bytes, bytes);
  }
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(PagedAttention, proa::paged_attention,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Any>()
                                  .Arg<proa::Any>()
                                  .Arg<proa::Whole>()
                                  .Arg<proa::Whole>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("has_sinks")
                                  .Attr<int64_t>("window")
                                  .Attr<float>("scale")
                                  .Attr<float>("cap"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(WritePages, proa::write_pages,
                              xla::ffi::Ffi::Bind()
                                  .Arg<proa::Any>()
                                  .Arg<proa::Any>()
                                  .Arg<proa::Whole>()
                                  .Ret<proa::Any>());
