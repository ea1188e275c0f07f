// Handlers of matrix products for XLA.
#include "products.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;

static Matrix matrix_of(const float* data, int64_t rows, int64_t columns, bool transposed) {
  if (transposed) return {data, 1, rows};
  return {data, columns, 1};
}

// [batch ...,] rows x columns = left right, each stored as it is or transposed. The batch of the right one may be absent.
static ffi::Error product(ffi::ThreadPool pool, Floats left, Floats right, ffi::RemainingArgs more,
                          ffi::ResultBuffer<ffi::F32> out, bool transpose_left, bool transpose_right, bool relu) {
  const auto shape = out->dimensions(), left_shape = left.dimensions();
  const size_t rank = shape.size();
  if (rank < 2 || left_shape.size() != rank || right.dimensions().size() != rank) {
    return ffi::Error::InvalidArgument("product: operands must have equal ranks of at least 2");
  }
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  const int64_t depth = transpose_left ? left_shape[rank - 2] : left_shape[rank - 1];
  const int64_t batch = static_cast<int64_t>(out->element_count()) / larger<int64_t>(rows * columns, 1);
  if (static_cast<int64_t>(left.element_count()) != batch * rows * depth ||
      static_cast<int64_t>(right.element_count()) != batch * depth * columns) {
    return ffi::Error::InvalidArgument("product: the shapes do not fit");
  }
  Finish finish;
  finish.relu = relu;
  if (more.size() == 1) {
    auto bias = more.get<Floats>(0);
    if (!bias.has_value() || static_cast<int64_t>(bias->element_count()) != columns) {
      return ffi::Error::InvalidArgument("product: the bias does not fit");
    }
    finish.column_bias = bias->typed_data();
  }
  const float *a = left.typed_data(), *b = right.typed_data();
  float* c = out->typed_data();
  if (batch == 1) {
    multiply_matrices(pool, rows, columns, depth, matrix_of(a, rows, depth, transpose_left),
                      matrix_of(b, depth, columns, transpose_right), c, finish);
    return ffi::Error::Success();
  }
  const int threads = threads_of(pool);
  const double each = static_cast<double>(rows) * columns * depth;
  auto one = [&](int64_t i, auto&& multiplied) {
    multiplied(matrix_of(a + i * rows * depth, rows, depth, transpose_left),
               matrix_of(b + i * depth * columns, depth, columns, transpose_right), c + i * rows * columns);
  };
  if (batch < threads && each > kWorthThreads) {
    for (int64_t i = 0; i < batch; i++) {
      one(i, [&](const Matrix& x, const Matrix& y, float* z) {
        multiply_matrices(pool, rows, columns, depth, x, y, z, finish);
      });
    }
    return ffi::Error::Success();
  }
  const int64_t parts = batch * each < kWorthThreads ? 1 : smaller<int64_t>(batch, 4 * threads);
  parallel_for(pool, parts, [&](int64_t part) {
    for (int64_t i = batch * part / parts; i < batch * (part + 1) / parts; i++) {
      one(i, [&](const Matrix& x, const Matrix& y, float* z) {
        multiply_alone(rows, columns, depth, x, y, z, finish);
      });
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Product, proa::product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .RemainingArgs()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("transpose_left")
                                  .Attr<bool>("transpose_right")
                                  .Attr<bool>("relu"));
