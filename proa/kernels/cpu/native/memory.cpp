// Keeps large blocks that XLA frees for its next request, instead of giving them back to the system after every run.
//
// An executable allocates the memory of its intermediate values (hundreds of megabytes for a training step) at each run and
// frees it at the end. The C library returns blocks of that size to the system at once, so that every run pays for fresh
// pages: the system clears and maps them one by one, which takes a third of a step of a picture model. XLA has no option for
// it, but it calls posix_memalign and free through slots of its library's linkage table, which are pointed at the two
// functions here. Kept blocks are ordinary blocks of the C library: whoever frees one by another way does nothing wrong.
//
// Kept and used blocks together never exceed what was used at once before, so the process does not get larger by it.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <vector>

namespace {

constexpr size_t kLarge = size_t{1} << 20;  // bytes
constexpr uintptr_t kAlignment = 64;  // what XLA asks for
constexpr time_t kSeconds = 10;  // a block that nobody wanted for so long goes back to the system

struct Block {
  void* place;
  size_t size;
  time_t since;
};

std::mutex lock;
std::vector<Block>& kept() {  // oldest first; never destroyed, as threads may free after the end of main
  static auto* blocks = new std::vector<Block>;
  return *blocks;
}
size_t live = 0, most = 0, resting = 0;  // bytes in use, the most that were, bytes kept
std::atomic<bool> on{false};
void (*real_free)(void*) = std::free;
int (*real_posix_memalign)(void**, size_t, size_t) = posix_memalign;

time_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec;
}

// A fork waits until no other thread holds the lock: in the child such a thread would not exist. There XLA runs no more, and
// nothing is kept.
void before_fork() { lock.lock(); }
void after_fork() { lock.unlock(); }
void in_child() {
  on = false;
  lock.unlock();
}

// Takes out of the kept blocks what is too much or too old.
void retire(std::vector<void*>& retired, time_t time) {
  auto& blocks = kept();
  size_t count = 0;
  while (count < blocks.size() && (live + resting > most || blocks[count].since + kSeconds < time)) {
    resting -= blocks[count].size;
    retired.push_back(blocks[count++].place);
  }
  blocks.erase(blocks.begin(), blocks.begin() + count);
}

void* take(size_t size) {
  auto& blocks = kept();
  size_t best = blocks.size();
  for (size_t i = 0; i < blocks.size(); i++) {
    const bool fits = blocks[i].size >= size && blocks[i].size - size <= size / 8;
    if (fits && (best == blocks.size() || blocks[i].size < blocks[best].size)) best = i;
  }
  if (best == blocks.size()) return nullptr;
  void* place = blocks[best].place;
  live += blocks[best].size;
  resting -= blocks[best].size;
  blocks.erase(blocks.begin() + best);
  return place;
}

int allocate(void** out, size_t alignment, size_t size) {
  if (size < kLarge || alignment > kAlignment || !on.load(std::memory_order_relaxed)) {
    return real_posix_memalign(out, alignment, size);
  }
  std::vector<void*> retired;
  void* found = nullptr;
  {
    std::lock_guard<std::mutex> held(lock);
    found = take(size);
    if (!found) live += size;
    if (live > most) most = live;
    retire(retired, now());
  }
  for (void* place : retired) real_free(place);
  if (found) {
    *out = found;
    return 0;
  }
  const int problem = real_posix_memalign(out, kAlignment, size);
  std::lock_guard<std::mutex> held(lock);  // a block is somewhat larger than what was asked for
  live = problem ? live - (size < live ? size : live) : live + malloc_usable_size(*out) - size;
  if (live > most) most = live;
  return problem;
}

void release(void* place) {
  if (!place) return;
  const size_t size = malloc_usable_size(place);
  if (size < kLarge || reinterpret_cast<uintptr_t>(place) % kAlignment || !on.load(std::memory_order_relaxed)) {
    return real_free(place);
  }
  std::vector<void*> retired;
  {
    std::lock_guard<std::mutex> held(lock);
    const time_t time = now();
    live -= size < live ? size : live;  // it may be older than this code
    kept().push_back({place, size, time});
    resting += size;
    retire(retired, time);
  }
  for (void* one : retired) real_free(one);
}

struct Found {
  const char* library;
  int slots = 0;
};

void point(ElfW(Addr) slot, void* to) {
  const uintptr_t page = slot & ~(uintptr_t(sysconf(_SC_PAGESIZE)) - 1);
  // Where all symbols were bound at the start, the table is read-only; otherwise this changes nothing.
  if (mprotect(reinterpret_cast<void*>(page), slot + sizeof(void*) - page, PROT_READ | PROT_WRITE) == 0) {
    __atomic_store_n(reinterpret_cast<void**>(slot), to, __ATOMIC_RELEASE);
  }
}

int visit(dl_phdr_info* info, size_t, void* data) {
  auto* found = static_cast<Found*>(data);
  const char* name = std::strrchr(info->dlpi_name, '/');
  if (!name || std::strcmp(name + 1, found->library) != 0) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* entries = nullptr;
  size_t bytes = 0;
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_JMPREL) entries = reinterpret_cast<const ElfW(Rela)*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_PLTRELSZ) bytes = dynamic->d_un.d_val;
  }
  if (!symbols || !names || !entries) return 1;
  ElfW(Addr) slots[2] = {0, 0};
  for (size_t i = 0; i < bytes / sizeof(ElfW(Rela)); i++) {
    const char* symbol = names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name;
    if (std::strcmp(symbol, "free") == 0) slots[0] = info->dlpi_addr + entries[i].r_offset;
    if (std::strcmp(symbol, "posix_memalign") == 0) slots[1] = info->dlpi_addr + entries[i].r_offset;
  }
  if (slots[0] && slots[1]) {  // both or neither
    point(slots[0], reinterpret_cast<void*>(release));
    point(slots[1], reinterpret_cast<void*>(allocate));
    found->slots = 2;
  }
  return 1;
}

}  // namespace

extern "C" {

// Begins to keep what the named library frees; whether it could.
int proa_keep_memory(const char* library) {
  static const int watched = pthread_atfork(before_fork, after_fork, in_child);
  if (watched != 0) return 0;
  Found found{library};
  dl_iterate_phdr(visit, &found);
  if (found.slots == 2) on = true;
  return found.slots == 2;
}

// Gives everything that is kept back to the system; with `stop`, nothing is kept from now on.
void proa_release_memory(int stop) {
  if (stop) on = false;
  std::vector<Block> blocks;
  {
    std::lock_guard<std::mutex> held(lock);
    blocks.swap(kept());
    most = live;
    resting = 0;
  }
  for (const Block& block : blocks) real_free(block.place);
}

// Bytes kept (0), in use (1) and the most that were in use (2).
int64_t proa_kept_memory(int which) {
  std::lock_guard<std::mutex> held(lock);
  const size_t found = which == 0 ? resting : which == 1 ? live : most;
  return int64_t(found);
}
}
