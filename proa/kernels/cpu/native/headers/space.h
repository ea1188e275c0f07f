// Windows that slide over one, two or three axes of space; images lie in memory with their channels side by side
// ([images, depth, height, width, channels]), whatever the order of their logical axes.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.h"
#include "vectors.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Result = ffi::Result<Floats>;
using Sizes = ffi::Span<const int64_t>;

struct Space {
  int64_t images, channels;
  int64_t in[3], out[3], kernel[3], stride[3], before[3], dilation[3];  // depth, height, width; missing axes are 1 long

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t in_lines() const { return images * in[0] * in[1]; }
  int64_t out_lines() const { return images * out[0] * out[1]; }
  double work() const { return double(out_lines()) * out[2] * channels * taps(); }

  // `large` and `small` are logical shapes [images, channels, space ...]; `window`: kernel, stride, padding before and
  // dilation, each for every axis.
  bool read(Sizes large, Sizes small, Sizes window) {
    const size_t rank = large.size() < 3 ? 0 : large.size() - 2;
    if (rank < 1 || rank > 3 || small.size() != large.size() || window.size() != 4 * rank) return false;
    if (large[0] != small[0] || large[1] != small[1]) return false;
    images = large[0];
    channels = large[1];
    for (size_t axis = 0; axis < 3; axis++) {
      const bool there = axis + rank >= 3;
      const size_t a = there ? axis + rank - 3 : 0;
      in[axis] = there ? large[2 + a] : 1;
      out[axis] = there ? small[2 + a] : 1;
      kernel[axis] = there ? window[a] : 1;
      stride[axis] = there ? window[rank + a] : 1;
      before[axis] = there ? window[2 * rank + a] : 0;
      dilation[axis] = there ? window[3 * rank + a] : 1;
      if (kernel[axis] < 1 || stride[axis] < 1 || dilation[axis] < 1) return false;
    }
    return true;
  }
};

// A line of an image: which, and where.
struct Position {
  int64_t image, depth, height;

  Position(int64_t line, const int64_t size[3])
      : image(line / size[1] / size[0]), depth(line / size[1] % size[0]), height(line % size[1]) {}
};

// The taps along one axis that see the inside for an output at `place`: [first, last).
struct Taps {
  int64_t first, last;

  Taps(const Space& s, int axis, int64_t place) {
    const int64_t start = place * s.stride[axis] - s.before[axis], step = s.dilation[axis];
    first = start >= 0 ? 0 : smaller(ceil_div(-start, step), s.kernel[axis]);
    last = start >= s.in[axis] ? 0 : smaller(s.kernel[axis], (s.in[axis] - 1 - start) / step + 1);
    if (last < first) last = first;
  }
};

// How many tasks `lines` are divided into.
inline int64_t line_tasks(ffi::ThreadPool& pool, int64_t lines, double work) {
  return work < 200000 ? 1 : larger<int64_t>(smaller<int64_t>(lines, 4 * threads_of(pool)), 1);
}

// `whole` vectors are the rule; the last channels may be fewer.
template <bool whole>
Vector take(const float* from, int count) { return whole ? load(from) : load_some(from, count); }
template <bool whole>
Vector take(const uint16_t* from, int count) { return widened(load_halves(from, whole ? kLanes : count)); }
template <bool whole>
void put(float* to, Vector value, int count) {
  if (whole) store(to, value);
  else store_some(to, value, count);
}

// Calls body(first channel, how many, whether that is a whole vector) for channels [begin, end).
template <class Body>
void each_vector(int64_t begin, int64_t end, const Body& body) {
  int64_t c = begin;
  for (; c + kLanes <= end; c += kLanes) body(c, kLanes, std::true_type{});
  if (c < end) body(c, static_cast<int>(end - c), std::false_type{});
}
template <class Body>
void each_vector(int64_t channels, const Body& body) { each_vector(0, channels, body); }

}  // namespace proa
