// Handlers of matrix products in bfloat16 for XLA.
#include "pair_matrices.h"
#include "products.h"

namespace proa {

struct BfloatProduct {
  Numbers left, right;
  int64_t rows, columns, depth;
  bool transpose_left, transpose_right;
  void* out;
  bool rounds;

  int64_t pairs() const { return ceil_div(depth, 2); }
  double work() const { return static_cast<double>(rows) * columns * pairs(); }

  // Calls multiplied(left, right, sums, finish) for one of the batch; sums that are rounded have no place of their own in c.
  template <class Multiplied>
  void one(int64_t which, const Finish& finish, const Multiplied& multiplied) const {
    const Numbers a = left.at(which * rows * depth), b = right.at(which * depth * columns);
    const LeftPairs lines{{a, transpose_left ? 1 : depth, transpose_left ? rows : 1, depth}};
    const RightPairs others{{b, transpose_right ? depth : 1, transpose_right ? 1 : columns, depth}};
    Finish here = finish;
    if (rounds) {
      here.rounded = static_cast<uint16_t*>(out) + which * rows * columns;
      here.rounded_step = columns;
    }
    float* sums = rounds ? scratch<7>(rows * columns) : static_cast<float*>(out) + which * rows * columns;
    multiplied(lines, others, sums, here);
  }
};

// [batch ...,] rows x columns = left right, each stored as it is or transposed, each bfloat16 or float; so is the result.
static ffi::Error bfloat_product(ffi::ThreadPool pool, ffi::AnyBuffer left, ffi::AnyBuffer right, ffi::RemainingArgs more,
                                 ffi::Result<ffi::AnyBuffer> out, bool transpose_left, bool transpose_right) {
  const auto shape = out->dimensions(), left_shape = left.dimensions();
  const size_t rank = shape.size();
  if (rank < 2 || left_shape.size() != rank || right.dimensions().size() != rank || !is_number(left) ||
      !is_number(right) || !is_number(*out)) {
    return ffi::Error::InvalidArgument("product: operands must be bfloat16 or float32, of equal ranks of at least 2");
  }
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  const int64_t depth = transpose_left ? left_shape[rank - 2] : left_shape[rank - 1];
  const int64_t batch = static_cast<int64_t>(out->element_count()) / larger<int64_t>(rows * columns, 1);
  if (static_cast<int64_t>(left.element_count()) != batch * rows * depth ||
      static_cast<int64_t>(right.element_count()) != batch * depth * columns || depth < 1) {
    return ffi::Error::InvalidArgument("product: the shapes do not fit");
  }
  Finish finish;
  if (more.size() > 0 && !read_bias(more, columns, finish.column_bias)) {
    return ffi::Error::InvalidArgument("product: the bias does not fit");
  }
  const BfloatProduct product{numbers_of(left), numbers_of(right), rows, columns, depth, transpose_left, transpose_right,
                              out->untyped_data(), out->element_type() == ffi::BF16};
  const int threads = threads_of(pool);
  const auto together = [&](const LeftPairs& a, const RightPairs& b, float* c, const Finish& here) {
    multiply_matrices(pool, rows, columns, product.pairs(), a, b, c, here);
  };
  if (batch < threads && (batch == 1 || product.work() > kWorthThreads)) {
    for (int64_t i = 0; i < batch; i++) product.one(i, finish, together);
    return ffi::Error::Success();
  }
  const int64_t parts = batch * product.work() < kWorthThreads ? 1 : smaller<int64_t>(batch, 4 * threads);
  parallel_for(pool, parts, [&](int64_t part) {
    for (int64_t i = batch * part / parts; i < batch * (part + 1) / parts; i++) {
      product.one(i, finish, [&](const LeftPairs& a, const RightPairs& b, float* c, const Finish& here) {
        multiply_alone(rows, columns, product.pairs(), a, b, c, here);
      });
    }
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(BfloatProduct, proa::bfloat_product,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<bool>("transpose_left")
                                  .Attr<bool>("transpose_right"));
