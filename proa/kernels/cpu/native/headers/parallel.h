// Work on XLA's own thread pool: no second team of threads that would fight for the same cores.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

#include "helpers.h"
#include "xla/ffi/api/ffi.h"

namespace proa {

namespace ffi = xla::ffi;

inline int threads_of(const ffi::ThreadPool& pool) {
  // PROA_NATIVE_THREADS bounds the kernels; XLA's pool has a thread for each core the process may use.
  static const int limit = [] {
    const char* text = std::getenv("PROA_NATIVE_THREADS");
    return text ? std::atoi(text) : 0;
  }();
  int count = static_cast<int>(pool.num_threads());
  if (limit > 0 && count > limit) count = limit;
  return count < 1 ? 1 : count;
}

// Calls body(0) ... body(count - 1), each once, on the pool and on the calling thread. The caller takes part, so a pool whose
// threads are all busy costs time but cannot block: it may itself be one of them.
template <class Body>
void parallel_for(ffi::ThreadPool& pool, int64_t count, const Body& body) {
  int helpers = threads_of(pool) - 1;
  if (count - 1 < helpers) helpers = static_cast<int>(count - 1);
  if (helpers <= 0) {
    for (int64_t i = 0; i < count; i++) body(i);
    return;
  }
  constexpr int most_offers = 16;
  Helpers::Offer offers[most_offers];
  Job* job = new Job(count, &body, [](const void* what, int64_t i) { (*static_cast<const Body*>(what))(i); });
  for (int i = 0; i < helpers; i++) {
    job->hold();
    const Helpers::Offer made = i < most_offers ? kHelpers.offer(job) : Helpers::Offer{};
    if (made.must_call) pool.Schedule([place = made.place] { kHelpers.arrive(place); });
    else if (!made.place) pool.Schedule([job] { kHelpers.help(job); });
    if (i < most_offers) offers[i] = made;
  }
  job->work();
  for (int i = 0; i < helpers && i < most_offers; i++) {
    if (offers[i].place && kHelpers.take_back(offers[i], job)) job->release();
  }
  job->wait();
  job->release();
}

// A buffer that grows and stays with its thread.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }
  float* get(int64_t count) {
    if (count > size_) {
      std::free(data_);
      size_ = 0;
      size_t bytes = (static_cast<size_t>(count) * sizeof(float) + 4095) & ~size_t{4095};
      data_ = static_cast<float*>(std::aligned_alloc(4096, bytes));
      if (data_ == nullptr) throw std::bad_alloc();
      size_ = static_cast<int64_t>(bytes / sizeof(float));
    }
    return data_;
  }

 private:
  float* data_ = nullptr;
  int64_t size_ = 0;
};

template <int purpose>
float* scratch(int64_t count) {
  static thread_local Scratch buffer;
  return buffer.get(count);
}

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
template <class T>
T smaller(T a, T b) { return b < a ? b : a; }
template <class T>
T larger(T a, T b) { return a < b ? b : a; }

}  // namespace proa
