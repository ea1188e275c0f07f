// Leads the calls of one function that a loaded library makes through its linkage table to another function, and back.
//
// What the slot would have called is asked first: the caller chains to it, or leaves the slot alone. A page that was read-only
// is read-only again afterwards.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace proa {

struct Slot {
  const char* symbol;
  void** place = nullptr;
  void* before = nullptr;  // what it held
  void* callee = nullptr;  // what a call through it ran: the same, but for a slot that was not bound yet
};

inline void* file_of(const void* function, std::string* name = nullptr) {
  Dl_info info;
  if (!function || !dladdr(function, &info)) return nullptr;
  if (name) *name = info.dli_fname ? info.dli_fname : "?";
  return info.dli_fbase;
}

struct Search {
  const char* library;
  Slot* slots;
  int count;
  bool found;
};

inline int look_through(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const char* name = std::strrchr(info->dlpi_name, '/');
  if (std::strcmp(name ? name + 1 : info->dlpi_name, search->library) != 0) return 0;
  search->found = true;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* tables[2] = {nullptr, nullptr};  // of calls, and of all else: where nothing is bound late, it holds both
  size_t bytes[2] = {0, 0};
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_JMPREL) tables[0] = reinterpret_cast<const ElfW(Rela)*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_PLTRELSZ) bytes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1] = reinterpret_cast<const ElfW(Rela)*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_RELASZ) bytes[1] = dynamic->d_un.d_val;
  }
  if (!symbols || !names) return 1;
  for (int table = 0; table < 2; table++) {
    for (size_t i = 0; tables[table] && i < bytes[table] / sizeof(ElfW(Rela)); i++) {
      const auto& entry = tables[table][i];
      const auto number = ELF64_R_SYM(entry.r_info);
      if (number == 0) continue;
      for (int s = 0; s < search->count; s++) {
        Slot& slot = search->slots[s];
        if (slot.place || std::strcmp(names + symbols[number].st_name, slot.symbol) != 0) continue;
        slot.place = reinterpret_cast<void**>(info->dlpi_addr + entry.r_offset);
        slot.before = __atomic_load_n(slot.place, __ATOMIC_ACQUIRE);
        // A slot that is not bound yet leads back into its library, to code that binds it; the dynamic loader knows to what.
        const bool bound = file_of(slot.before) != file_of(reinterpret_cast<void*>(slot.place));
        slot.callee = bound ? slot.before : dlsym(RTLD_DEFAULT, slot.symbol);
      }
    }
  }
  return 1;
}

// Fills in the slots of a library; whether it is loaded and has them all.
inline bool find_slots(const char* library, Slot* slots, int count) {
  Search search{library, slots, count, false};
  dl_iterate_phdr(look_through, &search);
  for (int i = 0; i < count; i++) {
    if (!slots[i].place || !slots[i].callee) return false;
  }
  return search.found;
}

// How the page of an address may be used now, from the system's own list; -1 where that cannot be read.
inline int protection_of(uintptr_t address) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return -1;
  char line[512];
  int found = -1;
  while (found < 0 && std::fgets(line, sizeof(line), maps)) {
    unsigned long first, last;
    char rights[5];
    if (std::sscanf(line, "%lx-%lx %4s", &first, &last, rights) != 3 || address < first || address >= last) continue;
    found = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) | (rights[2] == 'x' ? PROT_EXEC : 0);
  }
  std::fclose(maps);
  return found;
}

// Whether the slot now leads to `to`; its page may be used as before.
inline bool point(void** slot, void* to) {
  const uintptr_t size = uintptr_t(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot) & ~(size - 1));
  const int before = protection_of(reinterpret_cast<uintptr_t>(slot));
  if (before < 0) return false;
  const bool locked = !(before & PROT_WRITE);
  if (locked && mprotect(page, size, before | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, to, __ATOMIC_RELEASE);
  if (locked) mprotect(page, size, before);
  return true;
}

}  // namespace proa
