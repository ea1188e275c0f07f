// The windows of a convolution as a matrix that is never stored: row (channel, tap), column (image, position).
//
// A pass goes over a grid of positions. Position (a, b) reads the source at (a * step + dh, b * step + dw) for each tap
// (dh, dw); what lies outside is 0. The forward convolution is one such pass. The gradient of its input is stride x stride of
// them, one for each residue of the position: there a tap either fits or is left out, and no product with an inserted zero
// is ever computed.
#pragma once

#include <vector>

#include "gemm.h"

namespace proa {

struct Tap {
  int32_t dh, dw;
  int64_t weight;  // where its weight lies in a filter
};

struct Windows {
  const float* source;  // the group's first channel of the first image
  int64_t image_step, channel_step;
  int32_t height, width;            // of the source
  int32_t grid_height, grid_width;  // positions in a pass
  int32_t step_h, step_w;
  std::vector<Tap> taps;

  int64_t positions() const { return int64_t{grid_height} * grid_width; }

  // Coordinates of up to kLanes following positions of one or more images.
  struct Places {
    alignas(64) int32_t row[kLanes], column[kLanes], offset[kLanes];  // offset from the first lane's image
    const float* image;
    int count;
    bool side_by_side;
  };

  // Lanes [0, count) are the positions first, first + 1, ... of image after image.
  void find(int64_t first, int count, Places& places) const {
    const int64_t all_positions = positions();
    int64_t image = first / all_positions;
    int64_t rest = first % all_positions;
    int32_t a = static_cast<int32_t>(rest / grid_width), b = static_cast<int32_t>(rest % grid_width);
    places.image = source + image * image_step;
    places.count = count;
    places.side_by_side = true;
    int64_t base = 0;
    for (int i = 0; i < kLanes; i++) {
      if (i < count) {
        places.row[i] = a * step_h;
        places.column[i] = b * step_w;
        places.offset[i] = static_cast<int32_t>(base + int64_t{a} * step_h * width + int64_t{b} * step_w);
        if (i > 0 && places.offset[i] != places.offset[i - 1] + 1) places.side_by_side = false;
        if (++b == grid_width) {
          b = 0;
          if (++a == grid_height) {
            a = 0;
            base += image_step;
          }
        }
      } else {
        places.row[i] = places.column[i] = INT32_MIN / 2;  // outside whatever the tap
        places.offset[i] = 0;
      }
    }
  }

#if PROA_AVX512
  __mmask16 inside(const Places& places, const Tap& tap) const {
    const __m512i row = _mm512_add_epi32(_mm512_load_si512(places.row), _mm512_set1_epi32(tap.dh));
    const __m512i column = _mm512_add_epi32(_mm512_load_si512(places.column), _mm512_set1_epi32(tap.dw));
    return _mm512_cmplt_epu32_mask(row, _mm512_set1_epi32(height)) &
           _mm512_cmplt_epu32_mask(column, _mm512_set1_epi32(width));
  }
  static Vector read(const Places& places, const float* at, __mmask16 mask) {
    if (places.side_by_side) return (Vector)_mm512_maskz_loadu_ps(mask, at + places.offset[0]);
    return (Vector)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, _mm512_load_si512(places.offset), at, 4);
  }
#else
  struct Mask {
    bool lane[kLanes];
  };
  Mask inside(const Places& places, const Tap& tap) const {
    Mask mask;
    for (int i = 0; i < kLanes; i++) {
      mask.lane[i] = static_cast<uint32_t>(places.row[i] + tap.dh) < static_cast<uint32_t>(height) &&
                     static_cast<uint32_t>(places.column[i] + tap.dw) < static_cast<uint32_t>(width);
    }
    return mask;
  }
  static Vector read(const Places& places, const float* at, const Mask& mask) {
    Vector found{};
    for (int i = 0; i < kLanes; i++) found[i] = mask.lane[i] ? at[places.offset[i]] : 0.0f;
    return found;
  }
#endif

  const float* at(const Places& places, int64_t channel, const Tap& tap) const {
    return places.image + channel * channel_step + int64_t{tap.dh} * width + tap.dw;
  }

  // The right operand of the forward product: to[k * columns + j], k = (channel, tap), j = position.
  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int panel) const {
    const int halves = panel / kLanes, count = static_cast<int>(taps.size());
    Places places[2];
    decltype(inside(places[0], taps[0])) masks[2][64];
    const bool known = count <= 64;  // masks of few taps are found once
    for (int h = 0; h < halves; h++) {
      const int some = smaller(columns - h * kLanes, kLanes);
      find(first + h * kLanes, some, places[h]);
      for (int t = 0; known && t < count; t++) masks[h][t] = inside(places[h], taps[t]);
    }
    int64_t channel = k0 / count;
    int t = static_cast<int>(k0 % count);
    for (int64_t k = 0; k < depth; k++, to += panel) {
      for (int h = 0; h < halves; h++) {
        const auto mask = known ? masks[h][t] : inside(places[h], taps[t]);
        store(to + h * kLanes, read(places[h], at(places[h], channel, taps[t]), mask));
      }
      if (++t == count) {
        t = 0;
        channel++;
      }
    }
  }
};

// Columns of the windows from `column` on, as a right operand.
struct WindowColumns {
  const Windows& windows;
  int64_t column;

  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int panel) const {
    windows.pack_right(to, k0, depth, column + first, columns, panel);
  }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return 0; }
};

// The same the other way round, for the gradient of the weight: to[k * panel + j], k = position, j = (channel, tap).
struct TurnedWindows {
  const Windows& windows;
  int64_t position, column;  // where to begin

  void pack_right(float* to, int64_t k0, int64_t depth, int64_t first, int columns, int panel) const {
    k0 += position;
    first += column;
    const int count = static_cast<int>(windows.taps.size());
    alignas(64) float lines[kWidth][kLanes];
    for (int j = columns; j < panel; j++) store(lines[j], Vector{});
    for (int64_t k = 0; k < depth; k += kLanes) {
      const int some = static_cast<int>(smaller<int64_t>(kLanes, depth - k));
      Windows::Places places;
      windows.find(k0 + k, some, places);
      int64_t channel = first / count;
      int t = static_cast<int>(first % count);
      for (int j = 0; j < columns; j++) {
        const Tap& tap = windows.taps[t];
        store(lines[j], Windows::read(places, windows.at(places, channel, tap), windows.inside(places, tap)));
        if (++t == count) {
          t = 0;
          channel++;
        }
      }
      for (int j = 0; j < panel; j += 8) {
        const float* eight[8];
        for (int i = 0; i < 8; i++) eight[i] = lines[j + i];
        transpose_8(to + k * panel + j, panel, eight, some);
      }
    }
  }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return 0; }
};

// Images as the left operand of the same product: row = channel, k = position in image after image.
struct Images {
  const float* data;
  int64_t image_step, positions, position;  // position: where to begin

  void pack_left(float* to, int64_t first, int rows, int64_t k0, int64_t depth) const {
    k0 += position;
    for (int64_t k = 0; k < depth;) {
      const int64_t image = (k0 + k) / positions, rest = (k0 + k) % positions;
      const int64_t some = smaller(positions - rest, depth - k);
      const Matrix matrix{data + image * image_step + rest, positions, 1};
      if (positions == 1) {  // a Matrix of which both steps are 1 would be ambiguous
        for (int r = 0; r < rows; r++) to[k * rows + r] = matrix.data[first + r];
      } else {
        matrix.pack_left(to + k * rows, first, rows, 0, some);
      }
      k += some;
    }
  }
};

// Where a pass puts its results: row = channel, column = position in image after image, spread by steps.
struct Spread {
  float* data;  // the group's first channel of the first image, moved to the pass's first position
  int64_t image_step, step;
  int64_t positions, grid_width;
  int64_t step_h, step_w;
  bool dense;     // positions follow each other
  int64_t first;  // the column to begin with

  int64_t place(int64_t column) const {
    const int64_t image = column / positions, rest = column % positions;
    return image * image_step + rest / grid_width * step_h + rest % grid_width * step_w;
  }
  float* direct(int64_t row, int64_t column, int count) const {
    column += first;
    if (!dense || column / positions != (column + count - 1) / positions) return nullptr;
    return data + row * step + column / positions * image_step + column % positions;
  }
  void read(float* to, int64_t row, int rows, int64_t column, int count) const {
    for (int j = 0; j < count; j++) {
      const float* from = data + row * step + place(first + column + j);
      for (int r = 0; r < rows; r++) to[r * kWidth + j] = from[r * step];
    }
  }
  void write(const float* from, int64_t row, int rows, int64_t column, int count) const {
    for (int j = 0; j < count; j++) {
      float* to = data + row * step + place(first + column + j);
      for (int r = 0; r < rows; r++) to[r * step] = from[r * kWidth + j];
    }
  }
};

}  // namespace proa
