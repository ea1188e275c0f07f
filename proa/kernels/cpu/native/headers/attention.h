// Scaled dot-product attention in blocks of queries and keys: the scores of one block are all that is ever stored.
//
// Tensors are [batch, length, heads, width]. For every row of scores two numbers are kept, its largest score and the sum of
// the powers relative to that; from these the gradient computes the weights again, block by block. Tensors of bfloat16 are
// multiplied as such, the weights rounded to it; scores, sums and results are floats.
#pragma once

#include <cmath>
#include <limits>

#include "exponential.h"
#include "pair_matrices.h"

namespace proa {

// What a hidden score is: low enough to weigh nothing beside any other, and a number, so that a row of them is an even one.
constexpr float kHidden = -1.7014117e38f;

// Added to the scores, or true where one may look; nothing at all when both are null. A step is 0 where the mask is repeated.
struct Mask {
  const float* added = nullptr;
  const bool* shown = nullptr;
  int64_t steps[4] = {0, 0, 0, 0};
  bool any() const { return added != nullptr || shown != nullptr; }
};

// A matrix of floats, or of bfloat16 by its bits.
template <class Number>
struct View {
  const Number* data;
  int64_t row_step, column_step;

  View at(int64_t row, int64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
  View transposed() const { return {data, column_step, row_step}; }
};

struct Attention {
  int64_t batch, heads, queries, keys, width, value_width;
  float scale;
  bool causal;
  Mask mask;

  // Of one head: a matrix with rows of all heads.
  template <class Number>
  View<Number> head_of(const Number* data, int64_t b, int64_t h, int64_t length, int64_t size) const {
    return {data + (b * length * heads + h) * size, heads * size, 1};
  }

  // Keys that a block of queries ending at `last` can see. With a mask there may be rows whose other keys are all hidden.
  int64_t visible(int64_t last) const { return causal && !mask.any() ? smaller(keys, last) : keys; }

  // Hides and masks the scores of query `i` for `count` keys from `j0` on, and scales them; gives the largest.
  float mask_row(float* scores, int64_t b, int64_t h, int64_t i, int64_t j0, int64_t count) const {
    const Vector factor = all(scale);
    const int64_t seen = causal ? larger<int64_t>(smaller(count, i + 1 - j0), 0) : count;
    const int64_t at = b * mask.steps[0] + h * mask.steps[1] + i * mask.steps[2] + j0 * mask.steps[3];
    const int64_t step = mask.steps[3];
    if (!mask.any()) {
      for (int64_t j = 0; j < count; j += kLanes) store(scores + j, load(scores + j) * factor);
    } else if (mask.added) {
      const float* added = mask.added + at;
      int64_t j = 0;
      if (step == 1) {
        for (; j + kLanes <= count; j += kLanes) store(scores + j, load(scores + j) * factor + load(added + j));
      }
      for (; j < count; j++) scores[j] = scores[j] * scale + added[j * step];
    } else {
      const bool* shown = mask.shown + at;
      for (int64_t j = 0; j < count; j++) scores[j] = shown[j * step] ? scores[j] * scale : kHidden;
    }
    for (int64_t j = seen; j < count; j++) scores[j] = kHidden;
    Vector best = all(-std::numeric_limits<float>::infinity());
    int64_t j = 0;
    for (; j + kLanes <= count; j += kLanes) best = greater(load(scores + j), best);
    float top = largest_of(best);
    for (; j < count; j++) top = scores[j] > top ? scores[j] : top;
    return top;
  }
};

constexpr int64_t kQueries = 4 * kMaxRows;  // of a block
constexpr int64_t kKeys = 4 * kWidth;

// Rows of scores lie this far apart, with room for whole vectors.
inline int64_t score_step(int64_t keys) { return round_up(smaller(keys, kKeys), kLanes); }

template <class Left, class Right>
void multiply_block(int64_t rows, int64_t columns, int64_t depth, const View<Left>& a, const View<Right>& b, float* c,
                    int64_t c_step, bool accumulate) {
  if constexpr (std::is_same_v<Right, float>) {
    const Matrix left{a.data, a.row_step, a.column_step}, right{b.data, b.row_step, b.column_step};
    multiply(rows, columns, depth, left, right, Result{c, c_step}, accumulate, Finish());
  } else {
    const LeftPairs left{{{a.data, std::is_same_v<Left, float>}, a.row_step, a.column_step, depth}};
    const RightPairs right{{{b.data, false}, b.column_step, b.row_step, depth}};
    multiply(rows, columns, ceil_div(depth, 2), left, right, Result{c, c_step}, accumulate, Finish());
  }
}

// The queries [first, last) of one head. `statistics` has two numbers for each query of the head.
template <class Number>
void attend(const Attention& a, int64_t b, int64_t h, int64_t first, int64_t last, const Number* query, const Number* key,
            const Number* value, float* out, float* statistics) {
  const View<Number> q = a.head_of(query, b, h, a.queries, a.width), k = a.head_of(key, b, h, a.keys, a.width);
  const View<Number> v = a.head_of(value, b, h, a.keys, a.value_width);
  const int64_t out_step = a.heads * a.value_width, step = score_step(a.keys);
  float* to = out + (b * a.queries * a.heads + h) * a.value_width;
  float* scores = scratch<4>(kQueries * step + kLanes);
  for (int64_t i0 = first; i0 < last; i0 += kQueries) {
    const int64_t rows = smaller(kQueries, last - i0), end = a.visible(i0 + rows);
    float highest[kQueries];
    double sums[kQueries];
    for (int64_t j0 = 0; j0 < end; j0 += kKeys) {
      const int64_t columns = smaller(kKeys, end - j0);
      multiply_block(rows, columns, a.width, q.at(i0, 0), k.at(j0, 0).transposed(), scores, step, false);
      for (int64_t r = 0; r < rows; r++) {
        float* row = scores + r * step;
        const float best = a.mask_row(row, b, h, i0 + r, j0, columns);
        float level = j0 == 0 || best > highest[r] ? best : highest[r];
        if (j0 > 0 && level != highest[r]) {  // what was summed up so far was relative to a lower level
          const float factor = highest[r] == -std::numeric_limits<float>::infinity() ? 0 : std::exp(highest[r] - level);
          sums[r] *= factor;
          float* line = to + (i0 + r) * out_step;
          for (int64_t d = 0; d < a.value_width; d++) line[d] *= factor;
        }
        highest[r] = level;
        if (level == -std::numeric_limits<float>::infinity()) level = 0;  // all powers are 0 then, and no NaN
        const Vector lowered = all(level);
        Vector total{};
        int64_t j = 0;
        for (; j + kLanes <= columns; j += kLanes) {
          const Vector power = exponential(load(row + j) - lowered);
          store(row + j, power);
          total += power;
        }
        float sum = sum_of(total);
        if (j < columns) {
          const Vector power = exponential(load(row + j) - lowered);
          store(row + j, power);
          for (int64_t l = 0; l < columns - j; l++) sum += power[l];
        }
        sums[r] = j0 == 0 ? sum : sums[r] + sum;
      }
      multiply_block(rows, a.value_width, columns, View<float>{scores, step, 1}, v.at(j0, 0), to + i0 * out_step, out_step,
                     j0 > 0);
    }
    for (int64_t r = 0; r < rows; r++) {
      const float factor = static_cast<float>(1.0 / sums[r]);
      float* line = to + (i0 + r) * out_step;
      for (int64_t d = 0; d < a.value_width; d++) line[d] *= factor;
      statistics[2 * (i0 + r)] = highest[r];
      statistics[2 * (i0 + r) + 1] = factor;
    }
  }
}

// The gradients of one head, from its queries, keys, values, result, the result's gradient and the statistics.
template <class Number>
void attend_back(const Attention& a, int64_t b, int64_t h, const Number* query, const Number* key, const Number* value,
                 const float* out, const Number* grad, const float* statistics, float* query_grad, float* key_grad,
                 float* value_grad) {
  const View<Number> q = a.head_of(query, b, h, a.queries, a.width), k = a.head_of(key, b, h, a.keys, a.width);
  const View<Number> v = a.head_of(value, b, h, a.keys, a.value_width), g = a.head_of(grad, b, h, a.queries, a.value_width);
  const View<float> o = a.head_of(out, b, h, a.queries, a.value_width);
  const int64_t step = score_step(a.keys), row_step = a.heads * a.width, value_step = a.heads * a.value_width;
  float* to_query = query_grad + (b * a.queries * a.heads + h) * a.width;
  float* to_key = key_grad + (b * a.keys * a.heads + h) * a.width;
  float* to_value = value_grad + (b * a.keys * a.heads + h) * a.value_width;
  float* weights = scratch<4>(kQueries * step + kLanes);
  float* dscores = scratch<5>(kQueries * step + kLanes);
  // Keys are written first by the first block of queries that sees them; those that none sees have no gradient.
  int64_t begun = 0;
  for (int64_t i0 = 0; i0 < a.queries; i0 += kQueries) {
    const int64_t rows = smaller(kQueries, a.queries - i0), end = a.visible(i0 + rows);
    float means[kQueries];
    for (int64_t r = 0; r < rows; r++) {
      const float* x = o.data + (i0 + r) * value_step;
      const Number* y = g.data + (i0 + r) * value_step;
      Vector total{};
      int64_t d = 0;
      for (; d + kLanes <= a.value_width; d += kLanes) total += load(x + d) * load_up_to(y + d, kLanes);
      float sum = sum_of(total);
      for (; d < a.value_width; d++) sum += x[d] * value_of(y[d]);
      means[r] = sum;
    }
    for (int64_t j0 = 0; j0 < end; j0 += kKeys) {
      const int64_t columns = smaller(kKeys, end - j0);
      multiply_block(rows, columns, a.width, q.at(i0, 0), k.at(j0, 0).transposed(), weights, step, false);
      multiply_block(rows, columns, a.value_width, g.at(i0, 0), v.at(j0, 0).transposed(), dscores, step, false);
      for (int64_t r = 0; r < rows; r++) {
        float *row = weights + r * step, *dscore = dscores + r * step;
        a.mask_row(row, b, h, i0 + r, j0, columns);
        const Vector level = all(statistics[2 * (i0 + r)]), factor = all(statistics[2 * (i0 + r) + 1]);
        const Vector mean = all(means[r]), scale = all(a.scale);
        for (int64_t j = 0; j < columns; j += kLanes) {
          const Vector weight = exponential(load(row + j) - level) * factor;
          store(row + j, weight);
          store(dscore + j, weight * (load(dscore + j) - mean) * scale);
        }
      }
      const View<float> p{weights, step, 1}, s{dscores, step, 1};
      multiply_block(rows, a.width, columns, s, k.at(j0, 0), to_query + i0 * row_step, row_step, j0 > 0);
      // Of these keys some may have been begun by earlier blocks.
      const int64_t old = larger<int64_t>(smaller(begun - j0, columns), 0);
      auto add = [&](int64_t from, int64_t count, bool accumulate) {
        if (count == 0) return;
        multiply_block(count, a.value_width, rows, p.transposed().at(from, 0), g.at(i0, 0),
                       to_value + (j0 + from) * value_step, value_step, accumulate);
        multiply_block(count, a.width, rows, s.transposed().at(from, 0), q.at(i0, 0), to_key + (j0 + from) * row_step,
                       row_step, accumulate);
      };
      add(0, old, true);
      add(old, columns - old, false);
    }
    begun = larger(begun, end);
  }
  for (int64_t j = begun; j < a.keys; j++) {
    std::memset(to_value + j * value_step, 0, sizeof(float) * a.value_width);
    std::memset(to_key + j * row_step, 0, sizeof(float) * a.width);
  }
}

}  // namespace proa
