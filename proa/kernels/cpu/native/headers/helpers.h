// Threads that help with one job, and stay a moment for the next.
//
// A model that is run is a row of short jobs with little between them, and waking a thread takes as long as some of those
// jobs. So a thread that has helped looks for another job for a moment before it goes back to its pool, and whoever has one
// hands it over without a system call.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace proa {

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// How often a thread that has done its part looks for the others before it sleeps: some 20 microseconds.
constexpr int kSpins = 1000;

// Indices 0 ... count - 1 that several threads take one by one. Freed by the last one that holds it.
class Job {
 public:
  Job(int64_t count, const void* body, void (*call)(const void*, int64_t)) : count_(count), body_(body), call_(call) {}

  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void work() {
    for (;;) {
      const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) return;
      call_(body_, i);  // the body is alive as long as any index is left to take
      if (done_.fetch_add(1) + 1 == count_ && awaited_.load()) {
        std::lock_guard<std::mutex> held(mutex_);
        finished_.notify_one();
      }
    }
  }

  // The others finish at about the same time, if they run at all: on a busy machine one may be waiting for its core, which is
  // perhaps this one. So it is given up soon.
  void wait() {
    for (int spins = 0; spins < kSpins; spins++) {
      if (done_.load(std::memory_order_acquire) == count_) return;
      pause_briefly();
    }
    std::unique_lock<std::mutex> held(mutex_);
    awaited_.store(true);
    finished_.wait(held, [&] { return done_.load() == count_; });
  }

 private:
  std::atomic<int64_t> next_{0}, done_{0};
  std::atomic<int> holders_{1};
  std::atomic<bool> awaited_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  const int64_t count_;
  const void* const body_;
  void (*const call_)(const void*, int64_t);
};

// Where threads of a pool wait between jobs. Nobody depends on them: whoever hands a job over works on it, too, and a helper
// that is not there any more (in a forked process) is only a place that stays taken.
class Helpers {
 public:
  // Hands a job over to a thread that waits for one; it holds the job then. False where none waits.
  bool offer(Job* job) {
    for (Place& place : places_) {
      Job* found = open();
      if (place.job.load(std::memory_order_relaxed) == found &&
          place.job.compare_exchange_strong(found, job, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

  // Works on a job that the caller's thread holds, and on those that come next.
  void help(Job* job) {
    for (; job != nullptr; job = stay()) {
      job->work();
      job->release();
    }
  }

 private:
  struct alignas(64) Place {
    std::atomic<Job*> job{nullptr};  // null: nobody waits here
  };
  static constexpr int kPlaces = 16, kLooks = 64, kMostWorth = 8, kTrials = 16;
  static constexpr std::chrono::microseconds kMoment{50};

  static Job* open() { return reinterpret_cast<Job*>(uintptr_t{1}); }  // somebody waits

  // The next job, if one comes within a moment. Where it seldom pays to wait, it is tried seldom.
  Job* stay() {
    if (worth_.load(std::memory_order_relaxed) <= 0 && tried_.fetch_add(1, std::memory_order_relaxed) % kTrials) return nullptr;
    for (Place& place : places_) {
      Job* found = nullptr;
      if (place.job.load(std::memory_order_relaxed) == nullptr && place.job.compare_exchange_strong(found, open())) {
        found = wait_at(place);
        const int worth = worth_.load(std::memory_order_relaxed);
        if (found && worth < kMostWorth) worth_.store(worth + 1, std::memory_order_relaxed);
        if (!found && worth > 0) worth_.store(worth - 1, std::memory_order_relaxed);
        return found;
      }
    }
    return nullptr;
  }

  Job* wait_at(Place& place) {
    const auto end = std::chrono::steady_clock::now() + kMoment;
    do {
      for (int look = 0; look < kLooks; look++) {
        if (place.job.load(std::memory_order_acquire) != open()) return place.job.exchange(nullptr);
        pause_briefly();
      }
      sched_yield();  // to whoever has something to do on this core
    } while (std::chrono::steady_clock::now() < end);
    Job* found = open();
    return place.job.compare_exchange_strong(found, nullptr) ? nullptr : place.job.exchange(nullptr);
  }

  Place places_[kPlaces];
  std::atomic<int> worth_{kMostWorth}, tried_{0};
};

// One for all libraries of kernels in a process: the compiler marks it so that the loader binds all of them to the first.
inline Helpers kHelpers;

}  // namespace proa
