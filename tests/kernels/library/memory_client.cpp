// Stands for XLA in the tests of kept memory: takes and frees blocks through its own linkage table.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

extern "C" {

void* take(size_t size) {
  void* place = nullptr;
  return posix_memalign(&place, 64, size) ? nullptr : place;
}

void drop(void* place) { free(place); }

// Threads that take, fill, check and drop blocks of many sizes; how many found a byte of somebody else's.
int hammer(int threads, int rounds) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&wrong, rounds, t] {
      uint64_t random = 12345 + t;
      std::vector<std::pair<unsigned char*, size_t>> held;
      for (int i = 0; i < rounds; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t size = (1 << 20) + (random >> 40) % (2 << 20);
        auto* place = static_cast<unsigned char*>(take(size));
        if (!place) continue;
        for (size_t at = 0; at < size; at += 4096) place[at] = static_cast<unsigned char>(t + 1);
        held.push_back({place, size});
        if (held.size() < 3) continue;
        const auto old = held.front();
        held.erase(held.begin());
        for (size_t at = 0; at < old.second; at += 4096) wrong += old.first[at] != t + 1;
        drop(old.first);
      }
      for (const auto& one : held) drop(one.first);
    });
  }
  for (auto& thread : all) thread.join();
  return wrong;
}

// Forks while other threads work; how many children did not end well.
int fork_often(int threads, int forks) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&stop] {
      while (!stop) drop(take(2 << 20));
    });
  }
  int failed = 0;
  for (int i = 0; i < forks; i++) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int n = 0; n < 20; n++) {
        auto* place = static_cast<unsigned char*>(take(3 << 20));
        if (!place) _exit(1);
        place[0] = place[(3 << 20) - 1] = 1;
        drop(place);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  stop = true;
  for (auto& thread : all) thread.join();
  return failed;
}
}
