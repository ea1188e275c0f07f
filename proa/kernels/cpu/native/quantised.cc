// Quantised products and convolutions for XLA: bytes times bytes, added up exactly; the result in float32, as the sums
// themselves, or on a grid of bytes again.
#include <string>
#include <vector>

#include "quantised.h"
#include "space.h"

namespace proa {

using Unsigned = ffi::Buffer<ffi::U8>;
using Signed = ffi::Buffer<ffi::S8>;
using Whole = ffi::Buffer<ffi::S32>;

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes or types do not fit");
}

// What stands behind the sums: `more` holds, each where its flag says so, the bias, the residual (with its scale and zero
// point where it is bytes), and the result's scale and zero point where that is bytes.
static bool read_epilogue(ByteEpilogue& epilogue, const Floats& row_scales, const Whole& row_zeros, const Floats& scales,
                        ffi::RemainingArgs& more, ffi::Result<ffi::AnyBuffer>& y, int64_t rows, int64_t columns,
                        bool has_bias, bool has_residual, int64_t activation, float low, float high) {
  const int64_t given = static_cast<int64_t>(row_scales.element_count());
  if ((given != 1 && given != rows) || static_cast<int64_t>(row_zeros.element_count()) != given ||
      static_cast<int64_t>(scales.element_count()) != columns || activation < 0 || activation >= kNumActivations) {
    return false;
  }
  epilogue.row_scales = row_scales.typed_data();
  epilogue.row_zeros = row_zeros.typed_data();
  epilogue.each_row = given != 1;
  epilogue.scales = scales.typed_data();
  epilogue.then.activation = activation;
  epilogue.then.low = low;
  epilogue.then.high = high;
  epilogue.data = y->untyped_data();
  epilogue.columns = columns;
  size_t next = 0;
  auto floats = [&](int64_t count) -> const float* {
    auto found = next < more.size() ? more.get<Floats>(next++) : ffi::ErrorOr<Floats>(ffi::Error::Internal(""));
    return found.has_value() && static_cast<int64_t>(found->element_count()) == count ? found->typed_data() : nullptr;
  };
  auto whole = [&](int32_t& to) {
    auto found = next < more.size() ? more.get<Whole>(next++) : ffi::ErrorOr<Whole>(ffi::Error::Internal(""));
    if (!found.has_value() || found->element_count() != 1) return false;
    to = found->typed_data()[0];
    return true;
  };
  if (has_bias && (epilogue.bias = floats(columns)) == nullptr) return false;
  if (has_residual) {
    if (next >= more.size()) return false;
    auto bytes = more.get<Unsigned>(next);
    if (bytes.has_value()) {
      next++;
      const float* scale = floats(1);
      if (scale == nullptr || !whole(epilogue.residual_zero)) return false;
      if (static_cast<int64_t>(bytes->element_count()) != rows * columns) return false;
      epilogue.residual_scale = scale[0];
      epilogue.byte_residual = bytes->typed_data();
    } else if ((epilogue.residual = floats(rows * columns)) == nullptr) {
      return false;
    }
  }
  switch (y->element_type()) {
    case ffi::DataType::F32: epilogue.out = ByteEpilogue::kFloat; break;
    case ffi::DataType::S32: epilogue.out = ByteEpilogue::kInteger; break;
    case ffi::DataType::U8: epilogue.out = ByteEpilogue::kUnsigned; break;
    case ffi::DataType::S8: epilogue.out = ByteEpilogue::kSigned; break;
    default: return false;
  }
  if (epilogue.out == ByteEpilogue::kUnsigned || epilogue.out == ByteEpilogue::kSigned) {
    const float* scale = floats(1);
    if (scale == nullptr || !whole(epilogue.zero)) return false;
    const int32_t lowest = epilogue.out == ByteEpilogue::kSigned ? -128 : 0;
    if (epilogue.zero < lowest || epilogue.zero > lowest + 255) epilogue.zero = 0;  // no grid: what it gives is arbitrary
    epilogue.inverse = 1.0f / scale[0];
  }
  return next == more.size();
}

static ffi::Error quantised_product(ffi::ThreadPool pool, Unsigned x, Signed panels, Floats row_scales, Whole row_zeros,
                                    Floats scales, ffi::RemainingArgs more, ffi::Result<ffi::AnyBuffer> y, bool has_bias,
                                    bool has_residual, int64_t activation, float low, float high) {
  const auto shape = x.dimensions(), out = y->dimensions();
  if (shape.size() != 2 || out.size() != 2 || out[0] != shape[0]) return misfit("quantised product");
  const int64_t rows = shape[0], depth = shape[1], columns = out[1], groups = ceil_div(depth, 4);
  ByteEpilogue epilogue;
  if (static_cast<int64_t>(panels.element_count()) != ceil_div(columns, kBytePanel) * bytes_of_panel(groups) ||
      !read_epilogue(epilogue, row_scales, row_zeros, scales, more, y, rows, columns, has_bias, has_residual, activation, low,
                   high)) {
    return misfit("quantised product");
  }
  if (rows == 0 || columns == 0) return ffi::Error::Success();
  const ByteRows source{x.typed_data(), depth};
  multiply_bytes_in_parts(pool, 1, [&](int64_t) { return source; }, rows, columns, groups, panels.typed_data(), epilogue);
  return ffi::Error::Success();
}

// ---- convolutions ---------------------------------------------------------------------------------------------------

// A few bytes: as two pieces that overlap, without a call.
template <int piece>
void copy_twice(uint8_t* to, const uint8_t* from, int64_t count) {
  uint8_t first[piece], last[piece];
  std::memcpy(first, from, piece);
  std::memcpy(last, from + count - piece, piece);
  std::memcpy(to, first, piece);
  std::memcpy(to + count - piece, last, piece);
}
inline void copy_bytes(uint8_t* to, const uint8_t* from, int64_t count) {
  if (count > 128) std::memcpy(to, from, count);
  else if (count >= 64) copy_twice<64>(to, from, count);
  else if (count >= 32) copy_twice<32>(to, from, count);
  else if (count >= 16) copy_twice<16>(to, from, count);
  else if (count >= 8) copy_twice<8>(to, from, count);
  else if (count >= 4) copy_twice<4>(to, from, count);
  else for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

// The windows of a convolution as rows [taps][channels of the group]; outside the image lies the zero point.
struct ByteWindows {
  const Space& s;
  const uint8_t* x;
  int64_t channels, first;  // of the group
  uint8_t outside;

  int64_t depth() const { return s.taps() * channels; }
  int64_t row_room() const {
    const int64_t bytes = round_up(depth(), 4);
    return bytes % 1024 ? bytes : bytes + 64;
  }
  const uint8_t* rows(int64_t begin, int64_t count, uint8_t* room, int64_t& step) const {
    step = row_room();
    int64_t line = begin / s.out[2], column = begin % s.out[2];
    for (int64_t r = 0; r < count; line++, column = 0) {
      const int64_t some = smaller(count - r, s.out[2] - column);
      windows(line, column, some, room + r * step, step);
      r += some;
    }
    return room;
  }

  // Windows of one line of the result, from a column on.
  void windows(int64_t line, int64_t column, int64_t count, uint8_t* room, int64_t step) const {
    const Position at(line, s.out);
    const Taps d(s, 0, at.depth), h(s, 1, at.height);
    const int64_t pixel = s.channels, length = s.kernel[2] * channels, reach = (s.kernel[2] - 1) * s.dilation[2];
    // Taps side by side in memory where they are so in the image, too.
    const bool together = s.dilation[2] == 1 && channels == pixel;
    const int64_t spare = round_up(depth(), 4) - depth();
    int64_t start = column * s.stride[2] - s.before[2];
    for (int64_t i = 0; i < count; i++, start += s.stride[2], room += step) {
      int64_t left = 0, right = s.kernel[2];  // the taps that see the inside
      if (start < 0 || start + reach >= s.in[2]) {
        const Taps w(s, 2, column + i);
        left = w.first;
        right = w.last;
      }
      uint8_t* to = room;
      for (int64_t a = 0; a < s.kernel[0]; a++) {
        const int64_t depth = at.depth * s.stride[0] - s.before[0] + a * s.dilation[0];
        for (int64_t b = 0; b < s.kernel[1]; b++, to += length) {
          if (a < d.first || a >= d.last || b < h.first || b >= h.last || left >= right) {
            std::memset(to, outside, length);
            continue;
          }
          const int64_t height = at.height * s.stride[1] - s.before[1] + b * s.dilation[1];
          const uint8_t* from = x + ((at.image * s.in[0] + depth) * s.in[1] + height) * s.in[2] * pixel + first;
          if (left > 0) std::memset(to, outside, left * channels);
          if (together) {
            copy_bytes(to + left * channels, from + (start + left) * pixel, (right - left) * channels);
          } else {
            for (int64_t c = left; c < right; c++) {
              copy_bytes(to + c * channels, from + (start + c * s.dilation[2]) * pixel, channels);
            }
          }
          if (right < s.kernel[2]) std::memset(to + right * channels, outside, length - right * channels);
        }
      }
      if (spare) std::memset(to, 0, spare);  // the weights are 0 there
    }
  }
};

constexpr int kSideBySide = 4;  // results of a line that share a load of weights

// Each channel with one filter: weights [taps][channels].
static void convolve_bytes_alone(ffi::ThreadPool& pool, const Space& s, const uint8_t* x, const int8_t* weight,
                                 uint8_t outside, const ByteEpilogue& epilogue) {
  const int64_t taps = s.taps(), channels = s.channels, lines = s.out_lines(), padded = round_up(channels, kLanes);
  const std::vector<uint8_t> zeros(padded, outside);
  std::vector<int32_t> wide((taps + 1) * padded);  // and their sums, at the end
  for (int64_t t = 0; t < taps; t++) {
    for (int64_t c = 0; c < channels; c++) {
      wide[t * padded + c] = weight[t * channels + c];
      wide[taps * padded + c] += weight[t * channels + c];
    }
  }
  const int64_t tasks = s.work() < kByteWork / 16 ? 1 : smaller<int64_t>(lines, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    std::vector<const uint8_t*> places(taps * kSideBySide), starts(s.kernel[0] * s.kernel[1]);
    for (int64_t line = lines * task / tasks; line < lines * (task + 1) / tasks; line++) {
      const Position at(line, s.out);
      const Taps d(s, 0, at.depth), h(s, 1, at.height);
      for (int64_t a = 0; a < s.kernel[0]; a++) {
        for (int64_t b = 0; b < s.kernel[1]; b++) {
          const bool inside = a >= d.first && a < d.last && b >= h.first && b < h.last;
          const int64_t depth = at.depth * s.stride[0] - s.before[0] + a * s.dilation[0];
          const int64_t height = at.height * s.stride[1] - s.before[1] + b * s.dilation[1];
          starts[a * s.kernel[1] + b] =
              inside ? x + ((at.image * s.in[0] + depth) * s.in[1] + height) * s.in[2] * channels : nullptr;
        }
      }
      for (int64_t column = 0; column < s.out[2]; column += kSideBySide) {
        const int some = static_cast<int>(smaller<int64_t>(kSideBySide, s.out[2] - column));
        for (int64_t c = 0; c < s.kernel[2]; c++) {
          for (int p = 0; p < kSideBySide; p++) {
            const int64_t width = (column + smaller(p, some - 1)) * s.stride[2] - s.before[2] + c * s.dilation[2];
            const bool inside = width >= 0 && width < s.in[2];
            for (size_t t = 0; t < starts.size(); t++) {
              places[(t * s.kernel[2] + c) * kSideBySide + p] =
                  inside && starts[t] != nullptr ? starts[t] + width * channels : zeros.data();
            }
          }
        }
        for (int64_t c = 0; c < channels; c += kLanes) {
          const int count = static_cast<int>(smaller<int64_t>(kLanes, channels - c));
          Integers sums[kSideBySide] = {};
          auto add = [&](auto whole) {
            for (int64_t t = 0; t < taps; t++) {
              const Integers factor = *reinterpret_cast<const Integers*>(&wide[t * padded + c]);
#pragma GCC unroll 4
              for (int p = 0; p < kSideBySide; p++) {
                const uint8_t* from = places[t * kSideBySide + p] + c;
                const Bytes bytes = whole.value ? *reinterpret_cast<const Bytes*>(from) : load_some_as<Bytes>(from, count);
                sums[p] = add_product(sums[p], widened(bytes), factor);
              }
            }
          };
          if (count == kLanes) add(std::true_type{});
          else add(std::false_type{});
          const Integers total = *reinterpret_cast<const Integers*>(&wide[taps * padded + c]);
          epilogue.write(reinterpret_cast<const int32_t*>(sums), kLanes, some, total, line * s.out[2] + column, c, count);
        }
      }
    }
  });
}

// Images and result lie with their channels side by side. `window`: kernel, stride, padding before and dilation, each for
// every axis; filters are packed panels of each group, or [taps, channels] where each channel has a filter of its own.
static ffi::Error quantised_convolution(ffi::ThreadPool pool, Unsigned x, Signed filters, Floats row_scales,
                                        Whole row_zeros, Floats scales, ffi::RemainingArgs more,
                                        ffi::Result<ffi::AnyBuffer> y, Sizes window, int64_t channel_groups,
                                        bool has_bias, bool has_residual, int64_t activation, float low, float high) {
  const char* name = "quantised convolution";
  const auto in = x.dimensions(), out = y->dimensions();
  if (in.size() < 3 || in.size() != out.size() || channel_groups < 1) return misfit(name);
  const int64_t columns = out[1];
  std::vector<int64_t> small(out.begin(), out.end());
  small[1] = in[1];  // a Space has the same channels on both sides
  Space s;
  if (!s.read(in, Sizes(small.data(), small.size()), window) || s.channels % channel_groups || columns % channel_groups) {
    return misfit(name);
  }
  const int64_t rows = s.out_lines() * s.out[2];
  ByteEpilogue epilogue;
  if (row_scales.element_count() != 1 ||
      !read_epilogue(epilogue, row_scales, row_zeros, scales, more, y, rows, columns, has_bias, has_residual, activation, low,
                   high)) {
    return misfit(name);
  }
  if (rows == 0 || columns == 0) return ffi::Error::Success();
  const uint8_t outside = static_cast<uint8_t>(row_zeros.typed_data()[0]);
  const int64_t size = static_cast<int64_t>(filters.element_count());
  if (filters.dimensions().size() == 2) {
    if (channel_groups != s.channels || columns != s.channels || size != s.taps() * columns) return misfit(name);
    convolve_bytes_alone(pool, s, x.typed_data(), filters.typed_data(), outside, epilogue);
    return ffi::Error::Success();
  }
  const int64_t channels = s.channels / channel_groups, own = columns / channel_groups;
  const int64_t groups = ceil_div(channels * s.taps(), 4);
  if (size != channel_groups * ceil_div(own, kBytePanel) * bytes_of_panel(groups)) return misfit(name);
  bool in_place = channel_groups == 1 && s.taps() == 1;
  for (int axis = 0; axis < 3; axis++) {
    in_place = in_place && s.stride[axis] == 1 && s.before[axis] == 0 && s.in[axis] == s.out[axis];
  }
  if (in_place) {
    const ByteRows source{x.typed_data(), channels};
    multiply_bytes_in_parts(pool, 1, [&](int64_t) { return source; }, rows, columns, groups, filters.typed_data(), epilogue);
  } else {
    auto source_of = [&](int64_t group) { return ByteWindows{s, x.typed_data(), channels, group * channels, outside}; };
    multiply_bytes_in_parts(pool, channel_groups, source_of, rows, own, groups, filters.typed_data(), epilogue);
  }
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(QuantisedProduct, proa::quantised_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Unsigned>()
                                  .Arg<proa::Signed>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Whole>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(QuantisedConvolution, proa::quantised_convolution,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Unsigned>()
                                  .Arg<proa::Signed>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Whole>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<proa::Sizes>("window")
                                  .Attr<int64_t>("channel_groups")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("has_residual")
                                  .Attr<int64_t>("activation")
                                  .Attr<float>("low")
                                  .Attr<float>("high"));
