// The update of all parameters of an optimiser in one call, for XLA: SGD, momentum and Adam in one pass over each tensor.
#include <vector>

#include "parallel.h"
#include "vectors.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;

enum Rule : int64_t { kSgd = 0, kMomentum = 1, kAdam = 2 };
enum Decay : int64_t { kNone = 0, kL1 = 1, kL2 = 2, kDecoupled = 3 };

inline Vector root(Vector x) {
#if PROA_AVX512
  return (Vector)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__) && defined(__FMA__)
  return (Vector)_mm256_sqrt_ps((__m256)x);
#else
  for (int i = 0; i < kLanes; i++) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

// `factors`: rate, decay (or what a decoupled one leaves of a weight), and by rule: momentum and the scale of gradients;
// or epsilon, beta1, 1 - beta1, beta2, 1 - beta2.
template <int64_t rule, bool variant>
struct Update {
  int64_t decay;
  const float* factors;

  Vector decayed(Vector grad, Vector value) const {
    if (decay == kL2) return grad + all(factors[1]) * value;
    if (decay == kL1) {
      const Vector one = all(1.0f);
      return grad + all(factors[1]) * (value > 0.0f ? one : (value < 0.0f ? -one : value));
    }
    return grad;
  }

  // `old` are the parameter, the gradient and the states, `now` the new parameter and states; they may be the same memory.
  void run(const float* const* old, float* const* now, int64_t first, int64_t last) const {
    for (int64_t i = first; i < last; i += kLanes) {
      const int count = static_cast<int>(smaller<int64_t>(kLanes, last - i));
      auto read = [&](int column) {
        return count == kLanes ? load(old[column] + i) : load_some(old[column] + i, count);
      };
      auto write = [&](int column, Vector v) {
        if (count == kLanes) store(now[column] + i, v);
        else store_some(now[column] + i, v, count);
      };
      Vector value = read(0), grad = read(1);
      const Vector rate = all(factors[0]);
      if (rule == kSgd) {
        write(0, value - rate * decayed(grad, value));
      } else if (rule == kMomentum) {
        const Vector kept = all(factors[2]);
        grad = decayed(grad * all(factors[3]), value);
        const Vector velocity = kept * read(2) + grad;
        write(0, value - rate * (variant ? grad + kept * velocity : velocity));
        write(1, velocity);
      } else {
        if (decay == kDecoupled) value = value * all(factors[1]);
        else grad = decayed(grad, value);
        const Vector mean = all(factors[3]) * read(2) + all(factors[4]) * grad;
        const Vector square = all(factors[5]) * read(3) + all(factors[6]) * grad * grad;
        Vector under = square;
        if (variant) {
          const Vector most = read(4);
          under = most > square || most != most ? most : square;
          write(3, under);
        }
        write(0, value - rate * (mean / (root(under) + all(factors[2]))));
        write(1, mean);
        write(2, square);
      }
    }
  }
};

static ffi::Error update(ffi::ThreadPool pool, Floats factors, ffi::RemainingArgs operands, ffi::RemainingRets results,
                         int64_t count, int64_t rule, int64_t decay, bool variant) {
  const int columns = rule == kSgd ? 2 : rule == kMomentum ? 3 : variant ? 5 : 4;
  if (static_cast<int64_t>(operands.size()) != columns * count || factors.element_count() < 7 ||
      static_cast<int64_t>(results.size()) != (columns - 1) * count) {
    return ffi::Error::InvalidArgument("update: the operands do not fit");
  }
  struct Tensor {
    const float* old[5];
    float* now[4];
    int64_t first, last;
  };
  constexpr int64_t some = 1 << 14;  // elements of a piece: all its columns stay in the second cache
  std::vector<Tensor> pieces;
  int64_t total = 0;
  for (int64_t i = 0; i < count; i++) {
    Tensor tensor{};
    int64_t size = -1;
    for (int column = 0; column < columns; column++) {
      auto buffer = operands.get<Floats>(column * count + i);
      if (!buffer.has_value() || (size >= 0 && static_cast<int64_t>(buffer->element_count()) != size)) {
        return ffi::Error::InvalidArgument("update: the shapes do not fit");
      }
      size = static_cast<int64_t>(buffer->element_count());
      tensor.old[column] = buffer->typed_data();
    }
    for (int column = 0; column < columns - 1; column++) {
      auto buffer = results.get<Floats>(column * count + i);
      if (!buffer.has_value() || static_cast<int64_t>((*buffer)->element_count()) != size) {
        return ffi::Error::InvalidArgument("update: the shapes do not fit");
      }
      tensor.now[column] = (*buffer)->typed_data();
    }
    total += size;
    for (tensor.first = 0; tensor.first < size; tensor.first += some) {
      tensor.last = smaller(size, tensor.first + some);
      pieces.push_back(tensor);
    }
  }
  auto run = [&](auto kernel) {
    auto one = [&](int64_t i) { kernel.run(pieces[i].old, pieces[i].now, pieces[i].first, pieces[i].last); };
    if (total < 4 * some) {
      for (size_t i = 0; i < pieces.size(); i++) one(static_cast<int64_t>(i));
    } else {
      parallel_for(pool, static_cast<int64_t>(pieces.size()), one);
    }
  };
  const float* given = factors.typed_data();
  if (rule == kSgd) run(Update<kSgd, false>{decay, given});
  else if (rule == kMomentum && variant) run(Update<kMomentum, true>{decay, given});
  else if (rule == kMomentum) run(Update<kMomentum, false>{decay, given});
  else if (variant) run(Update<kAdam, true>{decay, given});
  else run(Update<kAdam, false>{decay, given});
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Update, proa::update,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<int64_t>("count")
                                  .Attr<int64_t>("rule")
                                  .Attr<int64_t>("decay")
                                  .Attr<bool>("variant"));
