// Sums of products of bytes, exact in 32 bits, and what is done to them: the core of quantised products and convolutions.
//
// The left operand is uint8 (numbers on a grid with a zero point), the right one int8, packed as [depth / 4][32 columns][4];
// behind the last group of depth lie the 32 sums of the columns, as int32. One register tile (14 x 32 with AVX-512) adds up
// the whole depth, so nothing unfinished is ever stored.
#pragma once

#include "epilogue.h"
#include "parallel.h"
#include "vectors.h"

namespace proa {

typedef int16_t Words __attribute__((vector_size(kLanes * 4), aligned(1), may_alias));
typedef int32_t FourBytes __attribute__((vector_size(kLanes * 4), aligned(1), may_alias));  // anywhere in memory
typedef uint8_t Bytes __attribute__((vector_size(kLanes), aligned(1), may_alias));
typedef int8_t SignedBytes __attribute__((vector_size(kLanes), aligned(1), may_alias));

constexpr int64_t kBytePanel = 32;                 // columns of a packed panel, on every processor
constexpr int64_t kByteGroup = kBytePanel * 4;     // bytes of four terms of all columns of a panel

inline int64_t bytes_of_panel(int64_t groups) { return (groups + 1) * kByteGroup; }
inline Integers every(int32_t x) { return Integers{} + x; }

// ---- four products of a uint8 and an int8, added to an int32 --------------------------------------------------------

#if PROA_AVX512 && defined(__AVX512VNNI__)

constexpr int kByteRows = 14;
using LeftBytes = Integers;
using RightBytes = Integers;
inline LeftBytes left_bytes(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, 4);
  return every(four);
}
inline RightBytes right_bytes(const int8_t* p) { return *reinterpret_cast<const FourBytes*>(p); }
inline Integers add_products(Integers sum, const LeftBytes& a, const RightBytes& b) {
  return (Integers)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);  // wraps around, never saturates
}
// Of numbers that fit into 16 bits.
inline Integers add_product(Integers sum, Integers a, Integers b) {
  return (Integers)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}

#elif defined(__AVXVNNI__) && !PROA_AVX512

constexpr int kByteRows = 6;
using LeftBytes = Integers;
using RightBytes = Integers;
inline LeftBytes left_bytes(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, 4);
  return every(four);
}
inline RightBytes right_bytes(const int8_t* p) { return *reinterpret_cast<const FourBytes*>(p); }
inline Integers add_products(Integers sum, const LeftBytes& a, const RightBytes& b) {
  return (Integers)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
}
inline Integers add_product(Integers sum, Integers a, Integers b) {
  return (Integers)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
}

#else

// Without an instruction for it: bytes are widened to 16 bits, those of even and of odd place apart, and multiplied in
// pairs. (The instruction that multiplies bytes directly saturates at 16 bits.)
inline Integers pairs_of_products(Integers a, Integers b) {
#if PROA_AVX512
  return (Integers)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  if constexpr (kLanes == 8) return (Integers)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
#if !PROA_AVX512
#if defined(__SSE2__)
  if constexpr (kLanes == 4) {
    __m128i x, y;
    std::memcpy(&x, &a, 16);
    std::memcpy(&y, &b, 16);
    x = _mm_madd_epi16(x, y);
    Integers result;
    std::memcpy(&result, &x, 16);
    return result;
  }
#endif
  const Integers low = ((a << 16) >> 16) * ((b << 16) >> 16);
  return low + (a >> 16) * (b >> 16);
#endif
}

constexpr int kByteRows = kLanes == 16 ? 11 : 4;
struct LeftBytes {
  Integers even, odd;
};
using RightBytes = LeftBytes;
inline LeftBytes left_bytes(const uint8_t* p) {
  int32_t four;
  std::memcpy(&four, p, 4);
  return {every(four & 0x00ff00ff), every(static_cast<int32_t>(static_cast<uint32_t>(four) >> 8) & 0x00ff00ff)};
}
inline RightBytes right_bytes(const int8_t* p) {
  const Words words = *reinterpret_cast<const Words*>(p);
  const Words even = (words << 8) >> 8, odd = words >> 8;
  return {(Integers)even, (Integers)odd};
}
inline Integers add_products(Integers sum, const LeftBytes& a, const RightBytes& b) {
  return sum + (pairs_of_products(a.even, b.even) + pairs_of_products(a.odd, b.odd));
}
inline Integers add_product(Integers sum, Integers a, Integers b) { return sum + pairs_of_products(a, b & 0xffff); }

#endif

// sums[rows][kWidth] of `groups` groups of four; rows of the left operand lie `a_step` bytes apart.
template <int rows>
void byte_tile(int64_t groups, const uint8_t* a, int64_t a_step, const int8_t* b, int32_t* result) {
  // A few rows have too few sums to hide how long an addition takes: several of each are kept apart.
  constexpr int apart = rows == 1 ? 4 : rows <= 3 ? 2 : 1;
  const uint8_t* third[(rows + 2) / 3];
#pragma GCC unroll 16
  for (int i = 0; i < (rows + 2) / 3; i++) third[i] = a + 3 * i * a_step;
  Integers sums[apart][rows][2];
#pragma GCC unroll 4
  for (int u = 0; u < apart; u++) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) sums[u][r][0] = sums[u][r][1] = Integers{};
  }
  int64_t k = 0;
  auto step = [&](int u) __attribute__((always_inline)) {
    const RightBytes first = right_bytes(b), second = right_bytes(b + kLanes * 4);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      const LeftBytes value = left_bytes(third[r / 3] + r % 3 * a_step);
      sums[u][r][0] = add_products(sums[u][r][0], value, first);
      sums[u][r][1] = add_products(sums[u][r][1], value, second);
    }
#pragma GCC unroll 16
    for (int i = 0; i < (rows + 2) / 3; i++) third[i] += 4;
    b += kByteGroup;
  };
  if constexpr (apart > 1) {
    for (; k + apart <= groups; k += apart) {
#pragma GCC unroll 4
      for (int u = 0; u < apart; u++) step(u);
    }
  }
  for (; k < groups; k++) step(0);
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
      Integers sum = sums[0][r][v];
#pragma GCC unroll 4
      for (int u = 1; u < apart; u++) sum += sums[u][r][v];
      *reinterpret_cast<Integers*>(result + r * kWidth + v * kLanes) = sum;
    }
  }
}

using ByteTile = void (*)(int64_t, const uint8_t*, int64_t, const int8_t*, int32_t*);

template <int rows>
ByteTile find_byte_tile(int wanted) {
  if constexpr (rows == 0) {
    return nullptr;
  } else {
    return wanted == rows ? byte_tile<rows> : find_byte_tile<rows - 1>(wanted);
  }
}

// ---- what is done to a sum ------------------------------------------------------------------------------------------

template <class To, class From>
To load_some_as(const From* p, int count) {
  if (count == kLanes) {
    To whole;
    std::memcpy(&whole, p, sizeof(To));
    return whole;
  }
  From lanes[kLanes] = {};
  std::memcpy(lanes, p, sizeof(From) * count);
  To whole;
  std::memcpy(&whole, lanes, sizeof(To));
  return whole;
}

// (The compiler's own conversion goes through memory, byte by byte.)
inline Integers widened(Bytes bytes) {
#if PROA_AVX512
  return (Integers)_mm512_maskz_cvtepu8_epi32(0xffff, (__m128i)bytes);
#elif defined(__AVX2__)
  if constexpr (kLanes == 8) return (Integers)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
  else return __builtin_convertvector(bytes, Integers);
#else
  return __builtin_convertvector(bytes, Integers);
#endif
}
inline Integers widened(SignedBytes bytes) {
#if PROA_AVX512
  return (Integers)_mm512_maskz_cvtepi8_epi32(0xffff, (__m128i)bytes);
#elif defined(__AVX2__)
  if constexpr (kLanes == 8) return (Integers)_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)bytes));
  else return __builtin_convertvector(bytes, Integers);
#else
  return __builtin_convertvector(bytes, Integers);
#endif
}

template <class Lane, class From>
void store_some_as(Lane* p, From values, int count) {
  if (count == kLanes) std::memcpy(p, &values, sizeof(From));
  else std::memcpy(p, &values, sizeof(Lane) * count);
}

// result = grid(activation((sum - zero * column sum) * scale of row * scale of column + bias + residual)).
// Rows of the result lie side by side, `columns` numbers each; so do those of the residual.
struct ByteEpilogue {
  enum Out { kFloat, kInteger, kUnsigned, kSigned };
  const float* row_scales = nullptr;  // one, or one for each row
  const int32_t* row_zeros = nullptr;
  bool each_row = false;
  const float* scales = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;
  const uint8_t* byte_residual = nullptr;  // on a grid of its own
  float residual_scale = 0;
  int32_t residual_zero = 0;
  Epilogue then;  // its activation alone
  Out out = kFloat;
  float inverse = 0;  // of the result's step
  int32_t zero = 0;
  void* data = nullptr;
  int64_t columns = 0;

  // `rows` vectors of sums, `step` apart, of which the first `count` lanes are columns of the result.
  void write(const int32_t* sums, int64_t step, int rows, Integers column_sums, int64_t row, int64_t column,
             int count) const {
    switch (out) {
      case kFloat: return write_as<kFloat>(sums, step, rows, column_sums, row, column, count);
      case kInteger: return write_as<kInteger>(sums, step, rows, column_sums, row, column, count);
      case kUnsigned: return write_as<kUnsigned>(sums, step, rows, column_sums, row, column, count);
      case kSigned: return write_as<kSigned>(sums, step, rows, column_sums, row, column, count);
    }
  }

 private:
  template <Out kind>
  void write_as(const int32_t* sums, int64_t step, int rows, Integers column_sums, int64_t row, int64_t column,
                int count) const {
    // Those that are bounds are most, and need no switch for each vector.
    const float endless = __builtin_inff();
    switch (then.activation) {
      case kNone:
        return write_rows<kind, true>(sums, step, rows, column_sums, row, column, count, -endless, endless);
      case kRelu: return write_rows<kind, true>(sums, step, rows, column_sums, row, column, count, 0, endless);
      case kClip:
        return write_rows<kind, true>(sums, step, rows, column_sums, row, column, count, then.low, then.high);
      default: return write_rows<kind, false>(sums, step, rows, column_sums, row, column, count, 0, 0);
    }
  }

  template <Out kind, bool bounded>
  void write_rows(const int32_t* sums, int64_t step, int rows, Integers column_sums, int64_t row, int64_t column,
                  int count, float lowest, float highest) const {
    const Vector column_scales = load_some_as<Vector>(scales + column, count);
    const Vector shift = bias ? load_some_as<Vector>(bias + column, count) : Vector{};
    Vector factor = all(row_scales[0]) * column_scales;
    Integers away = column_sums * every(row_zeros[0]);
    const float low = static_cast<float>((kind == kSigned ? -128 : 0) - zero), high = low + 255.0f;
    for (int r = 0; r < rows; r++, sums += step) {
      const int64_t at = (row + r) * columns + column;
      if (each_row) {
        factor = all(row_scales[row + r]) * column_scales;
        away = column_sums * every(row_zeros[row + r]);
      }
      const Integers sum = *reinterpret_cast<const Integers*>(sums) - away;
      if constexpr (kind == kInteger) {
        store_some_as(static_cast<int32_t*>(data) + at, sum, count);
        continue;
      }
      Vector value = __builtin_convertvector(sum, Vector) * factor + shift;
      if (residual) value += load_some_as<Vector>(residual + at, count);
      if (byte_residual) {
        const Integers steps = widened(load_some_as<Bytes>(byte_residual + at, count)) - residual_zero;
        value += __builtin_convertvector(steps, Vector) * all(residual_scale);
      }
      if constexpr (bounded) {  // NaN stays NaN
        value = value < lowest ? all(lowest) : value;
        value = value > highest ? all(highest) : value;
      } else {
        value = then.activate(value);
      }
      if constexpr (kind == kFloat) {
        store_some_as(static_cast<float*>(data) + at, value, count);
        continue;
      }
      // Bounds first: adding 1.5 * 2^23 rounds small numbers to whole ones, half to even. NaN becomes the lowest.
      value *= all(inverse);
      value = value > low ? value : all(low);
      value = value < high ? value : all(high);
      const Vector shifted = value + all(12582912.0f);
      const Integers whole = reinterpret_cast<const Integers&>(shifted) - (0x4B400000 - zero);
      store_some_as(static_cast<uint8_t*>(data) + at, __builtin_convertvector(whole, Bytes), count);
    }
  }
};

// ---- products -------------------------------------------------------------------------------------------------------

constexpr int64_t kByteBlock = 400000;  // bytes of the left operand that are used for all columns before the next ones
constexpr double kByteWork = 3e6;       // multiplications from which on a second thread pays

// Of the columns of a vector, from behind a panel.
inline Integers right_sums(const int8_t* p) { return *reinterpret_cast<const FourBytes*>(p); }

template <int purpose>
uint8_t* byte_scratch(int64_t count) {
  return reinterpret_cast<uint8_t*>(scratch<purpose>(ceil_div(count, 4)));
}

// Rows of depth x columns of packed panels, on one thread. `source.rows(first, count, room, step)` gives rows of bytes that
// are `step` apart, either where they lie or copied into `room` (of source.row_room() bytes each).
template <class Source>
void multiply_bytes(const Source& source, int64_t groups, const int8_t* panels, int64_t row0, int64_t row1,
                    int64_t column0, int64_t column1, int64_t first_column, const ByteEpilogue& epilogue) {
  int64_t most = larger<int64_t>(kByteBlock / larger<int64_t>(groups * 4, 1) / kByteRows, 4) * kByteRows;
  // Blocks of equal size: each reads all the weights.
  most = round_up(ceil_div(row1 - row0, ceil_div(row1 - row0, most)), kByteRows);
  uint8_t* room = source.row_room() ? byte_scratch<0>(smaller(row1 - row0, most) * source.row_room()) : nullptr;
  alignas(64) int32_t sums[kByteRows * kWidth];
  for (int64_t i0 = row0; i0 < row1; i0 += most) {
    const int64_t i1 = smaller(row1, i0 + most);
    int64_t step = 0;
    const uint8_t* a = source.rows(i0, i1 - i0, room, step);
    const int together = static_cast<int>(ceil_div(i1 - i0, ceil_div(i1 - i0, kByteRows)));
    for (int64_t j = column0; j < column1; j += kWidth) {
      const int8_t* panel = panels + j / kBytePanel * bytes_of_panel(groups) + j % kBytePanel * 4;
      const int8_t* behind = panel + groups * kByteGroup;
      const Integers totals[2] = {right_sums(behind), right_sums(behind + kLanes * 4)};
      const int count = static_cast<int>(smaller<int64_t>(kWidth, column1 - j));
      for (int64_t i = i0; i < i1; i += together) {
        const int some = static_cast<int>(smaller<int64_t>(together, i1 - i));
        find_byte_tile<kByteRows>(some)(groups, a + (i - i0) * step, step, panel, sums);
        for (int v = 0; v * kLanes < count; v++) {
          epilogue.write(sums + v * kLanes, kWidth, some, totals[v], i, first_column + j + v * kLanes,
                       smaller(kLanes, count - v * kLanes));
        }
      }
    }
  }
}

// The same on all threads: `products` products side by side, as grouped convolutions have.
template <class Make>
void multiply_bytes_in_parts(ffi::ThreadPool& pool, int64_t products, const Make& source_of, int64_t rows,
                             int64_t columns, int64_t groups, const int8_t* panels, const ByteEpilogue& epilogue) {
  const double work = double(products) * rows * columns * larger<int64_t>(groups * 4, 1);
  const int threads = threads_of(pool);
  const int64_t parts = work < kByteWork ? 1 : ceil_div(work > 32e6 * threads ? 4 * threads : threads, products);
  const int64_t column_panels = ceil_div(columns, kBytePanel);
  int64_t row_parts = smaller<int64_t>(parts, larger<int64_t>(rows / (4 * kByteRows), 1));
  int64_t column_parts = smaller(ceil_div(parts, row_parts), column_panels);
  const int64_t row_step = round_up(ceil_div(rows, row_parts), row_parts > 1 ? kByteRows : 1);
  const int64_t column_step = ceil_div(column_panels, column_parts) * kBytePanel;
  row_parts = ceil_div(rows, row_step);
  column_parts = ceil_div(columns, column_step);
  parallel_for(pool, products * row_parts * column_parts, [&](int64_t task) {
    const int64_t product = task / (row_parts * column_parts), part = task % (row_parts * column_parts);
    const int64_t row = part / column_parts * row_step, column = part % column_parts * column_step;
    multiply_bytes(source_of(product), groups, panels + product * column_panels * bytes_of_panel(groups), row,
                   smaller(rows, row + row_step), column, smaller(columns, column + column_step), product * columns,
                   epilogue);
  });
}

// A matrix of bytes in memory. Rows are copied where the last group of four would reach into the next row, or where they lie
// so that all of them compete for the same places of the first cache.
struct ByteRows {
  const uint8_t* data;
  int64_t depth;

  int64_t row_room() const {
    if (depth % 4 == 0 && depth % 4096) return 0;
    const int64_t bytes = round_up(depth, 4);
    return bytes % 1024 ? bytes : bytes + 64;
  }
  const uint8_t* rows(int64_t first, int64_t count, uint8_t* room, int64_t& step) const {
    step = row_room();
    if (step == 0) {
      step = depth;
      return data + first * depth;
    }
    for (int64_t r = 0; r < count; r++) {
      std::memcpy(room + r * step, data + (first + r) * depth, depth);
      std::memset(room + r * step + depth, 0, step - depth);
    }
    return room;
  }
};

}  // namespace proa
