// LSTM, GRU and simple recurrent layers over a whole sequence, forward and backward, for XLA.
//
// The hidden units are divided among the threads, so that each keeps its part of the weight, packed once, in its own cache
// for all steps. A step is a product with that part and the gates of its units; then the threads wait for each other.
#include <thread>

#include "products.h"

namespace proa {

using Floats = ffi::Buffer<ffi::F32>;
using Lengths = ffi::Buffer<ffi::S32>;

enum Kind : int64_t { kLstm = 0, kGru = 1, kTanh = 2, kRelu = 3 };

inline int gates_of(int64_t kind) { return kind == kLstm ? 4 : kind == kGru ? 3 : 1; }

// ---- functions of vectors -------------------------------------------------------------------------

inline Vector reciprocal(Vector x) {
#if PROA_AVX512
  const Vector guess = (Vector)_mm512_rcp14_ps((__m512)x);
  return guess * (all(2.0f) - x * guess);
#else
  return all(1.0f) / x;
#endif
}

// exp(x) where x is bounded to +-80, which is all that the functions below can tell apart.
inline Vector bounded_power(Vector x) {
  const Vector bound = all(80.0f);
  x = x > bound ? bound : x;
  x = x < -bound ? -bound : x;
  const Vector shift = all(12582912.0f);
  const Vector shifted = x * all(1.44269504f) + shift;
  const Vector n = shifted - shift;
  Vector r = x - n * all(0.693145752f);
  r = r - n * all(1.42860677e-06f);
  Vector p = all(0.0013750719f);
  p = p * r + all(0.0083691087f);
  p = p * r + all(0.0416695625f);
  p = p * r + all(0.1666651666f);
  p = p * r + all(0.4999998808f);
  p = p * r + all(1.0f);
  p = p * r + all(1.0f);
  const Integers power = (reinterpret_cast<const Integers&>(shifted) - 0x4B400000 + 127) << 23;
  return p * reinterpret_cast<const Vector&>(power);
}

inline Vector sigmoid(Vector x) { return reciprocal(all(1.0f) + bounded_power(-x)); }

inline Vector tanh_of(Vector x) {
  const Vector far = all(1.0f) - all(2.0f) * reciprocal(all(1.0f) + bounded_power(x + x));
  const Vector s = x * x;
  Vector p = all(0.0164107010f);
  p = p * s + all(-0.0526555441f);
  p = p * s + all(0.1332042217f);
  p = p * s + all(-0.3333292902f);
  const Vector near = x + x * s * p;
  return s < 0.3f ? near : far;
}

inline Vector read(const float* p, int count) { return count == kLanes ? load(p) : load_some(p, count); }
inline void write(float* p, Vector v, int count) { count == kLanes ? store(p, v) : store_some(p, v, count); }

// ---- threads that go step by step -----------------------------------------------------------------

// Calls body(step, part) for every part of step 0, then of step 1 and so on; a step begins when the one before is done.
// Each thread has a part that it prefers, since that part's data is in its cache, but takes any that nobody has begun: the
// caller alone would finish, too, so it does not matter when, or whether, the pool finds a thread for the others.
template <class Body>
void run_steps(ffi::ThreadPool& pool, int64_t steps, int parts, const Body& body) {
  if (parts <= 1) {
    for (int64_t step = 0; step < steps; step++) body(step, 0);
    return;
  }
  struct alignas(64) Claim {
    std::atomic<int64_t> next{0};
  };
  struct Job {
    std::unique_ptr<Claim[]> claims;
    alignas(64) std::atomic<int64_t> done{0};
    int64_t steps;
    int parts;
    const Body* body;  // alive as long as any part is left to take
  };
  auto job = std::make_shared<Job>();
  job->claims.reset(new Claim[parts]);
  job->steps = steps;
  job->parts = parts;
  job->body = &body;
  auto work = [job](int me) {
    const int parts = job->parts;
    for (int64_t step = job->done.load(std::memory_order_acquire) / parts; step < job->steps; step++) {
      for (int i = 0; i < parts; i++) {
        const int part = (me + i) % parts;
        int64_t expected = step;
        if (job->claims[part].next.compare_exchange_strong(expected, step + 1)) {
          (*job->body)(step, part);
          job->done.fetch_add(1, std::memory_order_acq_rel);
        }
      }
      if (me != 0 && step + 1 == job->steps) return;
      const int64_t wanted = (step + 1) * parts;
      for (int spins = 0; job->done.load(std::memory_order_acquire) < wanted; spins++) {
        if (spins > 1000) std::this_thread::yield();
#if defined(__x86_64__)
        else __builtin_ia32_pause();
#endif
      }
    }
  };
  for (int i = 1; i < parts; i++) pool.Schedule([work, i] { work(i); });
  work(0);
}

// ---- operands in the order of the tiles -----------------------------------------------------------

struct Layer {
  int64_t kind, gates, steps, batch, hidden;
  bool reverse;
  const int32_t* lengths;  // or none

  int64_t width() const { return gates * hidden; }
  int64_t blocks() const { return ceil_div(hidden, kLanes); }
  int panel_rows() const { return rows_of_panels(batch); }
  bool active(int64_t t, int64_t row) const { return lengths == nullptr || t < lengths[row]; }
  int parts(const ffi::ThreadPool& pool) const {
    const double useful = static_cast<double>(batch) * width() * hidden / 60000;
    return static_cast<int>(smaller<double>(smaller<double>(threads_of(pool), blocks()), larger(useful, 1.0)));
  }
};

// Columns [first, first + count) of rows as the left operand of tiles: panels of [depth][rows], of which this fills the
// lines from `k` on. Lines before and after belong to other threads.
static void pack_columns(const Layer& layer, float* to, int64_t depth, int64_t k, const float* from, int64_t from_step,
                         int64_t count) {
  const int step = layer.panel_rows();
  for (int64_t i = 0; i < layer.batch; i += step) {
    const int rows = static_cast<int>(smaller<int64_t>(step, layer.batch - i));
    float* lines = to + i * depth + k * rows;
    const float* source = from + i * from_step;
    if (rows >= 8) {
      Matrix{source, from_step, 1}.pack_left(lines, 0, rows, 0, count);
    } else {
      for (int64_t j = 0; j < count; j++) {
        for (int r = 0; r < rows; r++) lines[j * rows + r] = source[r * from_step + j];
      }
    }
  }
}

// to[k * to_step + j] = line j of `from` at k, for a vector's width of lines, zeros where there are fewer.
static void pack_lines(float* to, int64_t to_step, const float* from, int64_t depth, int count) {
  if (count == kLanes && kLanes % 8 == 0) {
    for (int j = 0; j < kLanes; j += 8) {
      const float* lines[8];
      for (int i = 0; i < 8; i++) lines[i] = from + (j + i) * depth;
      transpose_8(to + j, to_step, lines, depth);
    }
    return;
  }
  for (int64_t k = 0; k < depth; k++) {
    for (int j = 0; j < kLanes; j++) to[k * to_step + j] = j < count ? from[j * depth + k] : 0;
  }
}

// c (+)= the packed panels times `right`, [depth][width]; parts of k that stay in the first cache with all rows.
static void multiply_panels(const Layer& layer, int64_t depth, const float* left, const float* right, int width, float* c,
                            int64_t c_step, int columns, bool accumulate) {
  const int step = layer.panel_rows();
  const int64_t depth_step = ceil_div(depth, ceil_div(depth, kDepth));
  for (int64_t k = 0; k < depth; k += depth_step) {
    const int64_t some = smaller(depth_step, depth - k);
    for (int64_t i = 0; i < layer.batch; i += step) {
      const int rows = static_cast<int>(smaller<int64_t>(step, layer.batch - i));
      Tiles<kMaxRows>::find(rows, width / kLanes)(some, left + i * depth + k * rows, right + k * width, width,
                                                  c + i * c_step, c_step, columns, accumulate || k > 0, nullptr);
    }
  }
}

// ---- forward --------------------------------------------------------------------------------------

struct Forward {
  Layer layer;
  const float *projected, *first_hidden, *first_cell, *weight, *bias;
  // `kept`: the gates of an LSTM for the way back, or none. It may be the memory of `projected`.
  float *hidden, *cell, *kept;
  float *packed_weight, *packed_hidden[2];

  // The units of a block: the product's columns are its gates side by side, and they are stored in pairs.
  float* weight_of(int64_t block) const { return packed_weight + block * kLanes * layer.width(); }

  void prepare(int64_t block) const {
    const int64_t unit = block * kLanes, depth = layer.hidden;
    const int count = static_cast<int>(smaller<int64_t>(kLanes, depth - unit));
    for (int64_t gate = 0; gate < layer.gates; gate++) {
      const bool paired = (gate | 1) < layer.gates;
      float* to = weight_of(block) + (gate & ~1) * kLanes * depth + (gate & 1) * kLanes;
      pack_lines(to, paired ? kWidth : kLanes, weight + (gate * depth + unit) * depth, depth, count);
    }
    pack_columns(layer, packed_hidden[0], depth, unit, first_hidden + unit, depth, count);
  }

  void advance(int64_t step, int64_t block) const {
    const int64_t depth = layer.hidden, gates = layer.gates, batch = layer.batch, unit = block * kLanes;
    const int64_t t = layer.reverse ? layer.steps - 1 - step : step, back = layer.reverse ? t + 1 : t - 1;
    const int count = static_cast<int>(smaller<int64_t>(kLanes, depth - unit));
    const float* old_hidden = (step ? hidden + back * batch * depth : first_hidden) + unit;
    const float* old_cell = layer.kind == kLstm ? (step ? cell + back * batch * depth : first_cell) + unit : nullptr;
    float* new_hidden = hidden + t * batch * depth + unit;
    float* new_cell = layer.kind == kLstm ? cell + t * batch * depth + unit : nullptr;
    float* sums = scratch<4>(batch * gates * kLanes);
    for (int64_t gate = 0; gate < gates; gate += 2) {
      const int width = gate + 1 < gates ? kWidth : kLanes;
      multiply_panels(layer, depth, packed_hidden[step & 1], weight_of(block) + gate * kLanes * depth, width,
                      sums + gate * kLanes, gates * kLanes, width, false);
    }
    Vector added[4] = {};
    for (int64_t gate = 0; gate < gates && bias; gate++) added[gate] = read(bias + gate * depth + unit, count);
    for (int64_t row = 0; row < batch; row++) {
      const float* sum = sums + row * gates * kLanes;
      const float* inner = projected + (t * batch + row) * layer.width() + unit;
      const int64_t at = row * depth;
      if (!layer.active(t, row)) {
        write(new_hidden + at, read(old_hidden + at, count), count);
        if (new_cell) write(new_cell + at, read(old_cell + at, count), count);
        if (kept) {
          float* to = kept + (t * batch + row) * layer.width() + unit;
          for (int64_t gate = 0; gate < gates; gate++) write(to + gate * depth, Vector{}, count);
        }
        continue;
      }
      Vector x[4], h[4];
      for (int64_t gate = 0; gate < gates; gate++) {
        x[gate] = read(inner + gate * depth, count);
        h[gate] = load(sum + gate * kLanes) + added[gate];
      }
      Vector result;
      if (layer.kind == kLstm) {
        const Vector i = sigmoid(x[0] + h[0]), f = sigmoid(x[1] + h[1]), g = tanh_of(x[2] + h[2]), o = sigmoid(x[3] + h[3]);
        const Vector state = f * read(old_cell + at, count) + i * g;
        write(new_cell + at, state, count);
        result = o * tanh_of(state);
        if (kept) {
          float* to = kept + (t * batch + row) * layer.width() + unit;
          write(to, i, count);
          write(to + depth, f, count);
          write(to + 2 * depth, g, count);
          write(to + 3 * depth, o, count);
        }
      } else if (layer.kind == kGru) {
        const Vector candidate = tanh_of(x[2] + sigmoid(x[0] + h[0]) * h[2]);
        result = (read(old_hidden + at, count) - candidate) * sigmoid(x[1] + h[1]) + candidate;
      } else {
        const Vector total = x[0] + h[0];
        result = layer.kind == kTanh ? tanh_of(total) : (total < 0.0f ? Vector{} : total);
      }
      write(new_hidden + at, result, count);
    }
    if (step + 1 < layer.steps) {
      pack_columns(layer, packed_hidden[~step & 1], depth, unit, new_hidden, depth, count);
    }
  }

  void run(ffi::ThreadPool& pool) {
    const int64_t state = layer.batch * layer.hidden + 8, blocks = layer.blocks();
    packed_weight = scratch<5>(blocks * kLanes * layer.width());
    packed_hidden[0] = scratch<6>(2 * state);
    packed_hidden[1] = packed_hidden[0] + state;
    const int parts = layer.parts(pool);
    run_steps(pool, layer.steps + 1, parts, [&](int64_t step, int part) {
      for (int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; block++) {
        if (step == 0) prepare(block);
        else advance(step - 1, block);
      }
    });
  }
};

// ---- backward -------------------------------------------------------------------------------------

struct Backward {
  Layer layer;
  // `recurrent` is the product of the states before each step with the weight, bias included; without it, `projected` are
  // the gates that the way forward kept.
  const float *projected, *recurrent, *first_hidden, *first_cell, *weight, *hidden, *cell, *grad_hidden, *grad_cell;
  // The gradients of the first states are those of the state at hand while the steps are walked; `d_projected` may be the
  // memory of `projected`.
  float *d_projected, *d_hidden, *d_cell, *d_bias, *d_recurrent;
  float *packed_weight, *packed_grads[2];

  void prepare(int64_t first, int64_t last) const {
    const int64_t depth = layer.width();
    for (int64_t unit = first; unit < last; unit += kWidth) {
      const int count = static_cast<int>(smaller<int64_t>(kWidth, last - unit));
      const int width = count <= kLanes ? kLanes : kWidth;
      Matrix{weight, layer.hidden, 1}.pack_right(packed_weight + unit * depth, 0, depth, unit, count, width);
    }
    const size_t bytes = sizeof(float) * (last - first);
    for (int64_t row = 0; row < layer.batch; row++) {
      std::memset(d_hidden + row * layer.hidden + first, 0, bytes);
      if (d_cell) std::memset(d_cell + row * layer.hidden + first, 0, bytes);
    }
    for (int64_t gate = 0; gate < layer.gates; gate++) std::memset(d_bias + gate * layer.hidden + first, 0, bytes);
  }

  // What goes from the gates of a step to the state before it, by the product.
  void carry(int64_t step, int64_t first, int64_t last) const {
    const int64_t depth = layer.width();
    for (int64_t unit = first; unit < last; unit += kWidth) {
      const int count = static_cast<int>(smaller<int64_t>(kWidth, last - unit));
      multiply_panels(layer, depth, packed_grads[step & 1], packed_weight + unit * depth,
                      count <= kLanes ? kLanes : kWidth, d_hidden + unit, layer.hidden, count, true);
    }
  }

  // The gradients of the gates of one block of units; what reaches the state before directly stays in d_hidden and d_cell.
  void gates(int64_t step, int64_t unit) const {
    const int64_t depth = layer.hidden, gates = layer.gates, batch = layer.batch;
    const int64_t t = layer.reverse ? step : layer.steps - 1 - step, back = layer.reverse ? t + 1 : t - 1;
    const bool is_first = step + 1 == layer.steps;
    const int count = static_cast<int>(smaller<int64_t>(kLanes, depth - unit));
    const float* old_hidden = (is_first ? first_hidden : hidden + back * batch * depth) + unit;
    const float* old_cell = layer.kind == kLstm ? (is_first ? first_cell : cell + back * batch * depth) + unit : nullptr;
    const Vector one = all(1.0f);
    Vector sums[4] = {};
    for (int64_t row = 0; row < batch; row++) {
      const int64_t at = row * depth, here = (t * batch + row) * depth + unit, wide = (t * batch + row) * gates * depth + unit;
      float *to_hidden = d_hidden + at + unit, *to_cell = d_cell ? d_cell + at + unit : nullptr;
      const Vector total = read(to_hidden, count) + read(grad_hidden + here, count);
      Vector total_cell = to_cell ? read(to_cell, count) + read(grad_cell + here, count) : Vector{};
      Vector d[4] = {}, last = {};  // `last`: of the product's part of a GRU's candidate
      if (!layer.active(t, row)) {
        write(to_hidden, total, count);
        if (to_cell) write(to_cell, total_cell, count);
      } else if (layer.kind == kLstm) {
        Vector gate[4];
        for (int k = 0; k < 4; k++) {
          gate[k] = read(projected + wide + k * depth, count);
          if (recurrent == nullptr) continue;
          gate[k] += read(recurrent + wide + k * depth, count);
          gate[k] = k == 2 ? tanh_of(gate[k]) : sigmoid(gate[k]);
        }
        const Vector i = gate[0], f = gate[1], g = gate[2], o = gate[3];
        const Vector squashed = tanh_of(read(cell + here, count));
        total_cell += total * o * (one - squashed * squashed);
        d[0] = total_cell * g * i * (one - i);
        d[1] = total_cell * read(old_cell + at, count) * f * (one - f);
        d[2] = total_cell * i * (one - g * g);
        d[3] = total * squashed * o * (one - o);
        write(to_hidden, Vector{}, count);
        write(to_cell, total_cell * f, count);
      } else if (layer.kind == kGru) {
        const Vector product = read(recurrent + wide + 2 * depth, count);
        const Vector r = sigmoid(read(projected + wide, count) + read(recurrent + wide, count));
        const Vector z = sigmoid(read(projected + wide + depth, count) + read(recurrent + wide + depth, count));
        const Vector c = tanh_of(read(projected + wide + 2 * depth, count) + r * product);
        d[2] = total * (one - z) * (one - c * c);
        d[0] = d[2] * product * r * (one - r);
        d[1] = total * (read(old_hidden + at, count) - c) * z * (one - z);
        last = d[2] * r;
        write(to_hidden, total * z, count);
      } else {
        const Vector a = read(hidden + here, count);
        if (layer.kind == kTanh) d[0] = total * (one - a * a);
        else d[0] = a > 0.0f ? total : Vector{};
        write(to_hidden, Vector{}, count);
      }
      for (int64_t gate = 0; gate < gates; gate++) {
        write(d_projected + wide + gate * depth, d[gate], count);
        if (layer.kind == kGru) {
          if (gate == 2) d[2] = last;
          write(d_recurrent + wide + gate * depth, d[gate], count);
        }
        sums[gate] += d[gate];
      }
    }
    const float* grads = (layer.kind == kGru ? d_recurrent : d_projected) + t * batch * layer.width() + unit;
    for (int64_t gate = 0; gate < gates; gate++) {
      float* total = d_bias + gate * depth + unit;
      write(total, read(total, count) + sums[gate], count);
      pack_columns(layer, packed_grads[step & 1], layer.width(), gate * depth + unit, grads + gate * depth, layer.width(),
                   count);
    }
  }

  void run(ffi::ThreadPool& pool) {
    const int64_t panels = layer.batch * layer.width() + 8, blocks = layer.blocks();
    packed_weight = scratch<5>(blocks * kLanes * layer.width());
    packed_grads[0] = scratch<6>(2 * panels);
    packed_grads[1] = packed_grads[0] + panels;
    const int parts = layer.parts(pool);
    // The product of a step needs the gates of all units, the next gates only the thread's own part of the product: so a
    // turn is the product of the step before and then the gates, and there is one wait in each.
    run_steps(pool, layer.steps + 2, parts, [&](int64_t turn, int part) {
      const int64_t first = blocks * part / parts * kLanes;
      const int64_t last = smaller(layer.hidden, blocks * (part + 1) / parts * kLanes);
      if (turn == 0) prepare(first, last);
      if (turn > 1) carry(turn - 2, first, last);
      if (turn == 0 || turn > layer.steps) return;
      for (int64_t unit = first; unit < last; unit += kLanes) gates(turn - 1, unit);
    });
  }
};

// ---- handlers -------------------------------------------------------------------------------------

// Takes operands and results in order, and notes when one is missing or of another size.
class Buffers {
 public:
  Buffers(const ffi::RemainingArgs& operands, const ffi::RemainingRets& results) : operands_(operands), results_(results) {}
  const float* in(int64_t size) {
    auto buffer = operands_.get<Floats>(next_in_++);
    if (buffer.has_value() && static_cast<int64_t>(buffer->element_count()) == size) return buffer->typed_data();
    fits = false;
    return nullptr;
  }
  float* out(int64_t size) {
    auto buffer = results_.get<Floats>(next_out_++);
    if (buffer.has_value() && static_cast<int64_t>((*buffer)->element_count()) == size) return (*buffer)->typed_data();
    fits = false;
    return nullptr;
  }
  bool fits = true;

 private:
  const ffi::RemainingArgs& operands_;
  const ffi::RemainingRets& results_;
  size_t next_in_ = 0, next_out_ = 0;
};

// A row of `projected` belongs to a step and a member of the batch.
static bool make_layer(Layer& layer, const Floats& projected, const Lengths& lengths, int64_t kind, int64_t batch,
                       bool reverse) {
  const auto shape = projected.dimensions();
  layer.kind = kind;
  layer.gates = gates_of(kind);
  if (shape.size() != 2 || batch < 1 || shape[0] % batch || shape[1] % layer.gates || !projected.element_count()) return false;
  layer.steps = shape[0] / batch;
  layer.batch = batch;
  layer.hidden = shape[1] / layer.gates;
  layer.reverse = reverse;
  const int64_t given = static_cast<int64_t>(lengths.element_count());
  layer.lengths = given ? lengths.typed_data() : nullptr;
  return given == 0 || given == layer.batch;
}

// projected, lengths (or none of them), first states, weight, bias if there is one -> hidden states; of an LSTM cells, and
// gates if they are to be kept.
static ffi::Error recurrence(ffi::ThreadPool pool, Floats projected, Lengths lengths, ffi::RemainingArgs operands,
                             ffi::RemainingRets results, int64_t kind, int64_t batch, bool reverse, bool has_bias,
                             bool keep) {
  Forward f{};
  if (!make_layer(f.layer, projected, lengths, kind, batch, reverse)) {
    return ffi::Error::InvalidArgument("recurrence: the shapes do not fit");
  }
  Buffers next(operands, results);
  const bool lstm = kind == kLstm;
  const int64_t state = f.layer.batch * f.layer.hidden, sequence = f.layer.steps * state;
  f.projected = projected.typed_data();
  f.first_hidden = next.in(state);
  f.first_cell = lstm ? next.in(state) : nullptr;
  f.weight = next.in(f.layer.width() * f.layer.hidden);
  f.bias = has_bias ? next.in(f.layer.width()) : nullptr;
  f.hidden = next.out(sequence);
  f.cell = lstm ? next.out(sequence) : nullptr;
  f.kept = lstm && keep ? next.out(sequence * 4) : nullptr;
  if (!next.fits) return ffi::Error::InvalidArgument("recurrence: the shapes do not fit");
  f.run(pool);
  return ffi::Error::Success();
}

// projected, lengths, recurrent product (or gates that were kept instead of the two), first states, weight, states, their
// gradients -> gradients of projected, of the first states and of the bias; of a GRU also that of the recurrent product.
static ffi::Error recurrence_grad(ffi::ThreadPool pool, Floats projected, Lengths lengths, ffi::RemainingArgs operands,
                                  ffi::RemainingRets results, int64_t kind, int64_t batch, bool reverse, bool kept) {
  Backward b{};
  if (!make_layer(b.layer, projected, lengths, kind, batch, reverse)) {
    return ffi::Error::InvalidArgument("recurrence_grad: the shapes do not fit");
  }
  Buffers next(operands, results);
  const bool lstm = kind == kLstm;
  const int64_t state = b.layer.batch * b.layer.hidden, sequence = b.layer.steps * state, wide = sequence * b.layer.gates;
  b.projected = projected.typed_data();
  b.recurrent = lstm && kept ? nullptr : next.in(wide);
  b.first_hidden = next.in(state);
  b.first_cell = lstm ? next.in(state) : nullptr;
  b.weight = next.in(b.layer.width() * b.layer.hidden);
  b.hidden = next.in(sequence);
  b.cell = lstm ? next.in(sequence) : nullptr;
  b.grad_hidden = next.in(sequence);
  b.grad_cell = lstm ? next.in(sequence) : nullptr;
  b.d_projected = next.out(wide);
  b.d_hidden = next.out(state);
  b.d_cell = lstm ? next.out(state) : nullptr;
  b.d_bias = next.out(b.layer.width());
  b.d_recurrent = kind == kGru ? next.out(wide) : nullptr;
  if (!next.fits) return ffi::Error::InvalidArgument("recurrence_grad: the shapes do not fit");
  b.run(pool);
  return ffi::Error::Success();
}

// ---- the gradient of the weight -------------------------------------------------------------------

// The state that each step started from, a row for each step and member of the batch: `rows` rows of one matrix and then
// those of another, of which one is the first state and the other the states after all steps but the last.
struct StatesBefore {
  const float *first, *second;
  int64_t rows, hidden;

  void pack_right(float* to, int64_t k0, int64_t depth, int64_t j, int columns, int width) const {
    const int64_t some = k0 < rows ? smaller(depth, rows - k0) : 0;
    if (some) Matrix{first, hidden, 1}.pack_right(to, k0, some, j, columns, width);
    if (some < depth) {
      Matrix{second, hidden, 1}.pack_right(to + some * width, k0 + some - rows, depth - some, j, columns, width);
    }
  }
  const float* direct(int64_t, int64_t, int, int) const { return nullptr; }
  int64_t direct_step() const { return hidden; }
};

// The gradient of the recurrent product, the first state and the states after each step -> that of the weight.
static ffi::Error recurrence_weight_grad(ffi::ThreadPool pool, Floats grads, Floats first, Floats states,
                                         ffi::ResultBuffer<ffi::F32> out, bool reverse) {
  const auto shape = out->dimensions();
  if (shape.size() != 2 || !shape[0] || !shape[1]) return ffi::Error::InvalidArgument("recurrence_grad: the shapes do not fit");
  const int64_t width = shape[0], hidden = shape[1], batch = static_cast<int64_t>(first.element_count()) / hidden;
  const int64_t depth = static_cast<int64_t>(states.element_count()) / hidden;
  if (static_cast<int64_t>(grads.element_count()) != depth * width || batch < 1 || depth < batch ||
      static_cast<int64_t>(first.element_count()) != batch * hidden ||
      static_cast<int64_t>(states.element_count()) != depth * hidden) {
    return ffi::Error::InvalidArgument("recurrence_grad: the shapes do not fit");
  }
  const Matrix left{grads.typed_data(), 1, width};
  StatesBefore right{first.typed_data(), states.typed_data(), batch, hidden};
  if (reverse) right = {states.typed_data() + batch * hidden, first.typed_data(), depth - batch, hidden};
  float* to = out->typed_data();
  const int64_t threads = threads_of(pool);
  const double work = static_cast<double>(depth) * width * hidden;
  const int64_t parts = work < kWorthThreads ? 1 : work > 16e6 * threads ? 2 * threads : threads;
  const int64_t step = larger<int64_t>(ceil_div(width, parts), kMaxRows);
  parallel_for(pool, ceil_div(width, step), [&](int64_t i) {
    const int64_t row = i * step;
    multiply(smaller(step, width - row), hidden, depth, left.at(row, 0), right, Result{to + row * hidden, hidden}, false,
             Finish());
  });
  return ffi::Error::Success();
}

}  // namespace proa

XLA_FFI_DEFINE_HANDLER_SYMBOL(Recurrence, proa::recurrence,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Lengths>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<int64_t>("kind")
                                  .Attr<int64_t>("batch")
                                  .Attr<bool>("reverse")
                                  .Attr<bool>("has_bias")
                                  .Attr<bool>("keep"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(RecurrenceGrad, proa::recurrence_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Lengths>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<int64_t>("kind")
                                  .Attr<int64_t>("batch")
                                  .Attr<bool>("reverse")
                                  .Attr<bool>("kept"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(RecurrenceWeightGrad, proa::recurrence_weight_grad,
                              xla::ffi::Ffi::Bind()
                                  .Ctx<xla::ffi::ThreadPool>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Arg<proa::Floats>()
                                  .Ret<proa::Floats>()
                                  .Attr<bool>("reverse"));
