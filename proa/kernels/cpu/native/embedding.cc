// Handler of the sum of vectors by row number for XLA: the gradient of an embedding's table.
#include "parallel.h"
#include "vectors.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Numbers = ffi::Buffer<ffi::S32>;

static void add_to(float* to, const float* from, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, load(to + i) + load(from + i));
  for (; i < count; i++) to[i] += from[i];
}

// table[numbers[n]] += vectors[n]; numbers that are no row are left out. Vectors are added in their order, whatever the
// number of threads.
static ffi::Error sum_by_row(ffi::ThreadPool pool, Numbers numbers, Floats vectors, ffi::ResultBuffer<ffi::F32> table) {
  const auto shape = table->dimensions(), given = vectors.dimensions();
  if (shape.size() != 2 || given.size() != 2 || given[1] != shape[1] ||
      int64_t(numbers.element_count()) != given[0]) {
    return ffi::Error::InvalidArgument("sum by row: the shapes do not fit");
  }
  const int64_t rows = shape[0], width = shape[1], count = given[0];
  const int32_t* number = numbers.typed_data();
  const float* from = vectors.typed_data();
  float* to = table->typed_data();
  const int64_t threads = rows * width + count * width < 30000 ? 1 : threads_of(pool);
  const int64_t parts = smaller<int64_t>(rows, threads == 1 ? 1 : 4 * threads);
  auto clear = [&](int64_t first, int64_t last) {
    std::memset(to + first * width, 0, sizeof(float) * (last - first) * width);
  };
  if (width >= 2 * kLanes * threads) {  // each thread has some columns, so that a row that many vectors go to is no burden
    parallel_for(pool, parts, [&](int64_t part) { clear(rows * part / parts, rows * (part + 1) / parts); });
    const int64_t step = round_up(ceil_div(width, threads), kLanes);
    parallel_for(pool, ceil_div(width, step), [&](int64_t part) {
      const int64_t first = part * step, some = smaller(step, width - first);
      for (int64_t n = 0; n < count; n++) {
        const int64_t row = number[n];
        if (row >= 0 && row < rows) add_to(to + row * width + first, from + n * width + first, some);
      }
    });
    return ffi::Error::Success();
  }
  parallel_for(pool, parts, [&](int64_t part) {
    const int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
    clear(first, last);
    for (int64_t n = 0; n < count; n++) {
      const int64_t row = number[n];
      if (row >= first && row < last) add_to(to + row * width, from + n * width, width);
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(SumByRow, proa::sum_by_row,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Numbers>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>());
