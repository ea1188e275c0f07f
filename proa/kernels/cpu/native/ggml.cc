// Handlers of operations in the arithmetic of ggml: products with blocks, norm, SiLU, turning by position, attention.
#include "ggml.h"

#include <string>

namespace proa {

using Table = ffi::Buffer<ffi::U8>;
using Floats = ffi::Buffer<ffi::F32>;
using Halfs = ffi::Buffer<ffi::F16>;
using Whole = ffi::Buffer<ffi::S32>;
using Out = ffi::ResultBuffer<ffi::F32>;

static ffi::Error unfit(const char* what) { return ffi::Error::InvalidArgument(std::string("ggml: ") + what); }

// ---- products -------------------------------------------------------------------------------------------------------

constexpr int kGgmlRows = kLanes == 16 ? 2 : 1;

template <int rows>
static void multiply(const Blocks& w, int64_t panel, const GgmlGroup* const* x, float* sums) {
  if (w.bits == 8) ggml_tile<rows, 8>(w, panel, x, sums);
  else ggml_tile<rows, 4>(w, panel, x, sums);
}

static ffi::Error ggml_product(ffi::ThreadPool pool, Floats x, Table blocks, Out y, int64_t bits, int64_t zero,
                               bool has_minima) {
  const auto shape = x.dimensions(), table = blocks.dimensions(), out = y->dimensions();
  if (shape.size() != 2 || table.size() != 3 || out.size() != 2 || (bits != 8 && bits != 4)) return unfit("wrong ranks");
  Blocks w;
  w.data = blocks.typed_data(), w.panels = table[0], w.groups = table[1];
  w.bits = static_cast<int>(bits), w.zero = static_cast<int>(zero), w.half = true, w.has_minima = has_minima;
  const int64_t rows = shape[0], outputs = out[1];
  if (!w.measure(table[2]) || w.group() != kGgmlGroup || shape[1] != w.groups * kGgmlGroup || out[0] != rows ||
      ceil_div(outputs, kPanelOutputs) != w.panels || zero < 0 || zero > 255) {
    return unfit("the shapes do not fit");
  }
  if (rows == 0 || outputs == 0) return ffi::Error::Success();
  constexpr int64_t words = (sizeof(GgmlGroup) + sizeof(float) - 1) / sizeof(float);
  auto* groups = reinterpret_cast<GgmlGroup*>(scratch<44>(rows * w.groups * words));
  const int64_t threads = threads_of(pool), parts = rows < 16 ? 1 : smaller<int64_t>(rows, 4 * threads);
  parallel_for(pool, parts, [&](int64_t t) {
    for (int64_t i = rows * w.groups * t / parts; i < rows * w.groups * (t + 1) / parts; i++) {
      groups[i].round(x.typed_data() + i * kGgmlGroup, has_minima ? 0 : w.zero);
    }
  });
  const bool small = w.panels * w.groups * w.bytes < 150000 && rows < 4;
  const int64_t tasks = small ? 1 : smaller<int64_t>(w.panels, 4 * threads);
  parallel_for(pool, tasks, [&](int64_t t) {
    alignas(64) float sums[kGgmlRows * kPanelOutputs];
    for (int64_t panel = w.panels * t / tasks; panel < w.panels * (t + 1) / tasks; panel++) {
      const int64_t column = panel * kPanelOutputs, some = smaller<int64_t>(kPanelOutputs, outputs - column);
      for (int64_t row = 0; row < rows; row += kGgmlRows) {
        const int count = static_cast<int>(smaller<int64_t>(kGgmlRows, rows - row));
        const GgmlGroup* tile[kGgmlRows];
        for (int r = 0; r < count; r++) tile[r] = groups + (row + r) * w.groups;
        if (count == kGgmlRows) multiply<kGgmlRows>(w, panel, tile, sums);
        else multiply<1>(w, panel, tile, sums);
        for (int r = 0; r < count; r++) {
          std::memcpy(y->typed_data() + (row + r) * outputs + column, sums + r * kPanelOutputs, sizeof(float) * some);
        }
      }
    }
  });
  return ffi::Error::Success();
}

// ---- between products -----------------------------------------------------------------------------------------------

static ffi::Error ggml_norm(Floats x, Floats weight, Out y, float epsilon) {
  const auto shape = x.dimensions();
  if (shape.size() != 2 || static_cast<int64_t>(weight.element_count()) != shape[1]) return unfit("the weight does not fit");
  const int64_t size = shape[1];
  for (int64_t row = 0; row < shape[0]; row++) {
    const float *from = x.typed_data() + row * size, *factors = weight.typed_data();
    float* to = y->typed_data() + row * size;
    double sum = 0;
    for (int64_t i = 0; i < size; i++) sum += static_cast<double>(from[i] * from[i]);
    const float mean = static_cast<float>(sum / static_cast<double>(size)), factor = 1.0f / std::sqrt(mean + epsilon);
    for (int64_t i = 0; i < size; i++) to[i] = from[i] * factor * factors[i];
  }
  return ffi::Error::Success();
}

static ffi::Error ggml_silu(Floats x, Out y) {
  const int64_t count = static_cast<int64_t>(x.element_count());
  for (int64_t i = 0; i < count; i += kLanes) {
    const int some = static_cast<int>(smaller<int64_t>(kLanes, count - i));
    const Vector v = load_up_to(x.typed_data() + i, some);
    store_up_to(y->typed_data() + i, v / (all(1.0f) + ggml_exp(all(0.0f) - v)), some);
  }
  return ffi::Error::Success();
}

// x [tokens, heads, size]. The angle of a pair is that of the pair before times a factor, in float32.
static ffi::Error ggml_turn(Floats x, Whole positions, Out y, float base) {
  const auto shape = x.dimensions();
  if (shape.size() != 3 || shape[2] % 2 || static_cast<int64_t>(positions.element_count()) != shape[0]) {
    return unfit("the positions do not fit");
  }
  const int64_t heads = shape[1], size = shape[2], half = size / 2;
  const float factor = std::pow(base, -2.0f / static_cast<float>(size));
  for (int64_t token = 0; token < shape[0]; token++) {
    float angle = static_cast<float>(positions.typed_data()[token]);
    for (int64_t i = 0; i < half; i++, angle *= factor) {
      const float cosine = std::cos(angle), sine = std::sin(angle);
      for (int64_t head = 0; head < heads; head++) {
        const int64_t at = (token * heads + head) * size + i;
        const float a = x.typed_data()[at], b = x.typed_data()[at + half];
        y->typed_data()[at] = __builtin_fmaf(a, cosine, -(b * sine));
        y->typed_data()[at + half] = __builtin_fmaf(a, sine, b * cosine);
      }
    }
  }
  return ffi::Error::Success();
}

// ---- attention ------------------------------------------------------------------------------------------------------

static ffi::Error ggml_attention(ffi::ThreadPool pool, Floats query, Halfs keys, Halfs values, Whole tables,
                                 Whole positions, Out out, float scale) {
  PagedStep step;
  const auto q = query.dimensions(), k = keys.dimensions(), v = values.dimensions(), t = tables.dimensions();
  if (q.size() != 4 || t.size() != 2 || k.size() != 4 || v.size() != 4) return unfit("wrong ranks");
  for (size_t i = 0; i < 4; i++) {
    if (k[i] != v[i]) return unfit("keys and values have one shape");
  }
  if (k[3] != q[3] || k[3] % 64 || k[3] > kGgmlHead || t[0] != q[0] || k[2] < 1 || q[2] % k[2] || k[0] < 1 || k[1] < 1 || t[1] < 1 ||
      static_cast<int64_t>(positions.element_count()) != q[0] * q[1] || out->element_count() != query.element_count()) {
    return unfit("the shapes do not fit");
  }
  if (query.element_count() == 0) return ffi::Error::Success();
  step.sequences = q[0], step.length = q[1], step.heads = q[2];
  step.pages = k[0], step.page = k[1], step.width = t[1];
  step.keys.data = keys.untyped_data(), step.values.data = values.untyped_data();
  step.keys.kind = step.values.kind = Pool::kHalf;
  step.keys.heads = step.values.heads = k[2], step.keys.size = step.values.size = k[3];
  step.tables = tables.typed_data(), step.positions = positions.typed_data();
  const int64_t heads = k[2], size = k[3], groups = step.groups(), threads = threads_of(pool);
  const int64_t lines = step.sequences * heads;
  const int64_t parts = smaller<int64_t>(step.length, ceil_div(4 * threads, lines));
  parallel_for(pool, lines * parts, [&](int64_t task) {
    const int64_t sequence = task / parts / heads, head = task / parts % heads, part = task % parts;
    const int64_t first = step.length * part / parts, last = step.length * (part + 1) / parts;
    int64_t furthest = 0;
    for (int64_t i = first; i < last; i++) furthest = larger(furthest, step.position(sequence, i));
    const int64_t count = furthest + 1, filled = round_up(count, 16);
    float* room = scratch<45>(64 * size + filled + 4 * count);
    auto** rows = reinterpret_cast<const uint16_t**>(room + 64 * size + filled);
    for (int64_t j = 0; j < count; j++) {
      const int64_t slot = step.page_start(sequence, j / step.page) + j % step.page;
      rows[j] = static_cast<const uint16_t*>(step.keys.place(slot, head));
      rows[count + j] = static_cast<const uint16_t*>(step.values.place(slot, head));
    }
    const GgmlHead own{rows, rows + count, size, room + 64 * size, room};
    // A token that is written, or a prompt of one. What fills a step up stands at position 0, too. The last token of a longer
    // prompt is one of many even where the others were read before: its numbers do not depend on that.
    const int32_t* places = step.positions + sequence * step.length;
    const bool single = step.length == 1 || (places[0] == 0 && places[1] == 0);
    for (int64_t token = first; token < last; token++) {
      const int64_t seen = larger<int64_t>(step.position(sequence, token), 0) + 1;
      for (int64_t g = 0; g < groups; g++) {
        const int64_t at = ((sequence * step.length + token) * step.heads + head * groups + g) * size;
        Sixteen rounded[kGgmlHead / 16];
        for (int64_t n = 0; n < size / 16; n++) {
          alignas(64) float lanes[16];
          std::memcpy(lanes, query.typed_data() + at + 8 * n, 8 * sizeof(float));
          std::memcpy(lanes + 8, query.typed_data() + at + size / 2 + 8 * n, 8 * sizeof(float));
          for (int v = 0; v < 16 / kLanes; v++) rounded[n].parts[v] = as_half(load(lanes + v * kLanes));
        }
        own.attend(rounded, seen, single, scale, out->typed_data() + at);
      }
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

#define PROA_GGML xla::ffi::Ffi::Bind()

XLA_FFI_DEFINE_HANDLER_SYMBOL(GgmlProduct, proa::ggml_product,
                              PROA_GGML.Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Table>()
                                  .Ret<proa::Floats>()
                                  .Attr<int64_t>("bits")
                                  .Attr<int64_t>("zero")
                                  .Attr<bool>("has_minima"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(GgmlNorm, proa::ggml_norm,
                              PROA_GGML.Arg<proa::Floats>().Arg<proa::Floats>().Ret<proa::Floats>().Attr<float>("epsilon"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(GgmlSilu, proa::ggml_silu, PROA_GGML.Arg<proa::Floats>().Ret<proa::Floats>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(GgmlTurn, proa::ggml_turn,
                              PROA_GGML.Arg<proa::Floats>().Arg<proa::Whole>().Ret<proa::Floats>().Attr<float>("base"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(GgmlAttention, proa::ggml_attention,
                              PROA_GGML.Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Halfs>()
                                  .Arg<proa::Halfs>()
                                  .Arg<proa::Whole>()
                                  .Arg<proa::Whole>()
                                  .Ret<proa::Floats>()
                                  .Attr<float>("scale"));
