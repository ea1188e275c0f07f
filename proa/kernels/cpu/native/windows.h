// The windows of a convolution as a matrix that is never stored: row (channel, tap), column (image, position).
//
// A pass goes over a grid of positions. Position (a, b) reads the source at (a * step + dh, b * step + dw) for each tap
// (dh, dw); what lies outside is 0. The forward convolution is one such pass. The gradient of its input is stride x stride of
// them, one for each residue of the position: there a tap either fits or is left out, and no product with an inserted zero
// is ever computed.
#pragma once

#include <vector>

#include "gemm.h"
#include "transpose.h"

namespace proa {

struct Tap {
  int32_t dh, dw;
  int64_t weight;  // where its weight lies in a filter
};

// kLanes following positions of one or more images.
struct Chunk {
  alignas(64) int32_t row[kLanes], column[kLanes], offset[kLanes];  // offset from the first lane's image
  int64_t image;                                                    // where that begins in the source
  bool side_by_side;
};

#if PROA_AVX512
using Mask = __mmask16;
#else
struct Mask {
  bool lane[kLanes];
};
#endif

struct Windows {
  const float* source;  // the group's first channel of the first image
  int64_t image_step, channel_step;
  int32_t height, width;            // of the source
  int32_t grid_height, grid_width;  // positions in a pass
  int32_t step_h, step_w;
  const std::vector<Tap>& taps;

  // The chunks of positions first ... first + count - 1; lanes behind the last are outside whatever the tap.
  void find(int64_t first, int64_t count, Chunk* chunks) const {
    const int64_t positions = int64_t{grid_height} * grid_width;
    int64_t image = first / positions * image_step;
    int32_t a = static_cast<int32_t>(first % positions / grid_width), b = static_cast<int32_t>(first % grid_width);
    for (int64_t begin = 0; begin < count; begin += kLanes) {
      Chunk& chunk = *chunks++;
      chunk.image = image;
      chunk.side_by_side = true;
      for (int i = 0; i < kLanes; i++) {
        if (begin + i < count) {
          chunk.row[i] = a * step_h;
          chunk.column[i] = b * step_w;
          const int64_t place = image - chunk.image + int64_t{a} * step_h * width + int64_t{b} * step_w;
          chunk.offset[i] = static_cast<int32_t>(place);
          if (i > 0 && place != int64_t{chunk.offset[i - 1]} + 1) chunk.side_by_side = false;
          if (++b == grid_width) {
            b = 0;
            if (++a == grid_height) {
              a = 0;
              image += image_step;
            }
          }
        } else {
          chunk.row[i] = chunk.column[i] = INT32_MIN / 2;
          chunk.offset[i] = 0;
        }
      }
    }
  }

#if PROA_AVX512
  Mask inside(const Chunk& chunk, const Tap& tap) const {
    const __m512i row = _mm512_add_epi32(_mm512_load_si512(chunk.row), _mm512_set1_epi32(tap.dh));
    const __m512i column = _mm512_add_epi32(_mm512_load_si512(chunk.column), _mm512_set1_epi32(tap.dw));
    return _mm512_cmplt_epu32_mask(row, _mm512_set1_epi32(height)) &
           _mm512_cmplt_epu32_mask(column, _mm512_set1_epi32(width));
  }
  static Vector read(const Chunk& chunk, const float* at, Mask mask) {
    at += chunk.image;
    if (chunk.side_by_side) return (Vector)_mm512_maskz_loadu_ps(mask, at + chunk.offset[0]);
    return (Vector)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, _mm512_load_si512(chunk.offset), at, 4);
  }
#else
  Mask inside(const Chunk& chunk, const Tap& tap) const {
    Mask mask;
    for (int i = 0; i < kLanes; i++) {
      mask.lane[i] = static_cast<uint32_t>(chunk.row[i] + tap.dh) < static_cast<uint32_t>(height) &&
                     static_cast<uint32_t>(chunk.column[i] + tap.dw) < static_cast<uint32_t>(width);
    }
    return mask;
  }
  static Vector read(const Chunk& chunk, const float* at, const Mask& mask) {
    Vector found{};
    for (int i = 0; i < kLanes; i++) found[i] = mask.lane[i] ? at[chunk.image + chunk.offset[i]] : 0.0f;
    return found;
  }
#endif

  const float* at(int64_t channel, const Tap& tap) const {
    return source + channel * channel_step + int64_t{tap.dh} * width + tap.dw;
  }

  // One panel of them as the right operand: to[k * panel + j], k = (channel, tap), j = position.
  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int panel) const;
};

constexpr int kKnownTaps = 64;  // masks of so many taps are found once

// Chunks of positions with the masks of their taps.
class Chunks {
 public:
  void find(const Windows& windows, int64_t first, int64_t count) {
    chunks_.resize(ceil_div(count, kLanes));
    windows.find(first, count, chunks_.data());
    taps_ = static_cast<int>(windows.taps.size());
    known_ = taps_ <= kKnownTaps;
    if (!known_) return;
    masks_.resize(chunks_.size() * taps_);
    for (size_t c = 0; c < chunks_.size(); c++) {
      for (int t = 0; t < taps_; t++) masks_[c * taps_ + t] = windows.inside(chunks_[c], windows.taps[t]);
    }
  }
  int count() const { return static_cast<int>(chunks_.size()); }
  Vector read(const Windows& windows, int c, int t, const float* at) const {
    const Chunk& chunk = chunks_[c];
    return Windows::read(chunk, at, known_ ? masks_[c * taps_ + t] : windows.inside(chunk, windows.taps[t]));
  }
  const float* begin_of(int c, const float* at) const { return at + chunks_[c].image + chunks_[c].offset[0]; }

 private:
  std::vector<Chunk> chunks_;
  std::vector<Mask> masks_;
  int taps_ = 0;
  bool known_ = true;
};

// Panels of windows as the right operand: to[(panel * depth + k) * kWidth + j], k = (channel, tap), j = position.
//
// Several panels are packed together, so that what is read of a line is long enough for the processor to read ahead.
inline void pack_windows(float* to, const Windows& windows, const Chunks& chunks, int64_t k0, int64_t depth,
                         int width = kWidth) {
  const int taps = static_cast<int>(windows.taps.size()), count = chunks.count();
  int64_t channel = k0 / taps;
  int t = static_cast<int>(k0 % taps);
  for (int64_t k = 0; k < depth; k++, to += width) {
    const float* at = windows.at(channel, windows.taps[t]);
    for (int c = 0; c < count; c++) {
      if (t == 0) __builtin_prefetch(chunks.begin_of(c, at + 2 * windows.channel_step));
      store(to + c / 2 * depth * kWidth + c % 2 * kLanes, chunks.read(windows, c, t, at));
    }
    if (++t == taps) {
      t = 0;
      channel++;
    }
  }
}

inline void Windows::pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int panel) const {
  static thread_local Chunks chunks;
  chunks.find(*this, first, columns);
  pack_windows(to, *this, chunks, k0, depth, panel);
  if (chunks.count() * kLanes == panel) return;
  for (int64_t k = 0; k < depth; k++) store(to + k * panel + kLanes, Vector{});
}

// The same the other way round, for the gradient of the weight: to[k * kWidth + j], k = position, j = (channel, tap).
inline void pack_turned_windows(float* to, const Windows& windows, const Chunks& chunks, int64_t depth, int64_t first,
                                int columns) {
  const int taps = static_cast<int>(windows.taps.size());
  const float* lines[kWidth];
  int tap[kWidth];
  for (int j = 0; j < columns; j++) {
    tap[j] = static_cast<int>((first + j) % taps);
    lines[j] = windows.at((first + j) / taps, windows.taps[tap[j]]);
  }
  for (int c = 0; c < chunks.count(); c++, to += kLanes * kWidth) {
    const int some = static_cast<int>(smaller<int64_t>(kLanes, depth - int64_t{c} * kLanes));
    for (int j = 0; j < kWidth; j += kLanes) {
      Vector square[kLanes];
      for (int i = 0; i < kLanes; i++) {
        if (j + i < columns) {
          square[i] = chunks.read(windows, c, tap[j + i], lines[j + i]);
          if (tap[j + i] == 0) __builtin_prefetch(chunks.begin_of(c, lines[j + i]) + 4 * kLanes);
        } else {
          square[i] = Vector{};
        }
      }
      transpose_square(square);
      for (int i = 0; i < some; i++) store(to + i * kWidth + j, square[i]);
    }
  }
}

// Where a pass puts its results: row = channel, column = position in image after image, spread by steps.
struct Spread {
  float* data;  // the group's first channel of the first image, moved to the pass's first position
  int64_t image_step, step;
  int64_t positions, grid_width;
  int64_t step_h, step_w;
  bool dense;  // positions follow each other

  // Where columns [first, first + count) lie, if side by side; otherwise they are computed apart and copied by `write`.
  float* direct(int64_t first, int64_t count) const {
    if (!dense || first / positions != (first + count - 1) / positions) return nullptr;
    return data + first / positions * image_step + first % positions;
  }
  void write(const float* from, int64_t from_step, int64_t rows, int64_t first, int64_t count) const {
    const int64_t line = dense ? positions : grid_width;
    for (int64_t j = 0; j < count;) {
      const int64_t image = (first + j) / positions, rest = (first + j) % positions;
      const int64_t some = smaller(line - rest % line, count - j);
      float* to = data + image * image_step + rest / grid_width * step_h + rest % grid_width * step_w;
      for (int64_t r = 0; r < rows; r++) {
        const float* values = from + r * from_step + j;
        if (dense || step_w == 1) {
          int64_t i = 0;
          for (; i + kLanes <= some; i += kLanes) store(to + r * step + i, load(values + i));
          if (i < some) store_some(to + r * step + i, load_some(values + i, int(some - i)), int(some - i));
        } else {
          for (int64_t i = 0; i < some; i++) to[r * step + i * step_w] = values[i];
        }
      }
      j += some;
    }
  }
};

}  // namespace proa
