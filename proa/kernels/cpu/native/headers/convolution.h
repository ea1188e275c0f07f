// Convolutions of images whose channels lie side by side in memory: forward, gradient of the input, gradient of the weight.
#pragma once

#include "strips.h"
#include "transpose.h"

namespace proa {

struct Convolution {
  int64_t images, channels, filters, groups;
  int64_t extent[3], out[3];  // of the input and of the result
  int64_t kernel[3], stride[3], before[3], dilation[3];

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Whether each position is computed from the same position alone.
  bool reads_positions() const {
    bool alone = true;
    for (int a = 0; a < 3; a++) alone &= kernel[a] == 1 && stride[a] == 1 && before[a] == 0 && out[a] == extent[a];
    return alone;
  }

  // Calls body(tap of each axis, its number).
  template <class Body>
  void each_tap(const Body& body) const {
    for (int64_t number = 0; number < taps(); number++) {
      const int64_t tap[3] = {number / (kernel[1] * kernel[2]), number / kernel[2] % kernel[1], number % kernel[2]};
      body(tap, number);
    }
  }

  Pass forward(const float* x) const {
    Pass pass{x, images, {extent[0], extent[1], extent[2]}, channels, group_channels(),
              {out[0], out[1], out[2]}, {stride[0], stride[1], stride[2]}, {}};
    each_tap([&](const int64_t tap[3], int64_t number) {
      Tap one{{}, number};
      for (int a = 0; a < 3; a++) one.at[a] = tap[a] * dilation[a] - before[a];
      pass.taps.push_back(one);
    });
    return pass;
  }
};

using Sizes = ffi::Span<const int64_t>;

// `window`: stride, padding before, dilation, kernel, each for depth, height and width; then groups.
template <class Shape>
bool describe(Convolution& s, const Shape& x, const Shape& y, Sizes window) {
  if (x.size() < 3 || x.size() > 5 || y.size() != x.size() || window.size() != 13) return false;
  s.images = x[0];
  s.channels = x[1];
  s.filters = y[1];
  s.groups = window[12];
  const size_t missing = 5 - x.size();
  for (size_t a = 0; a < 3; a++) {
    s.extent[a] = a < missing ? 1 : x[a + 2 - missing];
    s.out[a] = a < missing ? 1 : y[a + 2 - missing];
    s.stride[a] = window[a];
    s.before[a] = window[3 + a];
    s.dilation[a] = window[6 + a];
    s.kernel[a] = window[9 + a];
    if (s.stride[a] < 1 || s.dilation[a] < 1 || s.kernel[a] < 1) return false;
  }
  return s.groups > 0 && s.channels % s.groups == 0 && s.filters % s.groups == 0 && y[0] == s.images;
}

// A pass in which every position has a window of its own and no neighbour: one long line.
inline void join_lines(Pass& pass, Results& results) {
  bool alone = pass.taps.size() == 1;
  int64_t step = results.steps[2], source = 1;
  for (int a = 2; a >= 0; a--) {
    alone &= pass.step[a] == 1 && pass.taps[0].at[a] == 0 && pass.grid[a] == pass.extent[a] && results.steps[a] == step;
    step *= pass.grid[a];
    source *= pass.extent[a];
  }
  if (!alone || results.image_step != step) return;
  const int64_t all = pass.images * source;
  pass.images = 1;
  for (int a = 0; a < 3; a++) {
    pass.extent[a] = pass.grid[a] = a == 2 ? all : 1;
    results.steps[a] = results.steps[2];
  }
}

// ---- weights as panels [group][panel][tap, channel][kPanel], and back ------------------------------------------------

// Filters [group_filters][channels][taps] of one group: a panel has 32 filters.
inline void pack_filters(float* to, const float* weight, int64_t rows, int64_t channels, int64_t taps, int64_t panel) {
  const int64_t depth = channels * taps;
  for (int64_t half = 0; half < kPanel; half += kLanes) {
    const int64_t first = panel * kPanel + half;
    const int some = static_cast<int>(larger<int64_t>(smaller<int64_t>(kLanes, rows - first), 0));
    int64_t channel = 0, tap = 0;
    for (int64_t q = 0; q < depth; q += kLanes) {
      const int count = static_cast<int>(smaller<int64_t>(kLanes, depth - q));
      Vector square[kLanes];
      for (int i = 0; i < kLanes; i++) {
        square[i] = i < some ? load_up_to(weight + (first + i) * depth + q, count) : Vector{};
      }
      transpose_square(square);
      for (int i = 0; i < count; i++) {
        store(to + (tap * channels + channel) * kPanel + half, square[i]);
        if (++tap == taps) {
          tap = 0;
          channel++;
        }
      }
    }
  }
}

// The reverse: sums [tap, channel][kPanel] of a panel become filters.
inline void unpack_filters(float* weight, const float* from, int64_t rows, int64_t channels, int64_t taps, int64_t panel) {
  const int64_t depth = channels * taps;
  for (int64_t half = 0; half < kPanel; half += kLanes) {
    const int64_t first = panel * kPanel + half;
    const int some = static_cast<int>(larger<int64_t>(smaller<int64_t>(kLanes, rows - first), 0));
    int64_t channel = 0, tap = 0;
    for (int64_t q = 0; q < depth && some > 0; q += kLanes) {
      const int count = static_cast<int>(smaller<int64_t>(kLanes, depth - q));
      Vector square[kLanes] = {};
      for (int i = 0; i < count; i++) {
        square[i] = load(from + (tap * channels + channel) * kPanel + half);
        if (++tap == taps) {
          tap = 0;
          channel++;
        }
      }
      transpose_square(square);
      for (int i = 0; i < some; i++) {
        float* line = weight + (first + i) * depth + q;
        if (count == kLanes) store(line, square[i]);
        else store_some(line, square[i], count);
      }
    }
  }
}

// For the gradient of the input: [tap, filter][kPanel], a panel has 32 channels; only the given taps.
inline void pack_turned_filters(float* to, const float* weight, int64_t filters, int64_t channels, int64_t taps,
                                const std::vector<Tap>& chosen, int64_t panel) {
#if PROA_AVX512
  const __m512i places = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                            _mm512_set1_epi32(static_cast<int>(taps)));
#endif
  for (int64_t filter = 0; filter < filters; filter++) {
    for (int64_t half = 0; half < kPanel; half += kLanes) {
      const int64_t first = panel * kPanel + half;
      const int some = static_cast<int>(larger<int64_t>(smaller<int64_t>(kLanes, channels - first), 0));
      const float* from = weight + (filter * channels + first) * taps;
      float* line = to + filter * kPanel + half;
      for (const Tap& tap : chosen) {
        Vector values{};
        if (taps == 1) {
          if (some > 0) values = load_up_to(from, some);
        } else {
#if PROA_AVX512
          const __mmask16 mask = static_cast<__mmask16>((1u << some) - 1);
          values = (Vector)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, places, from + tap.weight, 4);
#else
          for (int i = 0; i < some; i++) values[i] = from[i * taps + tap.weight];
#endif
        }
        store(line, values);
        line += filters * kPanel;
      }
    }
  }
}

// Calls body for 0 ... count - 1, on several threads if there are many elements to move.
template <class Body>
void parallel_some(ffi::ThreadPool& pool, int64_t elements, int64_t count, const Body& body) {
  const int64_t tasks = elements < 60000 ? 1 : smaller<int64_t>(count, 4 * threads_of(pool));
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t i = count * task / tasks; i < count * (task + 1) / tasks; i++) body(i);
  });
}

// ---- forward --------------------------------------------------------------------------------------------------------

inline Results forward_results(const Convolution& s, float* y) {
  const int64_t row = s.out[2] * s.filters, plane = s.out[1] * row;
  return {y, s.out[0] * plane, {plane, row, s.filters}, s.group_filters()};
}

// What a convolution's result is written into: bfloat16 or floats.
struct Output {
  void* data;
  bool rounds;
  int64_t size;

  // Where the results of a pass go that begin at `place`. Sums of windows that are too long for one tile wait as floats.
  void use_in(Results& results, const Pass& pass, int64_t place) const {
    const bool waits = rounds && pass.depth() > kDeep / 2;
    if (!rounds) results.data = static_cast<float*>(data) + place;
    if (waits) results.data = scratch<7>(size) + place;
    if (rounds) results.rounded = static_cast<uint16_t*>(data) + place;
  }
};

inline void convolve_packed(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* panels,
                            const Output& y, const float* bias, const Epilogue* epilogue) {
  Pass pass = s.forward(x);
  Results results = forward_results(s, nullptr);
  y.use_in(results, pass, 0);
  results.bias = bias;
  results.epilogue = epilogue;
  join_lines(pass, results);
  multiply_pass(pool, pass, s.groups, panels, results);
}

inline void convolve(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* weight, const float* bias,
                     float* y) {
  const int64_t rows = s.group_filters(), depth = s.group_channels() * s.taps(), panels = ceil_div(rows, kPanel);
  float* packed = scratch<5>(s.groups * panels * depth * kPanel);
  parallel_some(pool, s.filters * depth, s.groups * panels, [&](int64_t which) {
    pack_filters(packed + which * depth * kPanel, weight + which / panels * rows * depth, rows, s.group_channels(),
                 s.taps(), which % panels);
  });
  convolve_packed(pool, s, x, packed, {y, false, s.images * s.out[0] * s.out[1] * s.out[2] * s.filters}, bias, nullptr);
}

// ---- gradient of the input ------------------------------------------------------------------------------------------

// How dx follows from dy: for each residue of an input position modulo the stride, the taps that reach it from a whole output
// position.
struct BackPasses {
  std::vector<Pass> passes;
  std::vector<Results> results;  // without data
  std::vector<int64_t> places;   // of their first elements in dx
  bool all_reached = true;  // what no pass reaches is 0
};

inline BackPasses back_passes(const Convolution& s, const float* dy) {
  BackPasses found;
  const int64_t row = s.extent[2] * s.channels, plane = s.extent[1] * row;
  const int64_t residues[3] = {smaller(s.stride[0], s.extent[0]), smaller(s.stride[1], s.extent[1]),
                               smaller(s.stride[2], s.extent[2])};
  for (int64_t which = 0; which < residues[0] * residues[1] * residues[2]; which++) {
    const int64_t at[3] = {which / (residues[1] * residues[2]), which / residues[2] % residues[1], which % residues[2]};
    Pass pass{dy, s.images, {s.out[0], s.out[1], s.out[2]}, s.filters, s.group_filters(), {}, {1, 1, 1}, {}};
    for (int a = 0; a < 3; a++) pass.grid[a] = ceil_div(s.extent[a] - at[a], s.stride[a]);
    s.each_tap([&](const int64_t tap[3], int64_t number) {
      Tap one{{}, number};
      for (int a = 0; a < 3; a++) {
        const int64_t place = at[a] + s.before[a] - tap[a] * s.dilation[a];
        if (place % s.stride[a] != 0) return;
        one.at[a] = place / s.stride[a];
      }
      pass.taps.push_back(one);
    });
    if (pass.taps.empty()) {
      found.all_reached = false;
      continue;
    }
    std::reverse(pass.taps.begin(), pass.taps.end());  // neighbours in memory then follow each other
    found.passes.push_back(std::move(pass));
    found.places.push_back(at[0] * plane + at[1] * row + at[2] * s.channels);
    found.results.push_back({nullptr, s.extent[0] * plane,
                             {s.stride[0] * plane, s.stride[1] * row, s.stride[2] * s.channels}, s.group_channels()});
  }
  return found;
}

inline void convolve_back(ffi::ThreadPool& pool, const Convolution& s, const float* dy, const float* weight, float* dx) {
  const int64_t channels = s.group_channels(), filters = s.group_filters(), panels = ceil_div(channels, kPanel);
  BackPasses back = back_passes(s, dy);
  if (!back.all_reached) {
    const int64_t row = s.extent[2] * s.channels, lines = s.images * s.extent[0] * s.extent[1];
    parallel_some(pool, lines * row, lines, [&](int64_t line) { std::memset(dx + line * row, 0, sizeof(float) * row); });
  }
  for (size_t i = 0; i < back.passes.size(); i++) {
    Pass& pass = back.passes[i];
    const int64_t size = pass.depth() * kPanel;
    float* packed = scratch<5>(s.groups * panels * size);
    parallel_some(pool, s.groups * panels * size, s.groups * panels, [&](int64_t which) {
      pack_turned_filters(packed + which * size, weight + which / panels * filters * channels * s.taps(), filters, channels,
                          s.taps(), pass.taps, which % panels);
    });
    back.results[i].data = dx + back.places[i];
    join_lines(pass, back.results[i]);
    multiply_pass(pool, pass, s.groups, packed, back.results[i]);
  }
}

// ---- gradient of the weight -----------------------------------------------------------------------------------------

// Positions of a line, `step` floats of the source apart.
struct Line {
  const float* windows;
  int64_t positions;
};

// to[rows][kPanel] (+)= sum over positions of source[rows] times results [position][kPanel].
template <int rows, int vectors>
void line_tile(const Line* lines, int num_lines, int64_t offset, int64_t step, const float* b, float* to, bool accumulate) {
  Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sums[r][v] = Vector{};
  }
  for (int line = 0; line < num_lines; line++) {
    const float* a = lines[line].windows + offset;
    for (int64_t k = lines[line].positions; k > 0; k--, a += step, b += kPanel) {
      Vector column[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) column[v] = load(b + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) {
        const Vector value = all(a[r]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[r][v] += value * column[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      float* here = to + r * kPanel + v * kLanes;
      store(here, accumulate ? load(here) + sums[r][v] : sums[r][v]);
    }
  }
}

using LineTile = void (*)(const Line*, int, int64_t, int64_t, const float*, float*, bool);

template <int rows>
struct LineTiles {
  static LineTile find(int wanted, int vectors) {
    if (wanted != rows) return LineTiles<rows - 1>::find(wanted, vectors);
    return vectors == 1 ? line_tile<rows, 1> : line_tile<rows, 2>;
  }
};
template <>
struct LineTiles<0> {
  static LineTile find(int, int) { return nullptr; }
};

// Columns [first, first + kPanel) of lines of `filters` floats, side by side; zeros behind the last.
inline void pack_columns(float* to, const float* from, int64_t step, int64_t positions, int64_t first, int64_t count) {
  for (int64_t i = 0; i < positions; i++, from += step, to += kPanel) {
    for (int64_t j = 0; j < kPanel; j += kLanes) {
      const int some = static_cast<int>(larger<int64_t>(smaller<int64_t>(kLanes, count - j), 0));
      store(to + j, some > 0 ? load_up_to(from + first + j, some) : Vector{});
    }
  }
}

// Positions whose windows and gradients are brought into order together; with the sums they feed they stay in the first cache.
constexpr int64_t kStripPositions = 192;

inline void convolve_weight(ffi::ThreadPool& pool, const Convolution& s, const float* x, const float* dy, float* dw) {
  Pass pass = s.forward(x);
  Results places = forward_results(s, nullptr);
  join_lines(pass, places);
  const int64_t channels = s.group_channels(), filters = s.group_filters(), depth = pass.depth();
  const int64_t panels = ceil_div(filters, kPanel), all_panels = s.groups * panels;
  const int64_t threads = double(pass.positions()) * s.filters * depth < kWorthTwo ? 1 : threads_of(pool);
  // Channels are copied a tile's rows at a time. Of few channels, neighbouring taps make rows as well: those stay together.
  const int64_t part = channels >= kMaxRows / 2 ? tile_rows(channels) : 0, channel_parts = part ? ceil_div(channels, part) : 1;
  const Blocks blocks(pass, kStripPositions, kBlockRoom / channel_parts, part);
  const int64_t together = larger<int64_t>(kStripPositions / blocks.most_positions(), 1);
  const int64_t strips = ceil_div(blocks.count(), together), size = all_panels * depth * kPanel;
  // Threads take parts of the positions, if sums are few: each has its own, which are added at the end. Or parts of the
  // filters or of the channels, and each brings the others into order for itself.
  const bool by_positions = threads > 1 && size * threads < (1 << 20) && strips >= 2 * threads;
  const bool by_channels = !by_positions && s.groups == 1 && channel_parts > all_panels && channel_parts >= threads;
  const int64_t pieces = by_positions ? threads : 1, parts = by_positions ? 1 : smaller(threads, by_channels ? channel_parts : all_panels);
  float* sums = scratch<4>(size * pieces);
  parallel_for(pool, parts * pieces, [&](int64_t task) {
    const int64_t piece = task / parts, mine = task % parts;
    const auto share = [&](int64_t count, bool divided, int64_t which) {
      return divided ? count * which / parts : which == mine ? 0 : count;
    };
    const int64_t first_panel = share(all_panels, !by_channels, mine), last_panel = share(all_panels, !by_channels, mine + 1);
    const int64_t first_part = share(channel_parts, by_channels, mine), last_part = share(channel_parts, by_channels, mine + 1);
    const int64_t room = larger<int64_t>(blocks.room(), 1);  // of one part of the channels of a block
    float* memory = scratch<1>(together * room * (part ? channel_parts : 1));
    float* packed = scratch<0>(together * blocks.most_positions() * kPanel);
    std::vector<Block> strip_blocks;
    std::vector<Line> lines;
    int64_t copied_group = -1;
    for (int64_t strip = strips * piece / pieces; strip < strips * (piece + 1) / pieces; strip++) {
      const bool more = strip > strips * piece / pieces;
      strip_blocks.clear();
      lines.clear();
      copied_group = -1;
      for (int64_t which = strip * together; which < smaller((strip + 1) * together, blocks.count()); which++) {
        float* here = memory + (which - strip * together) * room;
        strip_blocks.push_back(part ? blocks.place(which) : blocks.find(which, here));
        if (part) strip_blocks.back().data = here;
        const Block& block = strip_blocks.back();
        for (int64_t row = 0; row < block.rows; row++) lines.push_back({block.data + row * blocks.row_step(), block.columns});
      }
      for (int64_t panel = first_panel; panel < last_panel; panel++) {
        const int64_t group = panel / panels, first = panel % panels * kPanel, count = smaller(kPanel, filters - first);
        if (part && group != copied_group) {
          copied_group = group;
          for (int64_t p = first_part; p < last_part; p++) {
            for (size_t b = 0; b < strip_blocks.size(); b++) {
              blocks.copy(memory + (p * together + int64_t(b)) * room, strip_blocks[b], group * channels + p * part,
                          smaller(part, channels - p * part));
            }
          }
        }
        float* to = packed;
        for (const Block& block : strip_blocks) {
          for (int64_t row = 0; row < block.rows; row++, to += block.columns * kPanel) {
            const int64_t at = places.offset(block.image, block.plane, block.row + row, block.column);
            pack_columns(to, dy + at + group * filters, places.steps[2], block.columns, first, count);
          }
        }
        float* own = sums + piece * size + panel * depth * kPanel;
        const auto multiply = [&](int64_t offset, int64_t rows, float* result) {
          for (int64_t j = 0; j < count; j += 2 * kLanes) {
            LineTiles<kMaxRows>::find(static_cast<int>(rows), count - j <= kLanes ? 1 : 2)(
                lines.data(), static_cast<int>(lines.size()), offset, blocks.column_step(), packed + j, result + j, more);
          }
        };
        if (part) {
          for (int64_t p = first_part; p < last_part; p++) {
            const int64_t rows = smaller(part, channels - p * part);
            float* result = own + p * part * kPanel;
            for (const Run& run : blocks.runs()) {
              multiply(p * together * room + run.offset, rows, result);
              result += channels * kPanel;
            }
          }
        } else {
          for (const Run& run : blocks.runs()) {
            const int64_t step = tile_rows(run.length);
            for (int64_t row = 0; row < run.length; row += step) {
              multiply(group * channels + run.offset + row, smaller(step, run.length - row), own + row * kPanel);
            }
            own += run.length * kPanel;
          }
        }
      }
    }
  });
  parallel_some(pool, size, all_panels, [&](int64_t panel) {
    float* own = sums + panel * depth * kPanel;
    for (int64_t piece = 1; piece < pieces; piece++) {
      for (int64_t i = 0; i < depth * kPanel; i++) own[i] += own[piece * size + i];
    }
    unpack_filters(dw + panel / panels * filters * depth, own, filters, channels, s.taps(), panel % panels);
  });
}

}  // namespace proa
