// Convolutions of images in bfloat16 whose channels lie side by side in memory.
//
// Two neighbouring channels are a pair, and an image of pairs is an image of half as many channels to strips.h. So forward and
// gradient of the input are those of convolution.h with other filters and another arithmetic. The gradient of the weight sums
// over positions: it is a product of matrices whose right operand are windows, packed where they are needed.
#pragma once

#include "convolution.h"
#include "pair_matrices.h"
#include "products.h"

namespace proa {

// Numbers as pairs of bfloat16 in memory: where they are, or copied into a buffer.
template <int purpose>
const uint16_t* halves_of(ffi::ThreadPool& pool, Numbers numbers, int64_t count) {
  if (numbers.lies_in_pairs()) return numbers.halves();
  auto* to = reinterpret_cast<uint16_t*>(scratch<purpose>(ceil_div(count, 2)));
  constexpr int64_t kSome = 1 << 14;
  parallel_some(pool, count, ceil_div(count, kSome), [&](int64_t part) {
    const int64_t first = part * kSome, some = smaller(kSome, count - first);
    numbers.at(first).copy(to + first, some, some);
  });
  return to;
}

// ---- filters [filter][channel][tap] as pairs ------------------------------------------------------------------------

// to[line][i] = the i-th numbers of lines 2 line and 2 line + 1, which are `length` long.
inline void pair_lines(ffi::ThreadPool& pool, float* to, const uint16_t* from, int64_t lines, int64_t length) {
  parallel_some(pool, lines * length, ceil_div(lines, 64), [&](int64_t part) {
    for (int64_t line = part * 64; line < smaller(lines, part * 64 + 64); line++) {
      const uint16_t* first = from + 2 * line * length;
      for (int64_t i = 0; i < length; i += kLanes) {
        const int count = static_cast<int>(smaller<int64_t>(kLanes, length - i));
        store_up_to(to + line * length + i,
                    pair_up(load_halves(first + i, count), load_halves(first + length + i, count)), count);
      }
    }
  });
}

// ---- forward and gradient of the input ------------------------------------------------------------------------------

// `panels`: filters as [group][panel][tap, pair of channels][kPanel] pairs.
inline void convolve_packed_pairs(ffi::ThreadPool& pool, const Convolution& s, Numbers x, const float* panels,
                                  const float* bias, const Epilogue* epilogue, const Output& y) {
  Convolution halved = s;
  halved.channels = s.channels / 2;
  const int64_t numbers = s.images * s.extent[0] * s.extent[1] * s.extent[2] * s.channels;
  Pass pass = halved.forward(reinterpret_cast<const float*>(halves_of<10>(pool, x, numbers)));
  Results results = forward_results(s, nullptr);
  y.use_in(results, pass, 0);
  results.bias = bias;
  results.epilogue = epilogue;
  join_lines(pass, results);
  multiply_pass<Pairs>(pool, pass, s.groups, panels, results);
}

inline void convolve_pairs(ffi::ThreadPool& pool, const Convolution& s, Numbers x, Numbers weight, const float* bias,
                           const Output& y) {
  const int64_t rows = s.group_filters(), channels = s.group_channels() / 2, depth = channels * s.taps();
  const int64_t panels = ceil_div(rows, kPanel);
  const uint16_t* filters = halves_of<8>(pool, weight, s.filters * depth * 2);
  const float* paired = reinterpret_cast<const float*>(filters);
  if (s.taps() > 1) {
    float* to = scratch<9>(s.filters * depth);
    pair_lines(pool, to, filters, s.filters * channels, s.taps());
    paired = to;
  }
  float* packed = scratch<5>(s.groups * panels * depth * kPanel);
  parallel_some(pool, s.filters * depth, s.groups * panels, [&](int64_t which) {
    pack_filters(packed + which * depth * kPanel, paired + which / panels * rows * depth, rows, channels, s.taps(),
                 which % panels);
  });
  convolve_packed_pairs(pool, s, x, packed, bias, nullptr, y);
}

inline void convolve_pairs_back(ffi::ThreadPool& pool, const Convolution& s, Numbers dy, Numbers weight, const Output& dx) {
  Convolution halved = s;
  halved.filters = s.filters / 2;
  const int64_t channels = s.group_channels(), filters = halved.group_filters(), panels = ceil_div(channels, kPanel);
  const int64_t length = channels * s.taps(), positions = s.images * s.out[0] * s.out[1] * s.out[2];
  float* paired = scratch<9>(halved.filters * length);
  pair_lines(pool, paired, halves_of<8>(pool, weight, s.filters * length), halved.filters, length);
  const auto* source = reinterpret_cast<const float*>(halves_of<10>(pool, dy, positions * s.filters));
  BackPasses back = back_passes(halved, source);
  if (!back.all_reached) std::memset(dx.data, 0, (dx.rounds ? sizeof(uint16_t) : sizeof(float)) * dx.size);
  for (size_t i = 0; i < back.passes.size(); i++) {
    Pass& pass = back.passes[i];
    Results& results = back.results[i];
    const int64_t size = pass.depth() * kPanel;
    float* packed = scratch<5>(s.groups * panels * size);
    parallel_some(pool, s.groups * panels * size, s.groups * panels, [&](int64_t which) {
      pack_turned_filters(packed + which * size, paired + which / panels * filters * length, filters, channels, s.taps(),
                          pass.taps, which % panels);
    });
    dx.use_in(results, pass, back.places[i]);
    join_lines(pass, results);
    multiply_pass<Pairs>(pool, pass, s.groups, packed, results);
  }
}

// ---- gradient of the weight -----------------------------------------------------------------------------------------

// The windows of a group as a matrix: a row for each position of the result, a column for each [tap][channel].
struct WindowMatrix {
  using Arithmetic = Pairs;
  const Convolution* s;
  const uint16_t* x;  // of the group
  int64_t first_pair = 0, first_column = 0;

  WindowMatrix at(int64_t pair, int64_t column) const { return {s, x, first_pair + pair, first_column + column}; }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return 0; }

  void pack_right(float* to, int64_t k0, int64_t pairs, int64_t first, int columns, int width) const {
    const int64_t channels = s->group_channels();
    for (int64_t j = 0; j < columns;) {  // tap by tap, a vector at a time
      const int64_t column = first_column + first + j, channel = column % channels;
      const int64_t some = smaller(smaller<int64_t>(columns - j, channels - channel), int64_t(kLanes));
      pack_some(to + j, width, first_pair + k0, pairs, column / channels, channel, static_cast<int>(some));
      j += some;
    }
    for (int64_t k = 0; columns < width && k < pairs; k++) {
      std::memset(to + k * width + columns, 0, sizeof(float) * (width - columns));
    }
  }

 private:
  // `count` channels of the windows of 2 `pairs` positions at one tap.
  void pack_some(float* to, int64_t width, int64_t k0, int64_t pairs, int64_t tap, int64_t channel, int count) const {
    const Convolution& c = *s;
    const int64_t shift[3] = {tap / (c.kernel[1] * c.kernel[2]) * c.dilation[0] - c.before[0],
                              tap / c.kernel[2] % c.kernel[1] * c.dilation[1] - c.before[1],
                              tap % c.kernel[2] * c.dilation[2] - c.before[2]};
    const int64_t per_image = c.out[0] * c.out[1] * c.out[2], last = c.images * per_image;
    int64_t position = 2 * k0, column = position % c.out[2];
    const uint16_t* line = nullptr;  // of the image, where the position's row of windows lies inside
    const auto begin_line = [&] {
      const int64_t image = position / per_image, plane = position / (c.out[1] * c.out[2]) % c.out[0] * c.stride[0] + shift[0];
      const int64_t row = position / c.out[2] % c.out[1] * c.stride[1] + shift[1];
      const bool inside = position < last && plane >= 0 && plane < c.extent[0] && row >= 0 && row < c.extent[1];
      line = inside ? x + ((image * c.extent[0] + plane) * c.extent[1] + row) * c.extent[2] * c.channels + channel : nullptr;
    };
    const auto next = [&] {
      const int64_t place = column * c.stride[2] + shift[2];
      const bool inside = line != nullptr && static_cast<uint64_t>(place) < static_cast<uint64_t>(c.extent[2]);
      const Halves found = inside ? load_halves(line + place * c.channels, count) : Halves{};
      position++;
      if (++column == c.out[2]) {
        column = 0;
        begin_line();
      }
      return found;
    };
    begin_line();
    for (int64_t k = 0; k < pairs; k++, to += width) {
      const Halves first = next(), second = next();
      store_up_to(to, pair_up(first, second), count);
    }
  }
};

inline void convolve_pairs_weight(ffi::ThreadPool& pool, const Convolution& s, Numbers x, Numbers dy, const Output& dw) {
  const int64_t channels = s.group_channels(), filters = s.group_filters(), taps = s.taps(), columns = channels * taps;
  const int64_t positions = s.images * s.out[0] * s.out[1] * s.out[2];
  const uint16_t* images = halves_of<8>(pool, x, s.images * s.extent[0] * s.extent[1] * s.extent[2] * s.channels);
  for (int64_t group = 0; group < s.groups; group++) {
    const LeftPairs left{{dy.at(group * filters), 1, s.filters, positions}};
    const WindowMatrix right{&s, images + group * channels};
    const int64_t place = group * filters * columns;
    const bool in_order = taps == 1;
    Finish finish;
    if (in_order && dw.rounds) {
      finish.rounded = static_cast<uint16_t*>(dw.data) + place;
      finish.rounded_step = columns;
    }
    float* sums = in_order && !dw.rounds ? static_cast<float*>(dw.data) + place : scratch<7>(filters * columns);
    if (s.reads_positions()) {
      const RightPairs lines{{{images + group * channels, false}, 1, s.channels, positions}};
      multiply_matrices(pool, filters, columns, ceil_div(positions, 2), left, lines, sums, finish);
    } else {
      multiply_matrices(pool, filters, columns, ceil_div(positions, 2), left, right, sums, finish);
    }
    if (in_order) continue;
    parallel_some(pool, filters * columns, filters, [&](int64_t filter) {
      const float* from = sums + filter * columns;
      const int64_t to = place + filter * columns;
      for (int64_t c = 0; c < channels; c++) {
        for (int64_t t = 0; t < taps; t += kLanes) {
          const int count = static_cast<int>(smaller<int64_t>(kLanes, taps - t));
          Vector line{};
          for (int i = 0; i < count; i++) line[i] = from[(t + i) * channels + c];
          if (dw.rounds) store_rounded(static_cast<uint16_t*>(dw.data) + to + c * taps + t, line, count);
          else store_up_to(static_cast<float*>(dw.data) + to + c * taps + t, line, count);
        }
      }
    });
  }
}

}  // namespace proa
