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

// The core that this thread runs on; -1 where that is not known.
inline int core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Goes to another core. A thread that is woken may be put on the core of the one who woke it, though another is idle, and
// then both take turns until the system finds out, milliseconds later.
inline void leave_core(int core) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || core < 0 || core >= CPU_SETSIZE) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
  sched_setaffinity(0, sizeof(allowed), &allowed);
#endif
}

// How often a thread that has done its part looks for the others before it sleeps: some 20 microseconds.
constexpr int kSpins = 1000;

// Indices 0 ... count - 1 that several threads take one by one. Freed by the last one that holds it.
class Job {
 public:
  Job(int64_t count, const void* body, void (*call)(const void*, int64_t)) : count_(count), body_(body), call_(call) {}

  int core() const { return core_; }  // of who made it
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
  const int core_ = proa::core();
  const void* const body_;
  void (*const call_)(const void*, int64_t);
};

// Where threads of a pool wait between jobs. Nobody depends on them: whoever hands a job over works on it, too, and takes it
// back when nothing is left to do. A helper that is not there any more (in a forked process) is only a place that stays taken.
class Helpers {
 private:
  struct alignas(64) Place {
    // null: nobody; waiting(), called(), or a job for whoever is or will be there: for_caller(job) where somebody was called
    std::atomic<Job*> job{nullptr};
    std::atomic<int64_t> since{0};   // when somebody was called
  };

 public:
  // A job that lies at a place; it is held there.
  struct Offer {
    Place* place = nullptr;
    Job* before = nullptr;  // what the place said
    bool must_call = false;  // nobody is on the way: a thread has to `arrive`
  };

  // Lays a job down for a thread that waits, or else for one that was called and is not there yet, or else for one that the
  // caller has to call: waking a thread takes long, so it is done once, and not for every job that comes meanwhile.
  Offer offer(Job* job) {
    for (Place& place : places_) {
      if (put(place, waiting(), job)) return {&place, waiting(), false};
    }
    int64_t now = 0;
    for (Place& place : places_) {
      if (place.job.load(std::memory_order_relaxed) != called()) continue;
      if (now == 0) now = time();
      if (now - place.since.load(std::memory_order_relaxed) > kLate) continue;  // its pool is busy with something else
      if (put(place, called(), for_caller(job))) return {&place, called(), false};
    }
    for (Place& place : places_) {
      if (!put(place, nullptr, for_caller(job))) continue;
      now = now ? now : time();
      place.since.store(now, std::memory_order_relaxed);
      adapt(now);
      return {&place, called(), true};
    }
    return {};
  }

  // Takes a job back that nobody has looked at; false where somebody has, and holds it.
  bool take_back(const Offer& offer, Job* job) {
    return put(*offer.place, offer.before == called() ? for_caller(job) : job, offer.before);
  }

  // What a thread does that was called to a place.
  void arrive(Place* place) {
    Job* found = place->job.exchange(nullptr, std::memory_order_acq_rel);
    help(found == called() ? stay() : itself(found));
  }

  // Works on a job that the caller's thread holds, and on those that come next.
  void help(Job* job) {
    for (int64_t moved = 0; job != nullptr; job = stay()) {
      if (job->core() >= 0 && job->core() == core()) move(job->core(), moved);
      job->work();
      job->release();
    }
  }

 private:
  static constexpr int kPlaces = 16, kLooks = 64, kMostWorth = 8, kTrials = 16;
  // Nanoseconds: for how long a helper only looks, how soon a job comes that is worth waiting for, how long a helper stays at
  // least and at most, when somebody who was called is late, how long a helper stays on a core.
  static constexpr int64_t kEager = 5000, kSoon = 10000, kShort = 50000, kLong = 400000, kLate = 2000000,
                           kSettled = 1000000;

  static Job* waiting() { return reinterpret_cast<Job*>(uintptr_t{1}); }
  static Job* called() { return reinterpret_cast<Job*>(uintptr_t{2}); }
  static_assert(alignof(Job) >= 8, "the low bits of its address are free");
  // A job as it lies where somebody was called. One job may be offered at a place twice: to who waited there and has taken it,
  // and then to who was called there. Taking the first offer back must not find the second one and say that somebody waits.
  static Job* for_caller(Job* job) { return reinterpret_cast<Job*>(reinterpret_cast<uintptr_t>(job) | 4); }
  static Job* itself(Job* job) { return reinterpret_cast<Job*>(reinterpret_cast<uintptr_t>(job) & ~uintptr_t{4}); }
  static int64_t time() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  static bool put(Place& place, Job* before, Job* after) {
    return place.job.load(std::memory_order_relaxed) == before &&
           place.job.compare_exchange_strong(before, after, std::memory_order_acq_rel);
  }

  // Away from the core of who works on the same job, not too often.
  static void move(int core, int64_t& moved) {
    const int64_t now = time();
    if (moved != 0 && now - moved < kSettled) return;
    moved = now;
    leave_core(core);
  }

  // Somebody is called: had the last helper stayed a little longer, nobody would have to be. A model that runs again and again
  // pauses between its runs for longer than between its jobs.
  void adapt(int64_t now) {
    const int64_t moment = moment_.load(std::memory_order_relaxed), left = left_.exchange(0, std::memory_order_relaxed);
    if (left == 0) return;
    if (now - left < kLong - kShort) moment_.store(kLong, std::memory_order_relaxed);
    else if (moment > kShort) moment_.store(moment / 2 < kShort ? kShort : moment / 2, std::memory_order_relaxed);
  }

  // The next job, if one comes within a moment. Where it seldom pays to wait, it is tried seldom: between jobs that are further
  // apart XLA has work for this thread (a PINN's step took a tenth longer).
  Job* stay() {
    if (worth_.load(std::memory_order_relaxed) <= 0 && tried_.fetch_add(1, std::memory_order_relaxed) % kTrials) return nullptr;
    for (Place& place : places_) {
      if (!put(place, nullptr, waiting())) continue;
      const int64_t begin = time();
      Job* found = wait_at(place, begin);
      const bool soon = found && time() - begin < kSoon;
      const int worth = worth_.load(std::memory_order_relaxed);
      if (soon && worth < kMostWorth) worth_.store(worth + 1, std::memory_order_relaxed);
      if (!soon && worth > 0) worth_.store(worth - 1, std::memory_order_relaxed);
      return found;
    }
    return nullptr;
  }

  Job* wait_at(Place& place, int64_t begin) {
    const int64_t end = begin + moment_.load(std::memory_order_relaxed);
    int64_t now = begin;
    do {
      for (int look = 0; look < kLooks; look++) {
        Job* found = place.job.load(std::memory_order_acquire);
        if (found != waiting() && put(place, found, nullptr)) return found;
        pause_briefly();
      }
      now = time();
      if (now - begin > kEager) sched_yield();  // to whoever has something to do on this core
    } while (now < end);
    left_.store(now, std::memory_order_relaxed);
    for (;;) {  // a job may come, and be taken back, at the last moment
      if (put(place, waiting(), nullptr)) return nullptr;
      Job* found = place.job.load(std::memory_order_acquire);
      if (found != waiting() && put(place, found, nullptr)) return found;
    }
  }

  Place places_[kPlaces];
  std::atomic<int> worth_{kMostWorth}, tried_{0};
  std::atomic<int64_t> moment_{kShort}, left_{0};
};

// One for all libraries of kernels in a process: the compiler marks it so that the loader binds all of them to the first.
inline Helpers kHelpers;

}  // namespace proa
