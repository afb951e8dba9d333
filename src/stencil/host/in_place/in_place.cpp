// Variant "in_place": systems that keep the previous time level, such as waves. The new level overwrites the older one,
// which is read only at the cell itself, and the two swap roles. A step thus reads and writes each value once, and no
// cache line is read only to be overwritten. Blocks of rows are scheduled dynamically by default; in 3D their height
// keeps the planes that a stencil reads in the second-level cache.
#include <algorithm>
#include <cstdint>

#include "machine/host/caches.hpp"
#include "stencil/host/kernels/sweep_kernels.hpp"
#include "stencil/host/kernels/vector_program.hpp"
#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/host/schedule.hpp"
#include "stencil/time_levels.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

struct InPlaceBlock {
  std::size_t z, z_end, y, y_end, x, x_end;
};

struct InPlaceLoops {
  std::size_t height = 0;  // rows per block (3D); 0: divided evenly among the threads
  std::size_t rows = 1;    // rows computed together: 1 or kBlockRows
  bool fetch = false;      // prefetch the memory that the next rows read
  bool star = false;       // use the star kernel
  std::size_t threads = 1;
};

std::size_t pieces_of(std::size_t count, std::size_t piece) {
  return std::max<std::size_t>(1, (count + piece / 2) / piece);
}

std::vector<InPlaceBlock> blocks_of(const Layout& layout, const InPlaceLoops& loops) {
  const std::size_t wanted = loops.threads == 1 ? 1 : (loops.star ? 8 : 4) * loops.threads;
  const std::size_t together = loops.star ? loops.rows : 1;  // so that few rows remain
  const auto count = [&](std::size_t axis) { return layout.end[axis] - layout.begin[axis]; };
  std::array<std::size_t, 3> parts{1, 1, 1};
  if (layout.dimensions == 3) {
    parts[1] = loops.height == 0 ? 1 : pieces_of(count(1), loops.height);
    parts[0] = std::min(count(0), (wanted + parts[1] - 1) / parts[1]);
  } else {
    parts[1] = std::min(count(1), wanted);
  }
  constexpr std::size_t kFewestCells = 4096;
  if (parts[0] * parts[1] < loops.threads)
    parts[2] = std::min(wanted, std::max<std::size_t>(1, count(2) / kFewestCells));
  std::vector<InPlaceBlock> blocks;
  for (std::size_t k = 0; k < parts[0]; ++k) {
    const base::Share z = base::share(count(0), k, parts[0], layout.dimensions == 3 ? together : 1);
    if (z.begin == z.end) continue;
    for (std::size_t j = 0; j < parts[1]; ++j) {
      const base::Share y = base::share(count(1), j, parts[1], layout.dimensions == 3 ? 1 : together);
      for (std::size_t i = 0; i < parts[2] && y.begin < y.end; ++i) {
        const base::Share x = base::share(count(2), i, parts[2], 64);
        if (x.begin == x.end) continue;
        blocks.push_back({layout.begin[0] + z.begin, layout.begin[0] + z.end, layout.begin[1] + y.begin,
                          layout.begin[1] + y.end, layout.begin[2] + x.begin, layout.begin[2] + x.end});
      }
    }
  }
  return blocks;
}

template <class T>
class InPlace final : public HostVariant<T> {
 public:
  InPlace(const Layout& layout, std::shared_ptr<const VectorProgram<T>> program, const TimeLevels& levels,
          const RowKernel<T>& kernel, const InPlaceLoops& loops)
      : HostVariant<T>(layout),
        program_(std::move(program)),
        pairs_(levels.pairs),
        single_(layout, kernel,
                {.threads = loops.threads, .pieces = layout.schedule == Schedule::dynamic ? kPieces : 0}),
        blocks_(blocks_of(layout, loops)),
        rows_(loops.rows),
        fetch_(loops.fetch),
        star_(loops.star),
        threads_(loops.threads) {
    for (const auto& row : program_->rows()) {
      const auto same = std::find_if(newest_.begin(), newest_.end(), [&](const auto& other) {
        return other.coefficient == row.coefficient && other.field == row.field;
      });
      if (same == newest_.end()) {
        newest_.push_back(row);
      } else if (std::pair(row.dz, row.dy) > std::pair(same->dz, same->dy)) {
        *same = row;
      }
    }
    other_.resize(layout.fields);
    for (const auto& [newer, older] : pairs_) {
      other_[newer] = older;
      other_[older] = newer;
    }
  }

  // After two steps every field is back in its place; a single step leaves the previous level as it was.
  void steps(Levels<T>& levels, std::size_t count) const override {
    if (count >= 2) {
      borders_to_older(levels, levels.current(), true);
      for (std::size_t step = 0; step < count / 2 * 2; ++step) this->step(levels, step % 2 == 1);
      borders_to_older(levels, levels.next(), false);
    }
    if (count % 2 == 1) single_.steps(levels, 1);
  }
  std::size_t depth() const override { return 2; }

  bool single(Levels<T>& levels, bool opened, bool exchanged, const RowsDone& done) const override {
    if (!opened) borders_to_older(levels, levels.current(), true);
    step(levels, exchanged, done);
    return !exchanged;
  }
  void exchange(Levels<T>& levels) const override {
    const Layout& layout = this->layout();
    base::parallel(threads_, [&](std::size_t thread, std::size_t threads) {
      const base::Share share = rows_of(layout, thread, threads);
      for (const auto& [newer, older] : pairs_) {
        for (std::size_t r = share.begin; r < share.end; ++r) {
          const std::size_t z = r / layout.shape[1], y = r % layout.shape[1];
          T *const one = levels.row(levels.current(), newer, z, y), *const two =
                                                                        levels.row(levels.current(), older, z, y);
          std::swap_ranges(one, one + layout.shape[2], two);
          levels.close_row(one);
          levels.close_row(two);
        }
      }
    });
  }

 private:
  void step(Levels<T>& levels, bool odd, const RowsDone& done = {}) const {
    Shares shares(this->layout().schedule, blocks_.size(), threads_);
    const bool split = blocks_.front().x_end < this->layout().end[2];
    base::parallel(threads_, [&](std::size_t thread, std::size_t) {
      std::vector<const T*> in(program_->rows().size() * kBlockRows);
      std::vector<T*> out(program_->outputs() * kBlockRows);
      std::vector<const T*> ahead;
      ahead.reserve(in.size());
      shares.take(thread, [&](const base::Share& share) {
        for (std::size_t i = share.begin; i < share.end; ++i) {
          block(levels, blocks_[i], odd, split, split ? RowsDone{} : done, in, out, ahead);
        }
      });
    });
    if (split) {
      for (std::size_t z = this->layout().begin[0]; z < this->layout().end[0]; ++z) {
        for (std::size_t y = this->layout().begin[1]; y < this->layout().end[1]; ++y) {
          for (std::size_t i = 0; i < program_->outputs(); ++i)
            levels.close_row(levels.row(levels.current(), target(i, odd), z, y));
        }
      }
      if (done) this->done_with_all(done, !odd);
    }
  }

  std::size_t place(std::size_t field, bool odd) const { return odd ? other_[field] : field; }
  std::size_t target(std::size_t output, bool odd) const { return place(other_[program_->field(output)], odd); }

  // Several rows along the slowest axis at once, so that common inputs are loaded once.
  void block(Levels<T>& levels, const InPlaceBlock& block, bool odd, bool split, const RowsDone& done,
             std::vector<const T*>& in, std::vector<T*>& out, std::vector<const T*>& ahead) const {
    constexpr std::size_t kDoneRows = 32;  // that stay in the second-level cache
    const bool planes = this->layout().dimensions == 3;
    for (std::size_t z = block.z; z < block.z_end;) {
      const std::size_t deep = planes && z + rows_ <= block.z_end ? rows_ : 1;
      std::size_t reported = block.y;  // rows before it were passed to `done`
      const auto finish = [&](std::size_t y) {
        if (!done || (y - reported < kDoneRows && y < block.y_end)) return;
        done(!odd, z, z + deep, reported, y);
        reported = y;
      };
      for (std::size_t y = block.y; y < block.y_end;) {
        const std::size_t high = !planes && y + rows_ <= block.y_end ? rows_ : 1;
        if (star_) {
          star(levels, block, z, y, deep, high, odd, split);
          finish(y += high);
          continue;
        }
        gather(levels, z, y, deep, high, odd, in, out);
        ahead.clear();
        if (fetch_ && y + 2 * high <= block.y_end) newest(levels, z, y + high, deep, high, odd, ahead);
        if (deep * high > 1) {
          program_->run_block(in.data(), out.data(), block.x, block.x_end, ahead);
        } else {
          program_->run(in.data(), out.data(), block.x, block.x_end, ahead);
        }
        for (std::size_t i = 0; !split && i < program_->outputs() * deep * high; ++i) levels.close_row(out[i]);
        finish(y += high);
      }
      z += deep;
    }
  }

  // Rows by the star kernel: several at once where their inputs are equally spaced in memory, which is not the case
  // across a border.
  void star(Levels<T>& levels, const InPlaceBlock& block, std::size_t z, std::size_t y, std::size_t deep,
            std::size_t high, bool odd, bool split) const {
    const auto& wave = *program_->wave();
    const Layout& layout = this->layout();
    const VectorKernels<T>& kernels = vector_kernels<T>();
    const std::size_t field = place(wave.field, odd), older = place(wave.older, odd);
    const bool planes = layout.dimensions == 3;
    const auto pitch = static_cast<std::ptrdiff_t>(levels.frame().pitch);
    const auto plane = planes ? pitch * static_cast<std::ptrdiff_t>(levels.frame().lines) : pitch;
    const auto reach = static_cast<std::ptrdiff_t>(wave.star.radius);
    const auto rows_at = [&](std::size_t deeper, std::size_t higher) {
      StarRows<T> rows{.plane = plane, .pitch = pitch};
      rows.in = levels.row(levels.current(), field, deeper, higher);
      rows.out = levels.row(levels.current(), older, deeper, higher);
      for (std::size_t i = 0; i < wave.star.media; ++i)
        rows.media[i] = levels.row(levels.coefficients(), wave.media[i], deeper, higher);
      return rows;
    };
    StarRows<T> rows = rows_at(z, y);
    if (fetch_ && y + 2 * high <= block.y_end && follows(z, y + high, deep, high)) {
      const StarRows<T> next = rows_at(z, y + high);
      rows.ahead[0] = next.in + reach * plane;
      rows.ahead[1] = next.out;
      std::copy(std::begin(next.media), std::end(next.media), rows.ahead + 2);
    }
    if (deep * high == kBlockRows && follows(z, y, deep, high)) {
      kernels.star_block(wave.star, rows, block.x, block.x_end);
    } else {
      const T *across[2 * kMostRadius + 1], *beside[2 * kMostRadius + 1];
      rows.across = across;
      rows.beside = beside;
      for (std::size_t r = 0; r < deep * high; ++r) {
        const std::size_t at_z = z + (deep > 1 ? r : 0), at_y = y + (high > 1 ? r : 0);
        for (std::ptrdiff_t k = -reach; k <= reach; ++k) {
          const std::size_t far_z = layout.source(0, static_cast<std::ptrdiff_t>(at_z) + (planes ? k : 0));
          const std::size_t far_y = layout.source(1, static_cast<std::ptrdiff_t>(at_y) + k);
          across[k + reach] = levels.row(levels.current(), field, far_z, planes ? at_y : far_y);
          beside[k + reach] = levels.row(levels.current(), field, at_z, far_y);
        }
        kernels.star_row(wave.star, rows, block.x, block.x_end);
        rows.out += plane;
        for (std::size_t i = 0; i < wave.star.media; ++i) rows.media[i] += plane;
        for (const T*& next : rows.ahead) next = next == nullptr ? nullptr : next + plane;
      }
    }
    for (std::size_t r = 0; !split && r < deep * high; ++r)
      levels.close_row(levels.row(levels.current(), older, z + (deep > 1 ? r : 0), y + (high > 1 ? r : 0)));
  }

  // True if no row that those rows read lies across a border.
  bool follows(std::size_t z, std::size_t y, std::size_t deep, std::size_t high) const {
    const Layout& layout = this->layout();
    const auto inside = [&](std::size_t axis, std::size_t at, std::size_t count) {
      const auto reach = static_cast<std::size_t>(layout.radius[axis]);
      return at >= reach && at + count + reach <= layout.shape[axis];
    };
    return inside(0, z, deep) && inside(1, y, high);
  }

  // The rows that those rows are the first to read: each field's farthest rows along the slowest axis.
  void newest(Levels<T>& levels, std::size_t z, std::size_t y, std::size_t deep, std::size_t high, bool odd,
              std::vector<const T*>& ahead) const {
    const Layout& layout = this->layout();
    for (const auto& read : newest_) {
      const T* const level = read.coefficient ? levels.coefficients() : levels.current();
      const std::size_t field = read.coefficient ? read.field : place(read.field, odd);
      for (std::size_t r = 0; r < deep * high; ++r) {
        ahead.push_back(levels.row(level, field,
                                   layout.source(0, static_cast<std::ptrdiff_t>(z + (deep > 1 ? r : 0)) + read.dz),
                                   layout.source(1, static_cast<std::ptrdiff_t>(y + (high > 1 ? r : 0)) + read.dy)));
      }
    }
  }

  // Pointers to the rows that `deep` x `high` rows from (z, y) on read, and to the rows they write.
  void gather(Levels<T>& levels, std::size_t z, std::size_t y, std::size_t deep, std::size_t high, bool odd,
              std::vector<const T*>& in, std::vector<T*>& out) const {
    const Layout& layout = this->layout();
    const std::size_t rows = deep * high;
    const auto& reads = program_->rows();
    const bool plain = follows(z, y, deep, high);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const T* const level = reads[i].coefficient ? levels.coefficients() : levels.current();
      const std::size_t field = reads[i].coefficient ? reads[i].field : place(reads[i].field, odd);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(z + (deep > 1 ? r : 0)) + reads[i].dz;
        const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(y + (high > 1 ? r : 0)) + reads[i].dy;
        in[i * rows + r] =
            plain ? levels.row(level, field, static_cast<std::size_t>(plane), static_cast<std::size_t>(line))
                  : levels.row(level, field, layout.source(0, plane), layout.source(1, line));
      }
    }
    for (std::size_t i = 0; i < program_->outputs(); ++i) {
      for (std::size_t r = 0; r < rows; ++r) {
        out[i * rows + r] =
            levels.row(levels.current(), target(i, odd), z + (deep > 1 ? r : 0), y + (high > 1 ? r : 0));
      }
    }
  }

  // Copies fixed border cells to the older levels: those of the newer level while the levels are swapped, so that cells
  // next to them read the right values, and afterwards their own again, from the other level.
  void borders_to_older(Levels<T>& levels, const T* from, bool of_newer) const {
    const Layout& layout = this->layout();
    if (layout.changing() == layout.cells()) return;
    base::parallel(threads_, [&](std::size_t thread, std::size_t threads) {
      const base::Share share = rows_of(layout, thread, threads);
      for (const auto& [newer, older] : pairs_) {
        for (std::size_t r = share.begin; r < share.end; ++r) {
          const std::size_t z = r / layout.shape[1], y = r % layout.shape[1];
          const T* const source = levels.row(from, of_newer ? newer : older, z, y);
          T* const to = levels.row(levels.current(), older, z, y);
          const bool changes = z >= layout.begin[0] && z < layout.end[0] && y >= layout.begin[1] && y < layout.end[1];
          std::copy(source, source + (changes ? layout.begin[2] : layout.shape[2]), to);
          if (changes) std::copy(source + layout.end[2], source + layout.shape[2], to + layout.end[2]);
          levels.close_row(to);
        }
      }
    });
  }

  std::shared_ptr<const VectorProgram<T>> program_;
  std::vector<TimeLevels::Pair> pairs_;
  RowVariant<T> single_;
  std::vector<InPlaceBlock> blocks_;
  std::size_t rows_;
  bool fetch_, star_;
  std::size_t threads_;
  std::vector<typename VectorProgram<T>::Row>
      newest_{};                    // one per field or coefficient, the farthest along the slowest axis
  std::vector<std::size_t> other_;  // the field with which a field swaps roles
};

// Rows per block such that the planes it reads take this share of the second-level cache.
std::size_t block_height(const Layout& layout, double share) {
  const auto caches = machine::host_caches();
  const machine::Cache& cache = caches[std::min<std::size_t>(1, caches.size() - 1)];
  const double planes = 2.0 * layout.radius[0] + 3 + kBlockRows;
  const double rows =
      share * static_cast<double>(cache.size) / (planes * static_cast<double>(layout.shape[2] * layout.element_bytes));
  return static_cast<std::size_t>(std::max(4.0, rows - 2.0 * layout.radius[1]));
}

}  // namespace

template <class T>
void list_host_in_place(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  if constexpr (std::is_floating_point_v<T>) {
    const Tape tape = flatten(update.outputs);
    const TimeLevels levels = time_levels(tape);
    if (levels.pairs.empty()) return;
    const bool fused = is_smooth(tape);
    const auto program = levels.refusal.empty() ? std::make_shared<const VectorProgram<T>>(
                                                      tape, levels.is_older, fused, layout.dimensions == 3 ? 0 : 1)
                                                : nullptr;
    std::vector<InPlaceLoops> ways{{.rows = 1}, {.rows = kBlockRows}};
    if (layout.dimensions == 3) {
      ways.clear();
      for (const std::size_t height : {block_height(layout, 0.6), block_height(layout, 1.2), std::size_t{0}}) {
        ways.push_back({.height = height, .rows = 1});
        ways.push_back({.height = height, .rows = kBlockRows});
      }
    }
    // Software prefetches only disturb Arm's hardware prefetchers.
    if (kStreamingStores) {
      for (std::size_t i = 0; i < 2; ++i) {
        ways.push_back(ways[i]);
        ways.back().fetch = true;
      }
    }
    // Star kernels first; their rows use less of the second-level cache than others (measured).
    if (program && program->wave() && layout.dimensions > 1 && vector_kernels<T>().star_block != nullptr) {
      const auto height = [&](double share) { return layout.dimensions == 3 ? block_height(layout, share) : 0; };
      const auto first = {InPlaceLoops{.height = height(0.4), .rows = kBlockRows, .fetch = true, .star = true},
                          InPlaceLoops{.height = height(0.6), .rows = kBlockRows, .fetch = true, .star = true},
                          InPlaceLoops{.height = height(0.6), .rows = kBlockRows, .star = true}};
      ways.insert(ways.begin(), first.begin() + (layout.dimensions == 3 ? 0 : 1), first.end());
    }
    for (const std::size_t threads : thread_counts(layout)) {
      for (InPlaceLoops loops : ways) {
        loops.threads = threads;
        Entry<T> entry;
        planner::Candidate& candidate = entry.candidate;
        candidate.variant = "in_place";
        if (loops.star) candidate.parameters.emplace_back("kernel", "star");
        if (loops.height > 0) candidate.parameters.emplace_back("height", std::to_string(loops.height));
        if (loops.rows > 1) candidate.parameters.emplace_back("rows", std::to_string(loops.rows));
        if (loops.fetch) candidate.parameters.emplace_back("fetch", "within");
        add_schedule(candidate, layout);
        candidate.parameters.emplace_back("threads", std::to_string(threads));
        candidate.refusal = levels.refusal;
        candidate.cost = step_cost(update, layout, 1.5, 0.6);
        candidate.cost.threads = threads;
        entry.exact = false;
        entry.build = [layout, program, levels, kernel = row_kernels(update).back().kernel,
                       loops]() -> std::shared_ptr<const Variant<T>> {
          return std::make_shared<InPlace<T>>(layout, program, levels, kernel, loops);
        };
        entry.sample = [cells = static_cast<double>(layout.cells()), program, levels,
                        kernel = row_kernels(update).back().kernel, loops](const Layout& part) -> Sample<T> {
          return {std::make_shared<InPlace<T>>(part, program, levels, kernel, loops),
                  cells / static_cast<double>(part.cells())};
        };
        // With long rows all shares of the cache give the same smallest block.
        const auto same = [&](const Entry<T>& other) { return other.candidate.name() == candidate.name(); };
        if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(std::move(entry));
      }
    }
  }
}

extern const Listers kHostInPlace{list_host_in_place<float>, list_host_in_place<double>,
                                  list_host_in_place<std::int32_t>, list_host_in_place<std::uint8_t>};

}  // namespace ridge::stencil
