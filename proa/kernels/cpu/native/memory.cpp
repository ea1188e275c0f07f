// Keeps large blocks that XLA frees for its next request, instead of giving them back to the system after every run.
//
// An executable allocates the memory of its intermediate values (hundreds of megabytes for a training step) at each run and
// frees it at the end. The C library returns blocks of that size to the system at once, so that every run pays for fresh
// pages: the system clears and maps them one by one, which takes a third of a step of a picture model. XLA has no option for
// it, but it calls posix_memalign and free through slots of its library's linkage table, which are pointed at the two
// functions here (`linkage.h`). They call what the slots called before; where that is not the C library's (jemalloc, mimalloc or
// a sanitizer was loaded first, and has its own ways), everything is left alone.
//
// Kept blocks are ordinary blocks of the C library: whoever frees one by another way does nothing wrong. Kept and used
// blocks together exceed what was used at once within the last seconds by a quarter at most, and a block that nobody wanted for
// some seconds goes back to the system, by a thread that sleeps while nothing is kept.
#include <gnu/libc-version.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <unordered_map>
#include <vector>

#include "linkage.h"

namespace {

constexpr size_t kLarge = size_t{1} << 20;  // bytes
constexpr size_t kAlignment = 64;           // what XLA asks for

struct Block {
  void* place;
  size_t size;
  double since;
};

struct State {
  std::vector<Block> kept;                // oldest first
  std::unordered_map<void*, size_t> ours;  // in use, and taken while memory is kept: what is older is not counted
  size_t live = 0, resting = 0;           // bytes in use, bytes kept
  size_t peak = 0, peak_before = 0;       // the most bytes in use in this span of time, and in the one before it
  double span_began = 0;
  size_t reused = 0;  // requests that got a kept block
  bool thread_runs = false;
};

// Of the system's own kind: C++'s need a newer library than the rest of the code.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t something_kept;
std::atomic<bool> on{false};
std::atomic<double> seconds{10.0};  // how long an idle block is kept, and a peak remembered
proa::Slot slots[2] = {{"free"}, {"posix_memalign"}};
void (*real_free)(void*) = nullptr;
int (*real_posix_memalign)(void**, size_t, size_t) = nullptr;

State& state() {  // never destroyed, as threads may free after the end of main
  static auto* all = new State;
  return *all;
}

class Held {
 public:
  Held() { pthread_mutex_lock(&lock); }
  ~Held() { pthread_mutex_unlock(&lock); }
};

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// ---- all of these are called with the lock held ----

size_t most(State& s) { return s.peak > s.peak_before ? s.peak : s.peak_before; }

// How much may be kept and used together. What small programs want between two large ones is more than was used at once: without
// room for it, the large one's block would go, and be cleared anew in every step.
size_t room(State& s) { return most(s) + most(s) / 4; }

void advance(State& s, double time) {
  if (time - s.span_began >= seconds.load()) {
    s.peak_before = time - s.span_began >= 2 * seconds.load() ? s.live : s.peak;
    s.peak = s.live;
    s.span_began = time;
  }
  if (s.live > s.peak) s.peak = s.live;
}

// Takes out of the kept blocks what is too much or too old; the caller frees them without the lock.
void retire(State& s, double time, std::vector<void*>& retired) {
  size_t count = 0;
  while (count < s.kept.size() && (s.live + s.resting > room(s) || s.kept[count].since + seconds.load() <= time)) {
    s.resting -= s.kept[count].size;
    retired.push_back(s.kept[count++].place);
  }
  s.kept.erase(s.kept.begin(), s.kept.begin() + count);
}

void forget(State& s, void* place) {
  const auto found = s.ours.find(place);
  if (found == s.ours.end()) return;
  s.live -= found->second;
  s.ours.erase(found);
}

std::vector<void*> take_all(State& s) {
  std::vector<void*> places;
  for (const Block& block : s.kept) places.push_back(block.place);
  s.kept.clear();
  s.resting = 0;
  return places;
}

void* take(State& s, size_t size) {
  size_t best = s.kept.size();
  for (size_t i = 0; i < s.kept.size(); i++) {
    const bool fits = s.kept[i].size >= size && s.kept[i].size - size <= size / 8;
    if (fits && (best == s.kept.size() || s.kept[i].size < s.kept[best].size)) best = i;
  }
  if (best == s.kept.size()) return nullptr;
  const Block block = s.kept[best];
  s.kept.erase(s.kept.begin() + best);
  s.resting -= block.size;
  s.live += block.size;
  s.ours[block.place] = block.size;
  s.reused++;
  return block.place;
}

// ----

void free_all(const std::vector<void*>& places) {
  for (void* place : places) real_free(place);
}

void prepare_condition() {
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&something_kept, &clock);
}

void* watch(void*) {
  for (;;) {
    std::vector<void*> retired;
    {
      Held held;
      State& s = state();
      while (s.kept.empty()) pthread_cond_wait(&something_kept, &lock);
      const double wake = s.kept.front().since + seconds.load();
      timespec until;
      until.tv_sec = time_t(wake);
      until.tv_nsec = long((wake - double(until.tv_sec)) * 1e9);
      pthread_cond_timedwait(&something_kept, &lock, &until);
      const double time = now();
      advance(s, time);
      retire(s, time, retired);
    }
    free_all(retired);
  }
  return nullptr;
}

void start_watching(State& s) {
  if (s.thread_runs) return;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_t thread;
  s.thread_runs = pthread_create(&thread, &attributes, watch, nullptr) == 0;
  pthread_attr_destroy(&attributes);
}

int allocate(void** out, size_t alignment, size_t size) {
  if (size < kLarge || alignment > kAlignment || !on.load(std::memory_order_relaxed)) {
    return real_posix_memalign(out, alignment, size);
  }
  std::vector<void*> retired;
  void* found;
  {
    Held held;
    State& s = state();
    const double time = now();
    found = take(s, size);
    if (!found) s.live += size;  // about to be: room is made for it first
    advance(s, time);
    retire(s, time, retired);
  }
  free_all(retired);
  if (found) {
    *out = found;
    return 0;
  }
  int problem = real_posix_memalign(out, kAlignment, size);
  if (problem) {  // what is kept may be what is missing
    {
      Held held;
      retired = take_all(state());
    }
    free_all(retired);
    problem = real_posix_memalign(out, kAlignment, size);
  }
  Held held;
  State& s = state();
  s.live -= size;
  if (problem) return problem;
  forget(s, *out);  // it was freed by another way
  const size_t whole = malloc_usable_size(*out);
  s.ours[*out] = whole;
  s.live += whole;
  advance(s, now());
  return 0;
}

void release(void* place) {
  if (!place || !on.load(std::memory_order_relaxed) || malloc_usable_size(place) < kLarge) return real_free(place);
  std::vector<void*> retired;
  {
    Held held;
    State& s = state();
    const auto found = s.ours.find(place);
    if (found == s.ours.end() || !on.load(std::memory_order_relaxed)) {
      retired.push_back(place);
    } else {
      const double time = now();
      const size_t size = found->second;
      advance(s, time);
      forget(s, place);
      if (s.kept.empty()) pthread_cond_signal(&something_kept);
      s.kept.push_back({place, size, time});
      s.resting += size;
      retire(s, time, retired);
    }
  }
  free_all(retired);
}

// A forked process has no threads but the one that forked, and mostly no use for XLA: it keeps nothing, so that pages which the
// parent gives back are not held by its children.
void before_fork() { pthread_mutex_lock(&lock); }
void after_fork() { pthread_mutex_unlock(&lock); }
void in_child() {
  State& s = state();
  const std::vector<void*> retired = take_all(s);
  s.thread_runs = false;
  on = false;
  prepare_condition();  // a thread that is not here was waiting
  pthread_mutex_unlock(&lock);
  free_all(retired);
}

std::string refusal(const char* library) {
  if (!proa::find_slots(library, slots, 2)) return std::string(library) + " is not loaded, or allocates in another way";
  void* c_library = proa::file_of(reinterpret_cast<void*>(gnu_get_libc_version));
  void* const sizes = dlsym(RTLD_DEFAULT, "malloc_usable_size");
  std::string name;
  for (void* callee : {slots[0].callee, slots[1].callee, sizes}) {
    if (proa::file_of(callee, &name) != c_library) return "memory is not the C library's here, but that of " + name;
  }
  return "";
}

}  // namespace

extern "C" {

// Begins to keep what the named library frees. Null when it does; otherwise why not.
const char* proa_keep_memory(const char* library) {
  static thread_local std::string problem;
  Held held;
  if (on.load()) return nullptr;
  if (!real_free) {
    problem = refusal(library);
    if (!problem.empty()) return problem.c_str();
    real_free = reinterpret_cast<void (*)(void*)>(slots[0].callee);
    real_posix_memalign = reinterpret_cast<int (*)(void**, size_t, size_t)>(slots[1].callee);
    prepare_condition();
    pthread_atfork(before_fork, after_fork, in_child);
  }
  // Who frees must know all blocks; who allocates must find a keeper. So `free` first.
  if (!proa::point(slots[0].place, reinterpret_cast<void*>(release)) ||
      !proa::point(slots[1].place, reinterpret_cast<void*>(allocate))) {
    proa::point(slots[0].place, slots[0].before);
    problem = "the linkage table cannot be written";
    return problem.c_str();
  }
  start_watching(state());
  on = true;
  return nullptr;
}

// Gives everything that is kept back to the system; with `stop`, the slots are as they were, and nothing is kept from now on.
void proa_release_memory(int stop) {
  if (!real_free) return;
  std::vector<void*> retired;
  {
    Held held;
    State& s = state();
    retired = take_all(s);
    s.peak = s.peak_before = s.live;
    if (stop && on.load()) {
      on = false;
      s.ours.clear();
      s.live = s.peak = s.peak_before = 0;
      void* const own[2] = {reinterpret_cast<void*>(release), reinterpret_cast<void*>(allocate)};
      for (int i = 0; i < 2; i++) {  // where somebody came later and chains to us, ours stays and only passes on
        if (__atomic_load_n(slots[i].place, __ATOMIC_ACQUIRE) == own[i]) proa::point(slots[i].place, slots[i].before);
      }
    }
  }
  free_all(retired);
}

// How long an idle block is kept, and a peak remembered.
void proa_keep_memory_for(double time) {
  seconds = time;
  if (real_free) pthread_cond_signal(&something_kept);
}

// Bytes kept (0), in use (1), the most that were in use lately (2); how many requests got a kept block (3); whether the slots
// lead here (4).
int64_t proa_kept_memory(int which) {
  Held held;
  State& s = state();
  if (which == 4) return on.load() && *slots[0].place == reinterpret_cast<void*>(release);
  advance(s, now());
  return int64_t(which == 0 ? s.resting : which == 1 ? s.live : which == 2 ? most(s) : s.reused);
}
}
