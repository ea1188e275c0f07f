// Sums over everything but the channels of an image, for batch norm and biases. Channels lie side by side in memory (a row of
// them for each position) or as planes. Short sums are float, their sums double.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "norms.h"

namespace proa {

constexpr int64_t kRowsOfBlock = 64;  // rows whose sums stay in float
constexpr int64_t kStreams = 4;  // rows read side by side

// An image whose channels lie side by side, as rows. So that lanes are full where channels are few or odd, the rows of several
// positions are taken as one wide row, along which the channels repeat; the last wide row may be cut short.
struct Rows {
  int64_t positions, channels, fold, width;

  Rows(int64_t positions, int64_t channels) : positions(positions), channels(channels) {
    fold = channels > 128 || channels < 1 ? 1 : kLanes / std::gcd(channels, int64_t(kLanes));
    width = fold * channels;
  }
  int64_t elements() const { return positions * channels; }
  int64_t count() const { return ceil_div(positions, fold); }
  int64_t room() const { return round_up(width, kLanes); }
  int64_t tasks(ffi::ThreadPool& pool) const {
    return larger<int64_t>(1, norm_tasks(pool, count() / 16, elements()));
  }
  // Numbers of channels, repeated along a wide row.
  std::vector<float> along(const float* values) const {
    std::vector<float> wide(room(), 0.0f);
    for (int64_t i = 0; i < fold; i++) std::copy(values, values + channels, wide.data() + i * channels);
    return wide;
  }
};

// visit(place in memory, place in the row, lanes) for every vector of a wide row.
template <class Visit>
void along_row(const Rows& rows, int64_t row, const Visit& visit) {
  const int64_t begin = row * rows.width, length = smaller(rows.width, rows.elements() - begin);
  int64_t lane = 0;
  for (; lane + kLanes <= length; lane += kLanes) visit(begin + lane, lane, kLanes);
  if (lane < length) visit(begin + lane, lane, int(length - lane));
}

// first[c] and second[c] = the sums over positions of what pair(place in memory, place in the row, lanes, p, q) adds to p, q.
template <class Pair>
void sum_rows(ffi::ThreadPool& pool, const Rows& rows, const Pair& pair, double* first, double* second) {
  const int64_t room = rows.room(), tasks = rows.tasks(pool), whole = rows.positions / rows.fold;
  std::vector<double> sums(2 * room * tasks, 0.0);
  parallel_for(pool, tasks, [&](int64_t task) {
    double* mine = sums.data() + 2 * room * task;
    float *p = scratch<0>(2 * room), *q = p + room;
    const int64_t end = rows.count() * (task + 1) / tasks;
    for (int64_t begin = rows.count() * task / tasks; begin < end; begin += kRowsOfBlock) {
      std::memset(p, 0, sizeof(float) * 2 * room);
      const int64_t block_end = smaller(end, begin + kRowsOfBlock);
      int64_t row = begin;
      for (; row + kStreams <= smaller(whole, block_end); row += kStreams) {
        along_row(rows, row, [&](int64_t place, int64_t lane, int count) {
          Vector a = load(p + lane), b = load(q + lane);
          for (int64_t i = 0; i < kStreams; i++) pair(place + i * rows.width, lane, count, a, b);
          store(p + lane, a);
          store(q + lane, b);
        });
      }
      for (; row < block_end; row++) {
        along_row(rows, row, [&](int64_t place, int64_t lane, int count) {
          Vector a = load(p + lane), b = load(q + lane);
          pair(place, lane, count, a, b);
          store(p + lane, a);
          store(q + lane, b);
        });
      }
      for (int64_t c = 0; c < 2 * room; c++) mine[c] += p[c];
    }
  });
  for (int64_t c = 0; c < rows.channels; c++) {
    first[c] = second[c] = 0;
    for (int64_t t = 0; t < tasks; t++) {
      const double* part = sums.data() + 2 * room * t + c;
      for (int64_t i = 0; i < rows.width; i += rows.channels) {
        first[c] += part[i];
        second[c] += part[room + i];
      }
    }
  }
}

// The same of [outer, channels, inner]: pair(place in memory, channel, lanes, p, q).
template <class Pair>
void sum_planes(ffi::ThreadPool& pool, int64_t outer, int64_t channels, int64_t inner, const Pair& pair, double* first,
                double* second) {
  const int64_t tasks = norm_tasks(pool, channels, outer * channels * inner);
  parallel_for(pool, tasks, [&](int64_t task) {
    for (int64_t c = channels * task / tasks; c < channels * (task + 1) / tasks; c++) {
      first[c] = second[c] = 0;
      for (int64_t n = 0; n < outer; n++) {
        const int64_t plane = (n * channels + c) * inner;
        sum_pairs(inner, [&](int64_t i, int count, Vector& p, Vector& q) { pair(plane + i, c, count, p, q); }, first[c],
                  second[c]);
      }
    }
  });
}

}  // namespace proa
