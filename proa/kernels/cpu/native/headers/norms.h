// Normalisation of rows: everything is done while a row is in the cache. (Over channels: channels.h.)
#pragma once

#include <cmath>
#include <vector>

#include "parallel.h"
#include "vectors.h"

namespace proa {

constexpr int64_t kBlock = 2048;  // elements whose sum stays in float; blocks are added up in double
constexpr int64_t kRowsTogether = 32;  // the same for rows that are added to each other

// sums of f(i, count of lanes, lane 0 at i) over [0, count), where f returns two vectors.
template <class Pair>
void sum_pairs(int64_t count, const Pair& pair, double& first, double& second) {
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = smaller(count, begin + kBlock);
    Vector a0{}, b0{}, a1{}, b1{};
    int64_t i = begin;
    for (; i + 2 * kLanes <= end; i += 2 * kLanes) {
      pair(i, kLanes, a0, b0);
      pair(i + kLanes, kLanes, a1, b1);
    }
    for (; i < end; i += kLanes) pair(i, int(smaller<int64_t>(kLanes, end - i)), a0, b0);
    first += sum_of(a0 + a1);
    second += sum_of(b0 + b1);
  }
}

// The first `count` lanes, 0 behind them.
inline Vector keep(Vector v, int count) {
  if (count == kLanes) return v;
  float lanes[kLanes];
  store(lanes, v);
  return load_some(lanes, count);
}

inline int64_t norm_tasks(ffi::ThreadPool& pool, int64_t pieces, int64_t elements) {
  return elements < 30000 ? 1 : smaller<int64_t>(pieces, 4 * threads_of(pool));
}

struct Moments {
  float mean, rest, factor;  // the mean is `mean + rest`: one float is not exact enough where it is large
};

// Mean (0 unless `centred`) and 1 / sqrt(variance + epsilon) of a row.
inline Moments moments_of(const float* row, int64_t length, float epsilon, bool centred) {
  double sum = 0, squares = 0, unused = 0;
  if (centred) {
    sum_pairs(length, [&](int64_t i, int count, Vector& p, Vector&) { p += load_up_to(row + i, count); }, sum, unused);
  }
  const float mean = float(sum / length);
  const Vector middle = all(mean);
  double rest = 0;
  sum_pairs(length, [&](int64_t i, int count, Vector& p, Vector& q) {
    const Vector d = keep(load_up_to(row + i, count) - middle, count);
    p += d * d;
    q += d;
  }, squares, rest);
  rest /= length;  // what the rounded mean left out
  const double variance = squares / length - (centred ? rest * rest : 0.0);
  return {mean, centred ? float(rest) : 0.0f, float(1.0 / std::sqrt(variance + epsilon))};
}

inline void row_norm(ffi::ThreadPool& pool, int64_t rows, int64_t length, const float* x, const float* weight,
                     const float* bias, float epsilon, bool centred, float* y) {
  const int64_t tasks = norm_tasks(pool, rows, rows * length);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      const float* from = x + r * length;
      float* to = y + r * length;
      const Moments m = moments_of(from, length, epsilon, centred);
      const Vector mean = all(m.mean), rest = all(m.rest), factor = all(m.factor);
      for (int64_t i = 0; i < length; i += kLanes) {
        const int count = int(smaller<int64_t>(kLanes, length - i));
        Vector value = (load_up_to(from + i, count) - mean - rest) * factor;
        if (weight) value *= load_up_to(weight + i, count);
        if (bias) value += load_up_to(bias + i, count);
        store_up_to(to + i, value, count);
      }
    }
  });
}

inline void row_norm_grad_input(ffi::ThreadPool& pool, int64_t rows, int64_t length, const float* x, const float* grad,
                                const float* weight, float epsilon, bool centred, float* dx) {
  const int64_t tasks = norm_tasks(pool, rows, rows * length);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; r++) {
      const float *from = x + r * length, *grads = grad + r * length;
      float* to = dx + r * length;
      const Moments m = moments_of(from, length, epsilon, centred);
      const Vector mean = all(m.mean), rest = all(m.rest), factor = all(m.factor);
      auto scaled = [&](int64_t i, int count) {
        const Vector g = load_up_to(grads + i, count);
        return weight ? g * load_up_to(weight + i, count) : g;
      };
      double sum = 0, along = 0;
      sum_pairs(length, [&](int64_t i, int count, Vector& p, Vector& q) {
        const Vector g = scaled(i, count);
        p += g;
        q += g * ((load_up_to(from + i, count) - mean - rest) * factor);
      }, sum, along);
      const Vector level = all(centred ? float(sum / length) : 0.0f), slope = all(float(along / length));
      for (int64_t i = 0; i < length; i += kLanes) {
        const int count = int(smaller<int64_t>(kLanes, length - i));
        const Vector standard = (load_up_to(from + i, count) - mean - rest) * factor;
        store_up_to(to + i, (scaled(i, count) - level - standard * slope) * factor, count);
      }
    }
  });
}

// The sum over rows of grad * standardised x.
inline void row_norm_grad_weight(ffi::ThreadPool& pool, int64_t rows, int64_t length, const float* x,
                                 const float* grad, float epsilon, bool centred, float* dw) {
  const int64_t tasks = norm_tasks(pool, ceil_div(rows, 8), rows * length);
  std::vector<double> sums(length * tasks, 0.0);
  parallel_for(pool, tasks, [&](int64_t task) {
    double* mine = sums.data() + length * task;
    float* block = scratch<0>(length);
    const int64_t end = rows * (task + 1) / tasks;
    for (int64_t begin = rows * task / tasks; begin < end; begin += kRowsTogether) {
      std::memset(block, 0, sizeof(float) * length);
      for (int64_t r = begin; r < smaller(end, begin + kRowsTogether); r++) {
        const float *from = x + r * length, *grads = grad + r * length;
        const Moments m = moments_of(from, length, epsilon, centred);
        const Vector mean = all(m.mean), rest = all(m.rest), factor = all(m.factor);
        for (int64_t i = 0; i < length; i += kLanes) {
          const int count = int(smaller<int64_t>(kLanes, length - i));
          const Vector standard = (load_up_to(from + i, count) - mean - rest) * factor;
          store_up_to(block + i, load_up_to(block + i, count) + load_up_to(grads + i, count) * standard, count);
        }
      }
      for (int64_t i = 0; i < length; i++) mine[i] += block[i];
    }
  });
  for (int64_t i = 0; i < length; i++) {
    double total = 0;
    for (int64_t t = 0; t < tasks; t++) total += sums[length * t + i];
    dw[i] = float(total);
  }
}

}  // namespace proa
