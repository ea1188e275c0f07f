// Windows of images whose channels lie side by side in memory, multiplied by packed filters.
//
// For a tap of a filter, the channels of a window are a line of memory, and so are neighbouring taps of a row: a window is a
// few *runs* of floats, read where they are. Windows of neighbouring positions lie a fixed distance apart, so a register tile
// takes several positions of a line as its rows and filters as its columns, and its sums stay in registers over all runs.
// Where windows reach over the edge, a *block* of the image is copied with zeros around it first.
#pragma once

#include <algorithm>
#include <vector>

#include "parallel.h"
#include "tile_ending.h"

namespace proa {

constexpr int64_t kPanel = 32;  // filters of a packed panel, on every processor

struct Tap {
  int64_t at[3];   // source position = position * step + at
  int64_t weight;  // where its weight lies in a filter
};

constexpr int kFewRows = kMaxRows / 2;  // so many rows leave registers for twice the columns

// Equal tiles: 56 positions are 4 of 14, 15 are 8 and 7.
inline int64_t tile_rows(int64_t positions) { return ceil_div(positions, ceil_div(positions, kMaxRows)); }

struct Run {
  int64_t offset, length;
};

// Some of the runs, parts of the first and the last perhaps; `begin` is how much of a window lies before them.
struct Chunk {
  int64_t begin;
  std::vector<Run> runs;
};

// Floats of a window that are multiplied at once: a panel of filters of this depth (36 KiB) stays in the first cache.
constexpr int64_t kDeep = 288;

// Which positions of a pass are computed from which positions of images [image][depth][height][width][channels].
struct Pass {
  const float* source;
  int64_t images, extent[3], channels;  // of the source; `channels` of all groups
  int64_t group_channels;
  int64_t grid[3], step[3];
  std::vector<Tap> taps;

  int64_t depth() const { return group_channels * static_cast<int64_t>(taps.size()); }
  int64_t positions() const { return images * grid[0] * grid[1] * grid[2]; }
};

// A part of the positions of one image, and where its windows are read.
struct Block {
  int64_t image, plane, row, rows, column, columns;  // in the grid
  const float* data;                                 // the window of its first position

  int64_t positions() const { return rows * columns; }
};

// How the positions of a pass are divided into blocks, and what a window is made of.
class Blocks {
 public:
  // `most`: positions of a block; `room`: floats that a copied block may have. With `part`, blocks are always copied, so many
  // of their channels at a time (see `copy_part`).
  Blocks(const Pass& pass, int64_t most, int64_t room, int64_t part = 0) : pass_(pass) {
    for (int a = 0; a < 3; a++) {
      low_[a] = high_[a] = pass.taps[0].at[a];
      for (const Tap& tap : pass.taps) {
        low_[a] = smaller(low_[a], tap.at[a]);
        high_[a] = larger(high_[a], tap.at[a]);
      }
      inside_ &= low_[a] >= 0 && (pass.grid[a] - 1) * pass.step[a] + high_[a] < pass.extent[a];
    }
    // Windows a multiple of 4 KiB apart would meet in one set of the first cache.
    const bool meet = pass.step[2] * pass.channels % 1024 == 0 && pass.grid[2] > 8;
    copied_ = !inside_ || meet || part;
    cell_ = part ? part : pass.channels + (meet ? 16 : 0);
    columns_ = pass.grid[2] <= most + most / 2 ? pass.grid[2] : ceil_div(pass.grid[2], ceil_div(pass.grid[2], most));
    rows_ = larger<int64_t>(smaller(pass.grid[1], most / columns_), 1);
    while (copied_ && rows_ > 1 && size() > room) rows_ = ceil_div(rows_, 2);
    while (copied_ && columns_ > 28 && size() > room) columns_ = ceil_div(columns_, 2);
    rows_ = ceil_div(pass.grid[1], ceil_div(pass.grid[1], rows_));
    line_ = (copied_ ? cells(2) : pass.extent[2]) * cell_;
    plane_ = (copied_ ? cells(1) : pass.extent[1]) * line_;
    for (const Tap& tap : pass.taps) {
      int64_t offset = 0;
      const int64_t steps[3] = {plane_, line_, cell_};
      for (int a = 0; a < 3; a++) offset += (tap.at[a] - (copied_ ? low_[a] : 0)) * steps[a];
      const int64_t length = part ? part : pass.group_channels;
      if (!part && !runs_.empty() && runs_.back().offset + runs_.back().length == offset && cell_ == length) {
        runs_.back().length += length;
      } else {
        runs_.push_back({offset, length});
      }
    }
    // Tiles of few rows have twice the columns, so half the depth fills the cache.
    divide(pass.depth(), tile_rows(columns_) <= kFewRows ? kDeep / 2 : kDeep);
  }

  int64_t count() const { return pass_.images * pass_.grid[0] * in_plane(); }
  const std::vector<Run>& runs() const { return runs_; }
  int64_t num_chunks() const { return static_cast<int64_t>(chunks_.size()); }
  const Chunk& chunk(int64_t which) const { return chunks_[which]; }
  int64_t column_step() const { return pass_.step[2] * cell_; }
  int64_t row_step() const { return pass_.step[1] * line_; }
  int64_t panels_at_once() const { return ceil_div((tile_rows(columns_) <= kFewRows ? 4 : 2) * kLanes, kPanel); }
  int64_t most_positions() const { return rows_ * columns_; }
  // Floats of the copy of a block; 0 where blocks are read in place.
  int64_t room() const { return copied_ ? size() : 0; }

  Block find(int64_t which, float* memory) const {
    Block block = place(which);
    const int64_t start[3] = {block.plane * pass_.step[0], block.row * pass_.step[1], block.column * pass_.step[2]};
    if (copied_) {
      copy(memory, block, 0, pass_.channels);
      block.data = memory;
    } else {
      block.data = pass_.source + ((block.image * pass_.extent[0] + start[0]) * pass_.extent[1] + start[1]) * line_ +
                   start[2] * cell_;
    }
    return block;
  }

  // Where a block lies, before its windows are anywhere.
  Block place(int64_t which) const {
    const int64_t across = ceil_div(pass_.grid[2], columns_), in_image = pass_.grid[0] * in_plane();
    Block block;
    block.image = which / in_image;
    block.plane = which % in_image / in_plane();
    block.row = which % in_plane() / across * rows_;
    block.column = which % across * columns_;
    block.rows = smaller(rows_, pass_.grid[1] - block.row);
    block.columns = smaller(columns_, pass_.grid[2] - block.column);
    return block;
  }

  // Channels [channel, channel + count) of everything that the windows of a block reach, with zeros around the image.
  void copy(float* to, const Block& block, int64_t channel, int64_t count) const {
    const int64_t start[3] = {block.plane * pass_.step[0], block.row * pass_.step[1], block.column * pass_.step[2]};
    const int64_t channels = pass_.channels, width = pass_.extent[2];
    const int64_t rows = (block.rows - 1) * pass_.step[1] + high_[1] - low_[1] + 1;
    const int64_t columns = (block.columns - 1) * pass_.step[2] + high_[2] - low_[2] + 1, first = start[2] + low_[2];
    const int64_t before = smaller(larger<int64_t>(-first, 0), columns);
    const int64_t end = larger(smaller(columns, width - first), before);
    for (int64_t d = 0; d < cells(0); d++) {
      for (int64_t r = 0; r < rows; r++) {
        float* line = to + d * plane_ + r * line_;
        const int64_t plane = start[0] + low_[0] + d, row = start[1] + low_[1] + r;
        if (plane < 0 || plane >= pass_.extent[0] || row < 0 || row >= pass_.extent[1]) {
          std::memset(line, 0, sizeof(float) * columns * cell_);
          continue;
        }
        const int64_t at = ((block.image * pass_.extent[0] + plane) * pass_.extent[1] + row) * width + first;
        const float* from = pass_.source + at * channels + channel;
        std::memset(line, 0, sizeof(float) * before * cell_);
        if (cell_ == channels) {
          std::memcpy(line + before * cell_, from + before * channels, sizeof(float) * (end - before) * channels);
        } else if (count <= kLanes) {
          for (int64_t c = before; c < end; c++) {
            store_some(line + c * cell_, load_some(from + c * channels, int(count)), int(count));
          }
        } else {
          for (int64_t c = before; c < end; c++) std::memcpy(line + c * cell_, from + c * channels, sizeof(float) * count);
        }
        std::memset(line + end * cell_, 0, sizeof(float) * (columns - end) * cell_);
      }
    }
  }

 private:
  int64_t in_plane() const { return ceil_div(pass_.grid[1], rows_) * ceil_div(pass_.grid[2], columns_); }
  int64_t cells(int axis) const {
    const int64_t count = axis == 0 ? 1 : axis == 1 ? rows_ : columns_;
    return (count - 1) * pass_.step[axis] + high_[axis] - low_[axis] + 1;
  }
  int64_t size() const { return cells(0) * cells(1) * cells(2) * cell_; }

  void divide(int64_t depth, int64_t most) {
    const int64_t length = ceil_div(depth, ceil_div(depth, most));
    int64_t begin = 0;
    for (Run run : runs_) {
      while (run.length > 0) {
        if (chunks_.empty() || begin == static_cast<int64_t>(chunks_.size()) * length) chunks_.push_back({begin, {}});
        const int64_t some = smaller(run.length, static_cast<int64_t>(chunks_.size()) * length - begin);
        chunks_.back().runs.push_back({run.offset, some});
        run = {run.offset + some, run.length - some};
        begin += some;
      }
    }
  }

  const Pass& pass_;
  bool inside_ = true, copied_;
  int64_t low_[3], high_[3], cell_, columns_, rows_, line_, plane_;
  std::vector<Run> runs_;
  std::vector<Chunk> chunks_;
};

// to[rows][count] (+)= windows times filters. Windows lie `step` apart; `b` is a panel [depth][kPanel] of filters from some
// column on, the next one `panel_step` behind it. With an `ending`, sums are whole.
template <class Arithmetic, int rows, int vectors>
void window_tile(const Run* runs, int num_runs, const float* a, int64_t step, const float* b, int64_t panel_step, float* to,
                 int64_t to_step, bool accumulate, int count, const Ending* ending) {
  Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      sums[r][v] = Vector{};
      if (to) __builtin_prefetch(to + r * to_step + v * kLanes, 1);  // to be there when the sums are
    }
  }
  for (int run = 0; run < num_runs; run++) {
    // Every third row: the two behind it are reached by the processor's own addressing.
    const float* third[(rows + 2) / 3];
#pragma GCC unroll 16
    for (int i = 0; i < (rows + 2) / 3; i++) third[i] = a + runs[run].offset + 3 * i * step;
    for (int64_t k = runs[run].length; k > 0; k--) {
      Vector column[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        column[v] = load(b + v * kLanes / kPanel * panel_step + v * kLanes % kPanel);
      }
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) {
        const Vector value = Arithmetic::broadcast(third[r / 3] + r % 3 * step);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[r][v] = Arithmetic::add(sums[r][v], value, column[v]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < (rows + 2) / 3; i++) third[i]++;
      b += kPanel;
    }
  }
  if (accumulate) {
    each_sum<rows, vectors>(sums, count, [&](Vector sum, int r, int v, int lanes) {
      return sum + load_up_to(to + r * to_step + v * kLanes, lanes);
    });
  }
  if (ending) ending->apply<Arithmetic, rows, vectors>(sums, count, to, to_step);
  else store_sums<rows, vectors>(sums, count, to, to_step);
}

using WindowTile = void (*)(const Run*, int, const float*, int64_t, const float*, int64_t, float*, int64_t, bool, int,
                            const Ending*);

template <class Arithmetic, int rows>
struct WindowTiles {
  static WindowTile find(int wanted, int vectors) {
    if (wanted != rows) return WindowTiles<Arithmetic, rows - 1>::find(wanted, vectors);
    if constexpr (rows <= kFewRows) {
      if (vectors > 2) return window_tile<Arithmetic, rows, 4>;
    }
    return vectors == 1 ? window_tile<Arithmetic, rows, 1> : window_tile<Arithmetic, rows, 2>;
  }
};
template <class Arithmetic>
struct WindowTiles<Arithmetic, 0> {
  static WindowTile find(int, int) { return nullptr; }
};

// Where the results of a pass go: of a position [image][plane][row][column] the filters side by side.
struct Results {
  float* data;
  int64_t image_step, steps[3];
  int64_t filters;             // of a group
  const float* bias = nullptr;
  const Epilogue* epilogue = nullptr;  // its residual lies as the results do
  uint16_t* rounded = nullptr;  // where whole sums go as bfloat16, in the same places; `data` then only holds parts of sums

  int64_t offset(int64_t image, int64_t plane, int64_t row, int64_t column) const {
    return image * image_step + plane * steps[0] + row * steps[1] + column * steps[2];
  }

  // What is done to whole sums from a place and a filter of all groups on.
  Ending ending(int64_t at, int64_t filter) const {
    Ending made{bias ? bias + filter : nullptr, epilogue, nullptr, nullptr, filter, rounded ? rounded + at + filter : nullptr};
    if (epilogue && epilogue->residual) made.residual = epilogue->residual + at + filter;
    if (epilogue && epilogue->rounded_residual) made.rounded_residual = epilogue->rounded_residual + at + filter;
    return made;
  }
};

// A block times one chunk of panels [first, last) of a group.
template <class Arithmetic>
void multiply_block(const Block& block, const Blocks& blocks, int64_t which, const float* panels, int64_t depth, int64_t group,
                    int64_t group_channels, int64_t first, int64_t last, const Results& results) {
  const Chunk& chunk = blocks.chunk(which);
  const bool at_first = which == 0, at_last = which + 1 == blocks.num_chunks();
  const int64_t rows_of_tile = tile_rows(block.columns);
  const int64_t width = rows_of_tile <= kFewRows ? 4 * kLanes : 2 * kLanes, end = smaller(results.filters, last * kPanel);
  for (int64_t j = first * kPanel; j < end; j += width) {
    const int count = static_cast<int>(smaller(width, end - j));
    const int vectors = count <= kLanes ? 1 : count <= 2 * kLanes ? 2 : 4;
    const float* b = panels + (j / kPanel * depth + chunk.begin) * kPanel + j % kPanel;
    const int rest = static_cast<int>((block.columns - 1) % rows_of_tile + 1);
    const WindowTile whole = WindowTiles<Arithmetic, kMaxRows>::find(static_cast<int>(rows_of_tile), vectors);
    const WindowTile ragged = WindowTiles<Arithmetic, kMaxRows>::find(rest, vectors);
    for (int64_t row = 0; row < block.rows; row++) {
      for (int64_t column = 0; column < block.columns; column += rows_of_tile) {
        const int rows = static_cast<int>(smaller(rows_of_tile, block.columns - column));
        const float* a = block.data + group * group_channels + row * blocks.row_step() + column * blocks.column_step();
        const int64_t at = results.offset(block.image, block.plane, block.row + row, block.column + column);
        const int64_t filter = group * results.filters + j;
        const Ending ending = results.ending(at, filter);
        (rows == rows_of_tile ? whole : ragged)(
            chunk.runs.data(), static_cast<int>(chunk.runs.size()), a, blocks.column_step(), b, depth * kPanel,
            results.data ? results.data + at + filter : nullptr, results.steps[2], !at_first, count,
            at_last ? &ending : nullptr);
      }
    }
  }
}

// Of a block; fewer where little is computed for each, so that results are still near when their next columns come.
inline int64_t block_positions(int64_t depth) { return depth <= 128 ? 112 : 448; }
constexpr int64_t kBlockRoom = 120000;  // floats: with a panel of filters they stay in a second cache of 1.25 MiB
constexpr double kWorthTwo = 6e5;       // multiplications from which on a second thread pays
constexpr double kFewPositions = 6;     // so many multiplications take as long as reading a weight

// How many threads a product is worth. Where a weight serves few positions it is waited for longer than it is used.
inline int64_t threads_for(ffi::ThreadPool& pool, double positions, double weights) {
  return larger(positions, kFewPositions) * weights < kWorthTwo ? 1 : threads_of(pool);
}

// The most positions of a block, so that threads have as much to do as each other: of few blocks there are as many for each
// of them, and each but the last is of whole tiles. Of a single line (`alone`) a few tiles that are not whole cost less than
// a thread that waits for the other.
inline int64_t even_blocks(int64_t positions, int64_t most, int64_t threads, bool alone) {
  if (threads < 2) return most;
  int64_t count = ceil_div(positions, most);
  if (positions >= 2 * threads * 4 * kMaxRows) count = larger(count, 2 * threads);  // a late thread is waited for less
  if (count < 6 * threads) count = round_up(count, threads);
  const int64_t each = ceil_div(positions, count);
  return smaller(most, alone && each < 6 * kMaxRows ? each : round_up(each, kMaxRows));
}

// All positions of a pass, all groups. `panels`: [group][panel][depth][kPanel].
template <class Arithmetic = Singles>
void multiply_pass(ffi::ThreadPool& pool, const Pass& pass, int64_t groups, const float* panels, const Results& results) {
  const int64_t depth = pass.depth(), num_panels = ceil_div(results.filters, kPanel), positions = pass.positions();
  const int64_t threads = threads_for(pool, double(positions), double(results.filters) * depth * groups);
  // Wide windows leave room for fewer of them in the cache.
  const int64_t fitting = larger<int64_t>(kBlockRoom / pass.channels, kMaxRows);
  const int64_t most = smaller(block_positions(depth), fitting);
  // Where there are far more filters than positions, threads share the filters: each reads its own ones only.
  const bool by_filters = results.filters > 8 * positions && positions <= most && num_panels >= 4 * threads;
  const bool alone = pass.images * pass.grid[0] * pass.grid[1] == 1;
  const Blocks blocks(pass, by_filters ? most : even_blocks(positions, most, threads, alone), kBlockRoom);
  const int64_t together = larger<int64_t>(most / blocks.most_positions(), 1);
  int64_t strips = by_filters ? 1 : ceil_div(blocks.count(), together);
  if (!by_filters && threads > 1 && strips < 6 * threads) strips = smaller(blocks.count(), round_up(strips, threads));
  int64_t parts = 1;  // of the panels
  if (strips % threads != 0 && strips < 3 * threads) parts = smaller(ceil_div(2 * threads, strips), num_panels);
  parallel_for(pool, strips * parts, [&](int64_t task) {
    const int64_t strip = task / parts, part = task % parts;
    const int64_t first = blocks.count() * strip / strips, last = blocks.count() * (strip + 1) / strips;
    float* memory = blocks.room() ? scratch<1>((last - first) * blocks.room()) : nullptr;
    std::vector<Block> mine;
    for (int64_t which = first; which < last; which++) {
      mine.push_back(blocks.find(which, memory + (which - first) * blocks.room()));
    }
    const int64_t begin = num_panels * part / parts, end = num_panels * (part + 1) / parts;
    for (int64_t group = 0; group < groups; group++) {
      for (int64_t panel = begin; panel < end;) {
        const int64_t some = smaller<int64_t>(blocks.panels_at_once(), end - panel);
        for (int64_t chunk = 0; chunk < blocks.num_chunks(); chunk++) {
          for (const Block& block : mine) {
            multiply_block<Arithmetic>(block, blocks, chunk, panels + group * num_panels * depth * kPanel, depth, group,
                           pass.group_channels, panel, panel + some, results);
          }
        }
        panel += some;
      }
    }
  });
}

}  // namespace proa
