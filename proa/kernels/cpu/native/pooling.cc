// Handlers of pooling for XLA: over one to three axes, channels side by side in memory. A lane is a channel.
#include <limits>
#include <type_traits>

#include "space.h"

namespace proa {

static ffi::Error misfit(const char* what) {
  return ffi::Error::InvalidArgument(std::string(what) + ": the shapes do not fit");
}

// Calls body(first part, last part, first channel, last channel) on the threads: `parts` are divided, and channels too where
// there are few of them.
template <class Body>
static void divide(ffi::ThreadPool& pool, int64_t parts, int64_t channels, double work, const Body& body) {
  if (parts < 1 || channels < 1) return;
  const int64_t wanted = work < 50000 ? 1 : 4 * threads_of(pool);
  const int64_t tasks = smaller(parts, wanted);
  const int64_t columns = larger<int64_t>(smaller(wanted / tasks, channels / (4 * kLanes)), 1);
  const int64_t step = round_up(ceil_div(channels, columns), kLanes);
  parallel_for(pool, tasks * columns, [&](int64_t task) {
    const int64_t row = task / columns, first = smaller(channels, task % columns * step);
    const int64_t last = smaller(channels, first + step);
    if (first < last) body(parts * row / tasks, parts * (row + 1) / tasks, first, last);
  });
}

// ---- maxima ---------------------------------------------------------------------------------------------------------

// NaN is higher than anything.
static Vector higher(Vector a, Vector b) { return a > b ? a : (a != a ? a : b); }

// The elements that a window sees, by their distance from the start of the image.
static void find_elements(const Space& s, const Position& at, int64_t column, std::vector<int64_t>& found) {
  found.clear();
  const Taps deep(s, 0, at.depth), high(s, 1, at.height), wide(s, 2, column);
  for (int64_t d = deep.first; d < deep.last; d++) {
    for (int64_t h = high.first; h < high.last; h++) {
      const int64_t depth = at.depth * s.stride[0] - s.before[0] + d * s.dilation[0];
      const int64_t height = at.height * s.stride[1] - s.before[1] + h * s.dilation[1];
      const int64_t start = (depth * s.in[1] + height) * s.in[2] + column * s.stride[2] - s.before[2];
      for (int64_t w = wide.first; w < wide.last; w++) found.push_back((start + w * s.dilation[2]) * s.channels);
    }
  }
}

static ffi::Error max_pooling(ffi::ThreadPool pool, Floats x, Result y, Sizes window) {
  Space s;
  if (!s.read(x.dimensions(), y->dimensions(), window)) return misfit("maximum pooling");
  if (y->element_count() == 0) return ffi::Error::Success();
  const int64_t size = s.in[0] * s.in[1] * s.in[2] * s.channels;
  divide(pool, s.out_lines(), s.channels, s.work(), [&](int64_t l0, int64_t l1, int64_t c0, int64_t c1) {
    std::vector<int64_t> elements;
    for (int64_t l = l0; l < l1; l++) {
      const Position at(l, s.out);
      for (int64_t b = 0; b < s.out[2]; b++) {
        find_elements(s, at, b, elements);
        const float* from = x.typed_data() + at.image * size + c0;
        float* to = y->typed_data() + (l * s.out[2] + b) * s.channels + c0;
        each_vector(c1 - c0, [&](int64_t c, int lanes, auto whole) {
          Vector best = all(-std::numeric_limits<float>::infinity());
          for (const int64_t element : elements) best = higher(take<whole>(from + element + c, lanes), best);
          put<whole>(to + c, best, lanes);
        });
      }
    }
  });
  return ffi::Error::Success();
}

// Every window's gradient goes to the first of its largest elements.
static ffi::Error max_pool_grad(ffi::ThreadPool pool, Floats x, Floats grad, Result dx, Sizes window) {
  Space s;
  if (!s.read(x.dimensions(), grad.dimensions(), window) || dx->element_count() != x.element_count()) {
    return misfit("gradient of maximum pooling");
  }
  const int64_t size = s.in[0] * s.in[1] * s.in[2] * s.channels, out_size = s.out[0] * s.out[1] * s.out[2] * s.channels;
  const int64_t line_size = s.in[2] * s.channels;
  divide(pool, s.images, s.channels, s.work(), [&](int64_t i0, int64_t i1, int64_t c0, int64_t c1) {
    std::vector<int64_t> elements;
    for (int64_t i = i0; i < i1; i++) {
      const float* from = x.typed_data() + i * size + c0;
      const float* grads = grad.typed_data() + i * out_size + c0;
      float* to = dx->typed_data() + i * size + c0;
      int64_t cleared = 0;  // lines of dx that hold what was put there so far, or 0: just before they are written to
      const auto clear_until = [&](int64_t end) {
        if (c0 == 0 && c1 == s.channels) {
          if (cleared < end) std::memset(to + cleared * line_size, 0, sizeof(float) * (end - cleared) * line_size);
        } else {
          for (int64_t p = cleared * s.in[2]; p < end * s.in[2]; p++) {
            std::memset(to + p * s.channels, 0, sizeof(float) * (c1 - c0));
          }
        }
        cleared = larger(cleared, end);
      };
      for (int64_t l = 0; l < s.out[0] * s.out[1]; l++) {
        const Position at(l, s.out);
        const Taps deep(s, 0, at.depth), high(s, 1, at.height);
        if (deep.last > deep.first && high.last > high.first) {
          const int64_t depth = at.depth * s.stride[0] - s.before[0] + (deep.last - 1) * s.dilation[0];
          const int64_t height = at.height * s.stride[1] - s.before[1] + (high.last - 1) * s.dilation[1];
          clear_until(depth * s.in[1] + height + 1);
        }
        for (int64_t b = 0; b < s.out[2]; b++, grads += s.channels) {
          find_elements(s, at, b, elements);
          const int count = static_cast<int>(elements.size());
          if (count == 0) continue;
          each_vector(c1 - c0, [&](int64_t c, int lanes, auto whole) {
            Vector best = take<whole>(from + elements[0] + c, lanes);
            Integers winner{};
            for (int t = 1; t < count; t++) {
              const Vector value = take<whole>(from + elements[t] + c, lanes);
              const Integers wins = value > best;
              winner = wins ? Integers{} + t : winner;
              best = (wins | (value != value)) ? value : best;  // nothing is larger than a NaN
            }
            const Vector given = take<whole>(grads + c, lanes), none{};
            for (int t = 0; t < count; t++) {
              float* at_tap = to + elements[t] + c;
              put<whole>(at_tap, take<whole>(at_tap, lanes) + (winner == t ? given : none), lanes);
            }
          });
        }
      }
      clear_until(s.in[0] * s.in[1]);
    }
  });
  return ffi::Error::Success();
}

// ---- sums -----------------------------------------------------------------------------------------------------------

constexpr int64_t kTogether = 8;  // positions read side by side

// to = (or, with `more`, +=) the sum of `count` positions.
static void add_positions(const float* from, int64_t count, int64_t step, int64_t channels, bool more, float* to) {
  for (int64_t p = 0; p < count; p += kTogether) {
    const int some = static_cast<int>(smaller(kTogether, count - p));
    each_vector(channels, [&](int64_t c, int lanes, auto whole) {
      const float* at = from + p * step + c;
      Vector sum = more ? take<whole>(to + c, lanes) : Vector{};
      if (some == kTogether) {
        Vector parts[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) parts[i] = take<whole>(at + i * step, lanes) + take<whole>(at + (i + 4) * step, lanes);
        sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
      } else {
        for (int i = 0; i < some; i++) sum += take<whole>(at + i * step, lanes);
      }
      put<whole>(to + c, sum, lanes);
    });
    more = true;
  }
}

// Every output is the sum of a box of the image. `ranges`: for every axis, for every place along it, where its box begins
// and ends.
static ffi::Error box_sums(ffi::ThreadPool pool, Floats x, Result y, Sizes ranges) {
  const auto shape = x.dimensions(), out_shape = y->dimensions();
  const size_t rank = shape.size() < 3 ? 0 : shape.size() - 2;
  if (rank < 1 || rank > 3 || out_shape.size() != shape.size() || shape[0] != out_shape[0] || shape[1] != out_shape[1]) {
    return misfit("sums of boxes");
  }
  const int64_t images = shape[0], channels = shape[1], one[2] = {0, 1};
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  const int64_t* boxes[3] = {one, one, one};
  size_t used = 0;
  int64_t largest = 1;
  for (size_t axis = 3 - rank; axis < 3; axis++) {
    in[axis] = shape[axis + rank - 1];
    out[axis] = out_shape[axis + rank - 1];
    boxes[axis] = ranges.begin() + used;
    used += 2 * out[axis];
    if (used > ranges.size()) return misfit("sums of boxes");
    int64_t longest = 0;
    for (int64_t i = 0; i < out[axis]; i++) {
      const int64_t first = boxes[axis][2 * i], last = boxes[axis][2 * i + 1];
      if (first < 0 || last < first || last > in[axis]) return misfit("sums of boxes");
      longest = larger(longest, last - first);
    }
    largest *= longest;
  }
  if (used != ranges.size()) return misfit("sums of boxes");
  const int64_t lines = images * out[0] * out[1];
  constexpr int64_t kBlock = 64 * kTogether;
  divide(pool, lines, channels, double(lines) * out[2] * channels * larger<int64_t>(largest, 2) / 2,
         [&](int64_t l0, int64_t l1, int64_t c0, int64_t c1) {
    const int64_t wide = c1 - c0;
    float* part = largest > kBlock ? scratch<0>(wide) : nullptr;
    for (int64_t l = l0; l < l1; l++) {
      const Position at(l, out);
      const int64_t *deep = boxes[0] + 2 * at.depth, *high = boxes[1] + 2 * at.height;
      for (int64_t b = 0; b < out[2]; b++) {
        const int64_t first = boxes[2][2 * b], last = boxes[2][2 * b + 1];
        float* to = y->typed_data() + (l * out[2] + b) * channels + c0;
        bool more = false;
        for (int64_t d = deep[0]; d < deep[1]; d++) {
          for (int64_t h = high[0]; h < high[1]; h++) {
            const float* line = x.typed_data() + ((at.image * in[0] + d) * in[1] + h) * in[2] * channels + c0;
            for (int64_t w = first; w < last; w += kBlock) {
              const int64_t count = smaller(kBlock, last - w);
              // Long sums are sums of short ones.
              add_positions(line + w * channels, count, channels, wide, part ? false : more, part ? part : to);
              if (part) add_positions(part, 1, 0, wide, more, to);
              more = true;
            }
          }
        }
        if (!more) std::memset(to, 0, sizeof(float) * wide);
      }
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(MaxPooling, proa::max_pooling,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(MaxPoolGrad, proa::max_pool_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("window"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(BoxSums, proa::box_sums,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<proa::Sizes>("ranges"));
