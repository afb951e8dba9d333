// Variances on the host: tiles of the image by five methods, or exact running sums down strips of columns.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "image/variance/host/row_segments.hpp"
#include "image/variance/host/tile_kernels.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

constexpr int kTileRows = 64, kTileColumns = 256;  // a tile with its border fits the L2 cache
constexpr int kExactRows = 128, kStrip = 1024;

// Dynamic scheduling of tiles of the image over threads.
template <class Memory, class F>
void each_tile(std::size_t threads, std::size_t rows, std::size_t columns, int tall, int wide, const Memory& memory,
               const F& f) {
  const auto across = (columns + static_cast<std::size_t>(wide) - 1) / static_cast<std::size_t>(wide);
  const auto down = (rows + static_cast<std::size_t>(tall) - 1) / static_cast<std::size_t>(tall);
  std::atomic<std::size_t> next{0};
  base::parallel(std::min(threads, across * down), [&](std::size_t, std::size_t) {
    auto own = memory();
    for (std::size_t i = next++; i < across * down; i = next++) {
      const std::size_t top = i / across * static_cast<std::size_t>(tall),
                        left = i % across * static_cast<std::size_t>(wide);
      f(own, top, left, static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(tall), rows - top)),
        static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(wide), columns - left)));
    }
  });
}

class Tiles final : public HostVariant {
 public:
  Tiles(const VarianceProblem& problem, VarianceMethod method, bool shifted, std::size_t threads)
      : problem_(problem), kernel_(tile_kernel(method)), shifted_(shifted), threads_(threads) {
    const int base = method == VarianceMethod::pairwise ? 2 : 3;
    down_ = joins_of(static_cast<int>(problem.window_rows), base);
    across_ = joins_of(static_cast<int>(problem.window_columns), base);
  }

  void run(std::span<const Image> in, Image& out) const override {
    const int above = static_cast<int>(problem_.window_rows / 2),
              before = static_cast<int>(problem_.window_columns / 2);
    const int more_rows = static_cast<int>(problem_.window_rows) - 1,
              more_columns = static_cast<int>(problem_.window_columns) - 1;
    const std::size_t padded_cells =
        static_cast<std::size_t>(kTileRows + more_rows) * static_cast<std::size_t>(kTileColumns + more_columns);
    each_tile(
        threads_, problem_.rows, problem_.columns, kTileRows, kTileColumns,
        [&] { return base::AlignedArray<float>(5 * padded_cells); },
        [&](base::AlignedArray<float>& memory, std::size_t top, std::size_t left, int rows, int columns) {
          const auto pitch = static_cast<std::size_t>(columns + more_columns);
          float* padded = memory.data() + 4 * padded_cells;
          // Offset subtracted from the tile's values: trees stay accurate if the mean is large.
          const float shift = shifted_ ? in[0].row<float>(top + static_cast<std::size_t>(rows) /
                                                                    2)[left + static_cast<std::size_t>(columns) / 2]
                                       : 0.0f;
          const RowSegments<float> source{in[0], problem_.border, problem_.constant,
                                          std::isfinite(shift) ? shift : 0.0f};
          for (int r = 0; r < rows + more_rows; ++r) {
            source.segment(static_cast<std::ptrdiff_t>(top) + r - above, static_cast<std::ptrdiff_t>(left) - before,
                           static_cast<std::ptrdiff_t>(pitch), padded + static_cast<std::size_t>(r) * pitch);
          }
          kernel_({.in = padded,
                   .pitch = pitch,
                   .rows = rows,
                   .columns = columns,
                   .window_rows = more_rows + 1,
                   .window_columns = more_columns + 1,
                   .down = &down_,
                   .across = &across_,
                   .scratch = memory.data(),
                   .out = out.row<float>(top) + left,
                   .out_pitch = out.pitch() / sizeof(float)});
        });
  }

 private:
  VarianceProblem problem_;
  TileKernel kernel_;
  bool shifted_;
  std::size_t threads_;
  std::vector<Join> down_, across_;
};

class Exact final : public HostVariant {
 public:
  Exact(const VarianceProblem& problem, std::size_t threads)
      : problem_(problem),
        threads_(threads),
        narrow_(problem.depth == Depth::u8 && problem.window_rows * problem.window_columns <= 1024 &&
                problem.window_rows <= 255) {}

  void run(std::span<const Image> in, Image& out) const override {
    if (narrow_) {
      const RowSegments<std::uint8_t> source{in[0], problem_.border, problem_.constant, 0};
      strips<std::uint8_t, std::int16_t, std::int32_t>(source, out);
    } else {
      const std::int32_t middle = problem_.depth == Depth::u8 ? 128 : 32768;
      const RowSegments<std::int32_t> source{in[0], problem_.border, problem_.constant, middle};
      strips<std::int32_t, std::int64_t, std::int64_t>(source, out);
    }
  }

 private:
  template <class Value, class Sum, class Square>
  void strips(const RowSegments<Value>& source, Image& out) const {
    const int window = static_cast<int>(problem_.window_columns), tall = static_cast<int>(problem_.window_rows);
    const auto wide = static_cast<std::size_t>(kStrip + window + 64);
    struct Memory {
      base::AlignedArray<Value> fresh, old;
      base::AlignedArray<Sum> sums;
      base::AlignedArray<Square> squares;
      base::AlignedArray<std::int32_t> running;
      base::AlignedArray<float> line;
    };
    // Bands of at least four window heights: the first row of a band costs as much as the other rows of a window.
    each_tile(
        threads_, problem_.rows, problem_.columns, std::max(kExactRows, 4 * tall), kStrip,
        [&] {
          return Memory{base::AlignedArray<Value>(wide),
                        base::AlignedArray<Value>(wide),
                        base::AlignedArray<Sum>(wide),
                        base::AlignedArray<Square>(wide),
                        base::AlignedArray<std::int32_t>(2 * wide),
                        base::AlignedArray<float>(wide)};
        },
        [&](Memory& memory, std::size_t top, std::size_t left, int rows, int columns) {
          const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(top) - tall / 2,
                               from = static_cast<std::ptrdiff_t>(left) - window / 2;
          const int count = columns + window - 1;
          std::fill_n(memory.sums.data(), wide, Sum{0});
          std::fill_n(memory.squares.data(), wide, Square{0});
          for (int r = 0; r < rows + tall - 1; ++r) {
            const Value* fresh = source.seen(first + r, from, count, memory.fresh.data());
            const Value* old = r >= tall ? source.seen(first + r - tall, from, count, memory.old.data()) : nullptr;
            exchange(fresh, old, memory.sums.data(), memory.squares.data(), count);
            if (r + 1 < tall) continue;
            // Whole vectors are stored directly; a strip that ends within a vector is copied from a buffer.
            float* to = out.row<float>(top + static_cast<std::size_t>(r + 1 - tall)) + left;
            const bool whole = columns % 16 == 0;
            finish(memory.sums.data(), memory.squares.data(), window, columns, memory.running.data(),
                   whole ? to : memory.line.data());
            if (!whole) std::copy_n(memory.line.data(), columns, to);
          }
        });
  }
  static void exchange(const std::uint8_t* fresh, const std::uint8_t* old, std::int16_t* sums, std::int32_t* squares,
                       int n) {
    exchange_narrow(fresh, old, sums, squares, n);
  }
  static void exchange(const std::int32_t* fresh, const std::int32_t* old, std::int64_t* sums, std::int64_t* squares,
                       int n) {
    exchange_wide(fresh, old, sums, squares, n);
  }
  int cells() const { return static_cast<int>(problem_.window_rows * problem_.window_columns); }
  void finish(const std::int16_t* sums, const std::int32_t* squares, int window, int count, std::int32_t* running,
              float* out) const {
    finish_narrow(sums, squares, window, count, cells(), running, out);
  }
  void finish(const std::int64_t* sums, const std::int64_t* squares, int window, int count, std::int32_t*,
              float* out) const {
    finish_wide(sums, squares, window, count, cells(), out);
  }

  VarianceProblem problem_;
  std::size_t threads_;
  bool narrow_;
};

// Operations per pixel.
double operations(const VarianceProblem& problem, VarianceMethod method) {
  const double cells = static_cast<double>(problem.window_rows * problem.window_columns);
  switch (method) {
    case VarianceMethod::two_pass:
      return 4 * cells;
    case VarianceMethod::online:
      return 6 * cells;
    case VarianceMethod::koenig:
      return 3 * static_cast<double>(problem.window_rows) + 2 * static_cast<double>(problem.window_columns);
    case VarianceMethod::exact:
      return 25;
    default:
      return 10 * (static_cast<double>(joins_of(static_cast<int>(problem.window_rows), 3).size()) +
                   static_cast<double>(joins_of(static_cast<int>(problem.window_columns), 3).size()));
  }
}

}  // namespace

void list_host_variance(const Device&, const VarianceProblem& problem, std::vector<Entry>& entries) {
  const std::size_t threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  const bool whole = problem.depth != Depth::f32;
  const double pixels = static_cast<double>(problem.rows * problem.columns);
  const auto add = [&](VarianceMethod method, const std::string& name, auto build) {
    entries.push_back({.candidate = {.variant = name,
                                     .parameters = {{"threads", std::to_string(threads)}},
                                     .refusal = {},
                                     .cost = {.flops = pixels * operations(problem, method),
                                              .bytes = pixels * (4 + static_cast<double>(bytes_of(problem.depth))),
                                              .launches = 1,
                                              .efficiency = 0.3,
                                              .threads = threads}},
                       .build = build});
  };
  const auto tiles = [&](VarianceMethod method, const std::string& name, bool shifted) {
    add(method, name, [=] { return std::make_shared<Tiles>(problem, method, shifted, threads); });
  };
  const VarianceMethod wanted = problem.method;
  if (wanted == VarianceMethod::exact || (wanted == VarianceMethod::best && whole)) {
    add(VarianceMethod::exact, "exact", [=] { return std::make_shared<Exact>(problem, threads); });
  } else if (wanted == VarianceMethod::best) {
    tiles(VarianceMethod::three_wise, "three-wise shifted", true);
  } else {
    tiles(wanted, to_string(wanted), false);
  }
}

}  // namespace ridge::image
