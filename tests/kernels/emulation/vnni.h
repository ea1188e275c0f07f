// Makes up for AVX-VNNI on processors without it, for `calls.cpp`: the two instructions of it that are in the kernels, vpdpbusd
// and vpdpwssd in the VEX encoding, trap there; they are computed here, and the program goes on behind them. That is slow, but
// the library is the one that is shipped.
#pragma once

#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace vnni {

// The registers of a program that was interrupted.
class Registers {
 public:
  explicit Registers(ucontext_t* context) : context_(context) {
    unsigned size, offset, flags, unused;
    __cpuid_count(13, 2, size, offset, flags, unused);  // where the upper halves of vector registers are saved
    auto* saved = reinterpret_cast<unsigned char*>(context->uc_mcontext.fpregs);
    upper_ = saved + offset;
    // They are not saved where all of them are zero.
    auto* present = reinterpret_cast<uint64_t*>(saved + 512);
    if (!(*present & 4)) std::memset(upper_, 0, 16 * 16);
    *present |= 4;
  }
  unsigned char* rip() const { return reinterpret_cast<unsigned char*>(context_->uc_mcontext.gregs[REG_RIP]); }
  void set_rip(const unsigned char* to) { context_->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(to); }
  int64_t general(int number) const {
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return context_->uc_mcontext.gregs[order[number]];
  }
  void read(int number, unsigned char* into) const {
    std::memcpy(into, &context_->uc_mcontext.fpregs->_xmm[number], 16);
    std::memcpy(into + 16, upper_ + 16 * number, 16);
  }
  void write(int number, const unsigned char* from) {
    std::memcpy(&context_->uc_mcontext.fpregs->_xmm[number], from, 16);
    std::memcpy(upper_ + 16 * number, from + 16, 16);
  }

 private:
  ucontext_t* context_;
  unsigned char* upper_;
};

constexpr unsigned char kBytes = 0x50, kWords = 0x52;  // what the third byte of an instruction says

template <typename T>
T element(const unsigned char* vector, int number) {
  T found;
  std::memcpy(&found, vector + sizeof(T) * number, sizeof(T));
  return found;
}

// Adds products to each 32-bit number, wrapping around: of four bytes, without and with a sign, or of two words with signs.
inline void multiply_add(unsigned char operation, unsigned char* sums, const unsigned char* left, const unsigned char* right) {
  for (int lane = 0; lane < 8; lane++) {
    auto sum = element<uint32_t>(sums, lane);
    if (operation == kBytes) {
      for (int i = 4 * lane; i < 4 * lane + 4; i++) sum += element<uint8_t>(left, i) * element<int8_t>(right, i);
    } else {
      for (int i = 2 * lane; i < 2 * lane + 2; i++) sum += element<int16_t>(left, i) * element<int16_t>(right, i);
    }
    std::memcpy(sums + 4 * lane, &sum, 4);
  }
}

// Where a memory operand is; `at` is moved behind what describes it.
inline const unsigned char* address_of(const Registers& registers, const unsigned char*& at, int mode, int low, int x, int b) {
  int64_t place = 0;
  bool far = mode == 2;
  if (low == 4) {
    const int scale = *at >> 6, index = (*at >> 3 & 7) | x, base = *at & 7;
    at++;
    if (index != 4) place += registers.general(index) << scale;
    if (base == 5 && mode == 0) {
      far = true;
    } else {
      place += registers.general(base | b);
    }
  } else if (low == 5 && mode == 0) {  // beside the next instruction
    int32_t distance;
    std::memcpy(&distance, at, 4);
    at += 4;
    return at + distance;
  } else {
    place += registers.general(low | b);
  }
  if (far) {
    int32_t distance;
    std::memcpy(&distance, at, 4);
    place += distance;
    at += 4;
  } else if (mode == 1) {
    place += static_cast<int8_t>(*at++);
  }
  return reinterpret_cast<const unsigned char*>(place);
}

inline void instead(int, siginfo_t*, void* context) {
  Registers registers(static_cast<ucontext_t*>(context));
  const unsigned char* at = registers.rip();
  // VEX of three bytes, map 0F38, no W, 256 bits, prefix 66.
  if (at[0] != 0xC4 || (at[1] & 0x1F) != 2 || (at[2] & 0x87) != 0x05 || (at[3] != kBytes && at[3] != kWords)) {
    std::fprintf(stderr, "an instruction that is not known here: %02x %02x %02x %02x %02x\n", at[0], at[1], at[2], at[3], at[4]);
    signal(SIGILL, SIG_DFL);  // nobody can help with it
    return;
  }
  const int r = at[1] & 0x80 ? 0 : 8, x = at[1] & 0x40 ? 0 : 8, b = at[1] & 0x20 ? 0 : 8;
  const unsigned char operation = at[3];
  const int left = ~(at[2] >> 3) & 15, mode = at[4] >> 6, target = (at[4] >> 3 & 7) | r, low = at[4] & 7;
  at += 5;
  unsigned char sums[32], first[32], second[32];
  if (mode == 3) {
    registers.read(low | b, second);
  } else {
    std::memcpy(second, address_of(registers, at, mode, low, x, b), 32);
  }
  registers.read(target, sums);
  registers.read(left, first);
  multiply_add(operation, sums, first, second);
  registers.write(target, sums);
  registers.set_rip(at);
}

inline void make_up() {
  struct sigaction action {};
  action.sa_sigaction = instead;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace vnni
