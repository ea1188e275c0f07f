// Calls native kernels for a process on another kind of processor (`emulated.py`): reads calls from its input, writes results to
// its output. Arguments: how many threads work on a kernel, then the libraries, that of `direct.cpp` first.
//
// Every array lies in pages of its own. Behind it is a page that nobody may touch; either it ends right there, or it begins as
// far from a multiple of 64 bytes as the caller's does. Operands that are not results as well cannot be written.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef __x86_64__
#include "vnni.h"
#endif

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(3);
}

void read_all(void* place, size_t size) {
  if (size && std::fread(place, 1, size, stdin) != size) fail("the call is cut off");
}

std::vector<int64_t> read_numbers(int64_t count) {
  std::vector<int64_t> found(count);
  read_all(found.data(), count * sizeof(int64_t));
  return found;
}

std::string read_text(int64_t size) {
  std::string found(size, '\0');
  read_all(found.data(), size);
  return found;
}

class Block {
 public:
  // `offset`: of its beginning from a multiple of 64 bytes, or -1 when its end is what matters.
  Block(int64_t size, int64_t offset) : size_(size) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    usable_ = (size + 64 + page - 1) / page * page;
    pages_ = static_cast<char*>(mmap(nullptr, usable_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages_ == MAP_FAILED) fail("there is no memory");
    if (mprotect(pages_ + usable_, page, PROT_NONE)) fail("pages cannot be protected");
    mapped_ = usable_ + page;
    data_ = offset < 0 ? pages_ + usable_ - size : pages_ + offset;
  }
  Block(Block&& other) : size_(other.size_), usable_(other.usable_), mapped_(other.mapped_), pages_(other.pages_), data_(other.data_) {
    other.pages_ = nullptr;
  }
  ~Block() {
    if (pages_) munmap(pages_, mapped_);
  }
  char* data() const { return data_; }
  int64_t size() const { return size_; }
  void protect() const { mprotect(pages_, usable_, PROT_READ); }

 private:
  int64_t size_, usable_ = 0, mapped_ = 0;
  char *pages_ = nullptr, *data_ = nullptr;
};

using Call = const char*(void*, const int64_t*, void**, const char*);
using UseThreads = void(int64_t);

std::vector<void*> open_all(int count, char** paths) {
  std::vector<void*> opened;
  for (int i = 0; i < count; i++) {
    opened.push_back(dlopen(paths[i], RTLD_NOW | RTLD_LOCAL));
    if (!opened.back()) fail(dlerror());
  }
  return opened;
}

void* find(const std::vector<void*>& libraries, const std::string& symbol) {
  for (void* library : libraries) {
    if (void* found = dlsym(library, symbol.c_str())) return found;
  }
  fail("no library has " + symbol);
}

// One call: five lengths; of each block size and offset; the block of each array; the symbol, the attributes' names, the
// numbers that `direct.cpp` takes; the contents of the blocks. The answer: -1 and the results' contents, or the length of a
// complaint and the complaint.
void answer(const std::vector<void*>& libraries, Call* call, const std::vector<int64_t>& lengths) {
  const int64_t num_arrays = lengths[3], num_blocks = lengths[4];
  const auto places = read_numbers(2 * num_blocks), owners = read_numbers(num_arrays);
  const auto symbol = read_text(lengths[0]), names = read_text(lengths[1]);
  const auto numbers = read_numbers(lengths[2]);
  std::vector<Block> blocks;
  std::vector<bool> written(num_blocks, false);
  for (int64_t i = numbers[0]; i < num_arrays; i++) written[owners[i]] = true;
  for (int64_t i = 0; i < num_blocks; i++) {
    blocks.emplace_back(places[2 * i], places[2 * i + 1]);
    read_all(blocks[i].data(), blocks[i].size());
    if (!written[i]) blocks[i].protect();
  }
  std::vector<void*> pointers;
  for (const int64_t owner : owners) pointers.push_back(blocks[owner].data());
  const char* problem = call(find(libraries, symbol), numbers.data(), pointers.data(), names.c_str());
  const std::string complaint = problem ? problem : "";
  const int64_t verdict = problem ? static_cast<int64_t>(complaint.size()) : -1;
  std::fwrite(&verdict, sizeof(verdict), 1, stdout);
  std::fwrite(complaint.data(), 1, complaint.size(), stdout);
  for (int64_t i = numbers[0]; !problem && i < num_arrays; i++) {
    std::fwrite(blocks[owners[i]].data(), 1, blocks[owners[i]].size(), stdout);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) fail("arguments: threads, libraries");
#ifdef __x86_64__
  vnni::make_up();
#endif
  const auto libraries = open_all(count - 2, arguments + 2);
  auto* use_threads = reinterpret_cast<UseThreads*>(find(libraries, "proa_use_threads"));
  use_threads(std::atoi(arguments[1]));
  auto* call = reinterpret_cast<Call*>(find(libraries, "proa_call_directly"));
  std::vector<int64_t> lengths(5);
  while (std::fread(lengths.data(), sizeof(int64_t), 5, stdin) == 5) answer(libraries, call, lengths);
  std::_Exit(0);  // the pool's threads still wait
}
