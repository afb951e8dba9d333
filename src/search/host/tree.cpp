// The tree of tree_plan.hpp on the host. All passes but the last are made band by band and tile of times by tile, in
// scratch memory that stays in L2; only the rows of the widest bands are stored. The last pass reads them in
// runs of neighbouring trials, which share most of their sources.
#include <algorithm>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "search/host/sums.hpp"
#include "search/tree_plan.hpp"
#include "search/variant.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kTileTimes = 2048, kRun = 64;  // times, rows

std::size_t sum_bytes(Sum sum) { return sum == Sum::u8 ? 1 : sum == Sum::u16 ? 2 : 4; }

// Rows of sums; `first` is the number of the first row stored, `begin` the time of its first sample.
template <class Pointer>
struct SumRows {
  Pointer data;
  std::size_t stride;
  Sum type;
  std::size_t first = 0, begin = 0;
  Pointer at(std::size_t row, std::size_t time) const {
    return data + ((row - first) * stride + time - begin) * sum_bytes(type);
  }
};
using Source = SumRows<const std::byte*>;
using Target = SumRows<std::byte*>;

class HostTree final : public Variant {
 public:
  HostTree(const Layout& layout, std::shared_ptr<const Tree> tree)
      : layout_(layout), tree_(std::move(tree)), stride_((layout.row + 63) / 64 * 64 + 64) {
    for (const TreePass& pass : tree_->passes) {
      std::vector<std::uint32_t>& most = most_shift_.emplace_back();
      for (std::size_t b = 0; b + 1 < pass.bands.size(); ++b) {
        std::uint32_t shift = 0;
        for (std::uint32_t i = pass.first[pass.bands[b]]; i < pass.first[pass.bands[b + 1]]; ++i)
          shift = std::max(shift, pass.shift[i]);
        most.push_back(shift);
      }
    }
  }

  void run(const std::uint8_t* in, float* out) const override {
    const std::lock_guard lock(mutex_);
    const Source channels{reinterpret_cast<const std::byte*>(in), layout_.row, Sum::u8};
    const Target series{reinterpret_cast<std::byte*>(out), layout_.times, Sum::f32};
    const std::size_t passes = tree_->passes.size();
    if (passes == 1) return add_last(channels, series);
    const TreePass& widest = tree_->passes[passes - 2];
    const Target bands{reserve(widest), stride_, type_of(passes - 2)};
    const std::size_t count = widest.bands.size() - 1;
    const std::uint32_t longest = *std::max_element(widest.length.begin(), widest.length.end());
    const std::size_t tiles = (longest + kTileTimes - 1) / kTileTimes;
    scratch_.resize(layout_.threads);
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(count * tiles, thread, threads);
      std::vector<base::AlignedArray<std::byte>>& scratch = scratch_[thread];
      scratch.resize(passes);
      for (std::size_t job = mine.begin; job < mine.end; ++job)
        add_band(channels, bands, passes - 2, job / tiles, job % tiles * kTileTimes, kTileTimes, scratch);
    });
    add_last({bands.data, bands.stride, bands.type}, series);
  }
  void enqueue(Queue&, const Buffer& in, const Buffer& out) const override {
    run(reinterpret_cast<const std::uint8_t*>(in.native()), reinterpret_cast<float*>(out.native()));
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return tree_->delays(trial, layout_.channels); }

 private:
  Sum type_of(std::size_t pass) const {
    if (pass + 1 == tree_->passes.size()) return Sum::f32;
    return tree_->passes[pass].width <= kMost16 ? Sum::u16 : Sum::u32;
  }
  std::byte* reserve(const TreePass& pass) const {
    const std::size_t bytes = pass.rows() * stride_ * (pass.width <= kMost16 ? 2 : 4);
    if (stored_.size() < bytes) stored_ = base::AlignedArray<std::byte>(bytes);
    return stored_.data();
  }

  // Computes the rows of one band by passes 0 to `number`, for times [begin, begin + count).
  void add_band(const Source& channels, const Target& to, std::size_t number, std::size_t band, std::size_t begin,
                std::size_t count, std::vector<base::AlignedArray<std::byte>>& scratch) const {
    const TreePass& pass = tree_->passes[number];
    Source from = channels;
    if (number > 0) {
      const TreePass& below = tree_->passes[number - 1];
      const std::size_t first = band * pass.radix, end = std::min(first + pass.radix, below.bands.size() - 1);
      const std::size_t longer = count + most_shift_[number][band], stride = (longer + 31) / 32 * 32 + 32;
      const std::size_t bytes = (below.bands[end] - below.bands[first]) * stride * sum_bytes(type_of(number - 1));
      if (scratch[number].size() < bytes) scratch[number] = base::AlignedArray<std::byte>(bytes);
      const Target parts{scratch[number].data(), stride, type_of(number - 1), below.bands[first], begin};
      for (std::size_t part = first; part < end; ++part)
        add_band(channels, parts, number - 1, part, begin, longer, scratch);
      from = {parts.data, parts.stride, parts.type, parts.first, parts.begin};
    }
    const AddRows add = sum_kernels().add_rows(from.type, to.type);
    for (std::size_t r = pass.bands[band]; r < pass.bands[band + 1]; ++r) add_row(add, from, to, pass, r, begin, count);
  }

  void add_last(const Source& from, const Target& to) const {
    const TreePass& pass = tree_->passes.back();
    const AddRows add = sum_kernels().add_rows(from.type, to.type);
    const std::size_t runs = (pass.rows() + kRun - 1) / kRun, tiles = (layout_.times + kTileTimes - 1) / kTileTimes;
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(runs * tiles, thread, threads);
      for (std::size_t job = mine.begin; job < mine.end; ++job) {
        const std::size_t begin = job % runs * kRun, end = std::min(begin + kRun, pass.rows());
        for (std::size_t r = begin; r < end; ++r) add_row(add, from, to, pass, r, job / runs * kTileTimes, kTileTimes);
      }
    });
  }

  static void add_row(AddRows add, const Source& from, const Target& to, const TreePass& pass, std::size_t row,
                      std::size_t time, std::size_t count) {
    if (time >= pass.length[row]) return;
    constexpr std::size_t kMostTerms = 32;
    const void* terms[kMostTerms];
    const std::uint32_t first = pass.first[row], number = pass.first[row + 1] - first;
    for (std::uint32_t j = 0; j < number; ++j) terms[j] = from.at(pass.source[first + j], time + pass.shift[first + j]);
    add(terms, number, to.at(row, time), std::min<std::size_t>(count, pass.length[row] - time));
  }

  Layout layout_;
  std::shared_ptr<const Tree> tree_;
  std::size_t stride_;                                  // of the stored rows, in samples
  std::vector<std::vector<std::uint32_t>> most_shift_;  // per pass and band
  mutable std::mutex mutex_;
  mutable base::AlignedArray<std::byte> stored_;
  mutable std::vector<std::vector<base::AlignedArray<std::byte>>> scratch_;  // per thread and pass; new pages cost time
};

// Sums of up to 256 channels fit 16 bits: {4, 8, 8, 16} stores half as many bytes as {8, 8, 8, 8}.
const std::vector<std::vector<std::size_t>> kRadices{{8}, {4, 8, 8, 16}, {4}};

}  // namespace

void list_host_tree(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const std::vector<std::size_t>& radices : kRadices) {
    const auto tree = std::make_shared<const Tree>(make_tree(layout, radices));
    entries.push_back(
        {.candidate = planner::Candidate{.variant = "tree",
                                         .parameters = {{"radix", fmt::format("{}", fmt::join(radices, "x"))},
                                                        {"threads", std::to_string(layout.threads)}},
                                         .refusal = {},
                                         .cost = {.flops = tree->additions,
                                                  .bytes = 3 * tree->moved / static_cast<double>(radices.back()),
                                                  .launches = 2,
                                                  .efficiency = 0.5,
                                                  .float64 = false,
                                                  .threads = layout.threads}},
         .build = [layout, tree] { return std::make_shared<HostTree>(layout, tree); }});
  }
}

}  // namespace ridge::search
