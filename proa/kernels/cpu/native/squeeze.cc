// Handler of squeeze-and-excite blocks of models that are only run, in one call: the mean of each channel, two small products
// with what stands behind them, and the image times what they say. Apart, these are five calls of which most take less time
// than it takes to begin them.
#include "epilogue.h"
#include "pairs.h"
#include "space.h"

namespace proa {

constexpr int64_t kFilters = 32;      // of a packed panel (PANEL in kernels/cpu/fused.py)
constexpr double kWorthTwo = 5e4;     // numbers to read from which on a second thread pays
constexpr int64_t kAtOnce = 64;       // positions that are added up in registers

// One of the two products: panels [panel][depth][kFilters] of floats, or of pairs of bfloat16.
struct Product {
  const float* panels;
  int64_t lines, depth, filters;  // lines of a panel: floats or pairs
  bool paired;
  const float* bias;
  Epilogue epilogue;

  bool read(const ffi::AnyBuffer& given, int64_t inputs, int64_t outputs) {
    const auto shape = given.dimensions();
    paired = given.element_type() == ffi::BF16;
    panels = static_cast<const float*>(given.untyped_data());
    lines = paired ? inputs / 2 : inputs;
    depth = inputs;
    filters = outputs;
    return is_number(given) && shape.size() == (paired ? 5 : 4) && inputs > 0 && outputs > 0 && shape[0] == 1 &&
           shape[1] == ceil_div(outputs, kFilters) && shape[2] == lines && shape[3] == kFilters &&
           (!paired || (shape[4] == 2 && inputs % 2 == 0));
  }
  // The bias, if there is one, is a further operand.
  bool read_ending(const ffi::RemainingArgs& more, size_t place, bool has_bias, int64_t activation, float low, float high) {
    epilogue.activation = activation;
    epilogue.low = low;
    epilogue.high = high;
    bias = nullptr;
    if (activation < 0 || activation >= kNumActivations) return false;
    if (!has_bias) return true;
    auto given = more.get<ffi::Buffer<ffi::F32>>(place);
    if (!given.has_value() || static_cast<int64_t>(given->element_count()) != filters) return false;
    bias = given->typed_data();
    return true;
  }
};

// Filters of panels [first, last) of a product, of the numbers x (pairs, where the panels are).
template <class Arithmetic>
static void multiply_panels(const Product& product, const float* x, int64_t first, int64_t last, float* to) {
  constexpr int vectors = kFilters / kLanes, at_once = kLanes == 16 ? 4 : kLanes == 8 ? 2 : 1;
  for (int64_t panel = first; panel < last; panel++) {
    const float* b = product.panels + panel * product.lines * kFilters;
    Vector sums[at_once][vectors] = {};
    int64_t k = 0;
    for (; k + at_once <= product.lines; k += at_once) {
#pragma GCC unroll 4
      for (int u = 0; u < at_once; u++) {
        const Vector value = Arithmetic::broadcast(x + k + u);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
          sums[u][v] = Arithmetic::add(sums[u][v], value, load(b + (k + u) * kFilters + v * kLanes));
        }
      }
    }
    for (; k < product.lines; k++) {
      const Vector value = Arithmetic::broadcast(x + k);
      for (int v = 0; v < vectors; v++) sums[0][v] = Arithmetic::add(sums[0][v], value, load(b + k * kFilters + v * kLanes));
    }
    for (int v = 0; v < vectors; v++) {
      const int64_t filter = panel * kFilters + v * kLanes;
      if (filter >= product.filters) break;
      const int count = static_cast<int>(smaller<int64_t>(kLanes, product.filters - filter));
      Vector sum = sums[0][v];
      for (int u = 1; u < at_once; u++) sum += sums[u][v];
      if (product.bias) sum += load_up_to(product.bias + filter, count);
      store_up_to(to + filter, product.epilogue.activate(sum), count);
    }
  }
}

// Calls body(part) for the parts of some work, on several threads if it is worth it.
template <class Body>
static void divide(ffi::ThreadPool& pool, int64_t parts, const Body& body) {
  if (parts == 1) body(0);
  else parallel_for(pool, parts, body);
}
static int64_t parts_of(ffi::ThreadPool& pool, double work, int64_t most) {
  return work < kWorthTwo ? 1 : smaller<int64_t>(threads_of(pool), most);
}

static void multiply(ffi::ThreadPool& pool, const Product& product, const float* x, float* room, float* to) {
  const float* left = x;
  if (product.paired) {
    Numbers{x, true}.copy(reinterpret_cast<uint16_t*>(room), product.depth, product.depth);
    left = room;
  }
  const int64_t panels = ceil_div(product.filters, kFilters);
  const int64_t parts = parts_of(pool, double(product.lines) * product.filters, panels);
  divide(pool, parts, [&](int64_t part) {
    const int64_t first = panels * part / parts, last = panels * (part + 1) / parts;
    if (product.paired) multiply_panels<Pairs>(product, left, first, last, to);
    else multiply_panels<Singles>(product, left, first, last, to);
  });
}

// sums[channels] = the sums of positions: of short runs in registers, then of those.
template <class Number>
static void add_up(const Number* x, int64_t positions, int64_t channels, float* sums) {
  std::memset(sums, 0, sizeof(float) * channels);
  for (int64_t p = 0; p < positions; p += kAtOnce) {
    const int64_t some = smaller(kAtOnce, positions - p);
    each_vector(channels, [&](int64_t c, int lanes, auto whole) {
      const Number* at = x + p * channels + c;
      Vector parts[4] = {};
      int64_t i = 0;
      for (; i + 4 <= some; i += 4) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) parts[u] += take<whole>(at + (i + u) * channels, lanes);
      }
      for (; i < some; i++) parts[0] += take<whole>(at + i * channels, lanes);
      put<whole>(sums + c, take<whole>(sums + c, lanes) + ((parts[0] + parts[1]) + (parts[2] + parts[3])), lanes);
    });
  }
}

template <class Number>
static void gate_positions(const Number* x, const float* gate, int64_t positions, int64_t channels, bool adds, float* to,
                           uint16_t* rounded) {
  for (int64_t p = 0; p < positions; p++) {
    each_vector(channels, [&](int64_t c, int lanes, auto whole) {
      const int64_t at = p * channels + c;
      const Vector value = take<whole>(x + at, lanes);
      Vector result = value * take<whole>(gate + c, lanes);
      if (adds) result += value;
      if (rounded) store_halves(rounded + at, Pairs::rounded(result), lanes);
      else put<whole>(to + at, result, lanes);
    });
  }
}

// One image; `to` and `rounded` are where its result goes.
template <class Number>
static void squeeze(ffi::ThreadPool& pool, const Number* x, int64_t positions, const Product& first, const Product& second,
                    bool adds, float* to, uint16_t* rounded) {
  const int64_t channels = first.depth, hidden = first.filters, wide = round_up(larger(channels, hidden), kLanes);
  const int64_t parts = parts_of(pool, double(positions) * channels, positions);
  float* room = scratch<11>((parts + 3) * wide);  // sums of each part, the hidden numbers, the gate, pairs
  float *inner = room + parts * wide, *gate = inner + wide, *pairs = gate + wide;
  divide(pool, parts, [&](int64_t part) {
    const int64_t begin = positions * part / parts, end = positions * (part + 1) / parts;
    add_up(x + begin * channels, end - begin, channels, room + part * wide);
  });
  const float share = 1.0f / static_cast<float>(positions);
  for (int64_t c = 0; c < channels; c++) {
    float sum = room[c];
    for (int64_t part = 1; part < parts; part++) sum += room[part * wide + c];
    room[c] = sum * share;
  }
  multiply(pool, first, room, pairs, inner);
  multiply(pool, second, inner, pairs, gate);
  divide(pool, parts, [&](int64_t part) {
    const int64_t begin = positions * part / parts, end = positions * (part + 1) / parts, at = begin * channels;
    gate_positions(x + at, gate, end - begin, channels, adds, to ? to + at : nullptr, rounded ? rounded + at : nullptr);
  });
}

static ffi::Error squeeze_excite(ffi::ThreadPool pool, ffi::AnyBuffer x, ffi::AnyBuffer first, ffi::AnyBuffer second,
                                 ffi::RemainingArgs more, ffi::Result<ffi::AnyBuffer> y, bool has_first_bias,
                                 bool has_second_bias, bool adds, int64_t hidden, int64_t first_activation, float first_low,
                                 float first_high, int64_t second_activation, float second_low, float second_high) {
  const auto misfit = ffi::Error::InvalidArgument("squeeze and excite: the shapes do not fit");
  const auto shape = x.dimensions();
  if (!is_number(x) || !is_number(*y) || shape.size() < 3 || y->element_count() != x.element_count() ||
      int64_t(more.size()) != has_first_bias + has_second_bias) {
    return misfit;
  }
  const int64_t images = shape[0], channels = shape[1], all = static_cast<int64_t>(x.element_count());
  Product products[2];
  if (!products[0].read(first, channels, hidden) || !products[1].read(second, hidden, channels) ||
      !products[0].read_ending(more, 0, has_first_bias, first_activation, first_low, first_high) ||
      !products[1].read_ending(more, has_first_bias, has_second_bias, second_activation, second_low, second_high)) {
    return misfit;
  }
  if (all == 0) return ffi::Error::Success();
  const int64_t size = all / images, positions = size / channels;
  const bool rounds = y->element_type() == ffi::BF16;
  const Numbers image = numbers_of(x);
  for (int64_t i = 0; i < images; i++) {
    float* to = rounds ? nullptr : static_cast<float*>(y->untyped_data()) + i * size;
    uint16_t* rounded = rounds ? static_cast<uint16_t*>(y->untyped_data()) + i * size : nullptr;
    if (image.wide) squeeze(pool, image.floats() + i * size, positions, products[0], products[1], adds, to, rounded);
    else squeeze(pool, image.halves() + i * size, positions, products[0], products[1], adds, to, rounded);
  }
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(SqueezeExcite, proa::squeeze_excite,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("has_first_bias")
                                  .Attr<bool>("has_second_bias")
                                  .Attr<bool>("adds")
                                  .Attr<int64_t>("hidden")
                                  .Attr<int64_t>("first_activation")
                                  .Attr<float>("first_low")
                                  .Attr<float>("first_high")
                                  .Attr<int64_t>("second_activation")
                                  .Attr<float>("second_low")
                                  .Attr<float>("second_high"));
