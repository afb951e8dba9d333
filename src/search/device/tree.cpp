// The tree of tree_plan.hpp on a device: one launch per pass, from tables (tree.cl).
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/kernel_text.hpp"
#include "search/device/device_variant.hpp"
#include "search/tree_plan.hpp"

namespace ridge::search {
namespace {

struct TreeDesign {
  std::size_t radix = 8, times = 512, items = 512;
  std::size_t words = 0;  // of local memory
  std::size_t local_bytes() const { return 4 * words; }
};

// Tables of one pass. A fill loads one input row into local memory.
struct PassTables {
  std::vector<std::array<std::int32_t, 4>> groups{}, fills{};
  std::vector<std::int32_t> places{};
  std::vector<std::array<std::int32_t, 2>> counts{};  // per row: terms with an even shift, all terms
};

// Part of one input row that the rows of a work-group need.
struct Shifts {
  std::uint32_t least = 0, most = 0;
  std::size_t first() const { return least / 8 * 8; }
  // Terms with an odd shift read one sample more.
  std::size_t samples(std::size_t times) const { return (times + most + 1 - first() + 7) / 8 * 8; }
};
using Needs = std::map<std::uint32_t, Shifts>;

// `packed`: two samples per word.
std::size_t words_of(const Needs& needs, std::size_t times, bool packed) {
  std::size_t samples = 0;
  for (const auto& [row, shifts] : needs) samples += shifts.samples(times);
  return packed ? samples / 2 : samples;
}

void add_needs(const TreePass& pass, std::size_t row, Needs& needs) {
  for (std::uint32_t i = pass.first[row]; i < pass.first[row + 1]; ++i) {
    const auto [at, fresh] = needs.try_emplace(pass.source[i], Shifts{pass.shift[i], pass.shift[i]});
    if (fresh) continue;
    at->second = {std::min(at->second.least, pass.shift[i]), std::max(at->second.most, pass.shift[i])};
  }
}

// The terms of a row by the parity of their shifts, even ones first, and their positions in local memory.
void place_terms(const TreePass& pass, std::size_t row, std::size_t radix, bool packed,
                 const std::map<std::uint32_t, std::pair<std::size_t, std::size_t>>& fills, PassTables& tables) {
  std::int32_t number = 0;
  for (const std::uint32_t parity : {0U, 1U}) {
    for (std::uint32_t i = pass.first[row]; i < pass.first[row + 1]; ++i) {
      const auto& [to, first] = fills.at(pass.source[i]);
      const std::size_t sample = pass.shift[i] - first;
      if ((packed ? sample % 2 : 0) != parity) continue;
      tables.places[row * radix + static_cast<std::size_t>(number++)] =
          static_cast<std::int32_t>(to + (packed ? sample / 2 : sample));
    }
    tables.counts[row][parity] = number;
  }
}

// Rows in order, as many per group as fit the local memory.
PassTables make_tables(const TreePass& pass, const TreeDesign& design, bool packed) {
  constexpr std::size_t kMostRows = 128;
  PassTables tables;
  tables.places.assign(pass.rows() * design.radix, 0);
  tables.counts.resize(pass.rows());
  for (std::size_t begin = 0; begin < pass.rows();) {
    Needs needs;
    std::size_t end = begin;
    while (end < pass.rows() && end - begin < kMostRows) {
      Needs more = needs;
      add_needs(pass, end, more);
      if (end > begin && words_of(more, design.times, packed) > design.words) break;
      needs = std::move(more);
      ++end;
    }
    tables.groups.push_back({static_cast<std::int32_t>(tables.fills.size()), static_cast<std::int32_t>(needs.size()),
                             static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin)});
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> fills;  // per input row: position, first sample
    std::size_t to = 0;
    for (const auto& [row, shifts] : needs) {
      const std::size_t samples = shifts.samples(design.times);
      tables.fills.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(shifts.first()),
                              static_cast<std::int32_t>(samples), static_cast<std::int32_t>(to)});
      fills[row] = {to, shifts.first()};
      to += packed ? samples / 2 : samples;
    }
    for (std::size_t r = begin; r < end; ++r) place_terms(pass, r, design.radix, packed, fills, tables);
    begin = end;
  }
  return tables;
}

const char* element_of(std::size_t width, bool last) { return last ? "float" : width <= kMost16 ? "ushort" : "uint"; }

std::size_t bytes_of(std::string_view element) { return element == "uchar" ? 1 : element == "ushort" ? 2 : 4; }

// `pairs`: rows of the output have an even number of samples in memory.
KernelSource pass_source(const TreeDesign& design, const char* in, const char* out, bool aligned, bool pairs) {
  return {.name = fmt::format("search tree {} to {}", in, out),
          .text = ridge::detail::kernel_text("search/tree"),
          .defines = {{"RADIX", std::to_string(design.radix)},
                      {"TIMES", std::to_string(design.times)},
                      {"ITEMS_IN_GROUP", std::to_string(design.items)},
                      {"TILE_WORDS", std::to_string(design.words)},
                      {"ALIGNED", aligned ? "1" : "0"},
                      {"IN_BYTES", std::to_string(bytes_of(in))},
                      {"OUT_BYTES", std::to_string(bytes_of(out))},
                      {"OUT_PAIRS", pairs ? "1" : "0"},
                      {"OUT_PAIR", fmt::format("{}2", out)},
                      {"MAKE_PAIR", fmt::format("make_{}2", out)},
                      {"IN", in},
                      {"OUT", out}}};
}

std::vector<KernelSource> sources_of(const TreeDesign& design, const Tree& tree, const Layout& layout) {
  std::vector<KernelSource> sources;
  const char* in = "uchar";
  for (std::size_t p = 0; p < tree.passes.size(); ++p) {
    const bool last = p + 1 == tree.passes.size();
    const char* out = element_of(tree.passes[p].width, last);
    sources.push_back(pass_source(design, in, out, p > 0 || layout.row % 8 == 0, !last || layout.times % 2 == 0));
    in = out;
  }
  return sources;
}

template <class T>
Buffer uploaded(const Device& device, const std::vector<T>& values, const char* name) {
  Buffer buffer = device.buffer(std::max<std::size_t>(values.size(), 1) * sizeof(T), {.name = name});
  Queue queue = device.queue();
  queue.upload(std::span<const T>(values), buffer);
  queue.finish();
  return buffer;
}

// Pass p adds samples of 8 or 16 bits.
bool packed_input(const Tree& tree, std::size_t p) { return p == 0 || tree.passes[p - 1].width <= kMost16; }

class DeviceTree final : public DeviceVariant {
 public:
  DeviceTree(const Device& device, const Layout& layout, std::shared_ptr<const Tree> tree, const TreeDesign& design)
      : DeviceVariant(device, layout), device_(device), tree_(std::move(tree)), design_(design) {
    stride_ = (layout.row + 31) / 32 * 32;
    const std::vector<KernelSource> sources = sources_of(design, *tree_, layout);
    for (std::size_t p = 0; p < tree_->passes.size(); ++p) {
      const TreePass& pass = tree_->passes[p];
      const PassTables tables = make_tables(pass, design, packed_input(*tree_, p));
      steps_.push_back({.kernel = device.compile(sources[p]).kernel("tree_pass"),
                        .groups = uploaded(device, tables.groups, "search tree groups"),
                        .fills = uploaded(device, tables.fills, "search tree fills"),
                        .places = uploaded(device, tables.places, "search tree places"),
                        .counts = uploaded(device, tables.counts, "search tree counts"),
                        .lengths = uploaded(device, pass.length, "search tree lengths"),
                        .count = tables.groups.size(),
                        .longest = *std::max_element(pass.length.begin(), pass.length.end())});
    }
  }

  // Levels are kept in two buffers of the plan: concurrent runs on several queues would share them.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override {
    const std::lock_guard lock(mutex_);
    reserve();
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      const Step& step = steps_[p];
      const bool last = p + 1 == steps_.size();
      const Buffer& from = p == 0 ? in : levels_[(p - 1) % 2];
      const Buffer& to = last ? out : levels_[p % 2];
      const Launch launch{.groups = {step.count, (step.longest + design_.times - 1) / design_.times},
                          .items = {design_.items},
                          .local_bytes = design_.local_bytes()};
      queue.launch(step.kernel, launch,
                   {from, to, step.groups, step.fills, step.places, step.counts, step.lengths,
                    std::uint64_t{p == 0 ? layout_.row : stride_}, std::uint64_t{last ? layout_.times : stride_}});
    }
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return tree_->delays(trial, layout_.channels); }

 private:
  struct Step {
    Kernel kernel;
    Buffer groups, fills, places, counts, lengths;
    std::size_t count, longest;
  };
  void reserve() const {
    for (std::size_t p = 0; p + 1 < tree_->passes.size(); ++p) {
      const TreePass& pass = tree_->passes[p];
      const std::size_t bytes = pass.rows() * stride_ * (pass.width <= kMost16 ? 2 : 4);
      if (!levels_[p % 2] || levels_[p % 2].size() < bytes)
        levels_[p % 2] = device_.buffer(bytes, {.name = "search tree level"});
    }
  }

  Device device_;
  std::shared_ptr<const Tree> tree_;
  TreeDesign design_;
  std::size_t stride_ = 0;
  std::vector<Step> steps_;
  mutable std::mutex mutex_;
  mutable Buffer levels_[2];
};

// Words of local memory that the largest single row needs. `times + 16` bounds the samples of one term: its first
// sample is rounded down and its number of samples rounded up, both to a multiple of 8.
std::size_t least_words(const Tree& tree, std::size_t times) {
  std::size_t words = 0;
  for (std::size_t p = 0; p < tree.passes.size(); ++p) {
    const TreePass& pass = tree.passes[p];
    const std::size_t each = (times + 16) / (packed_input(tree, p) ? 2 : 1);
    for (std::size_t r = 0; r < pass.rows(); ++r)
      words = std::max<std::size_t>(words, each * (pass.first[r + 1] - pass.first[r]));
  }
  return words;
}

}  // namespace

void list_device_tree(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const Limits& limits = device.limits();
  for (const std::size_t radix : {16, 8, 4}) {
    const auto tree = std::make_shared<const Tree>(make_tree(layout, {radix}));
    TreeDesign design{.radix = radix, .items = std::min<std::size_t>(512, limits.work_group / 32 * 32)};
    const std::size_t most = std::min<std::size_t>(limits.local_memory, 110 * 1024) / 4;
    while (design.times > 64 && least_words(*tree, design.times) * 2 > most) design.times /= 2;
    design.words = most / 4 * 4;
    std::string refusal;
    if (design.items < 32) {
      refusal = fmt::format("needs work-groups of 32 work-items, the device has {}", limits.work_group);
    } else if (least_words(*tree, design.times) > design.words) {
      refusal = fmt::format("needs {} of local memory, the device has {}",
                            base::human_bytes(4.0 * static_cast<double>(least_words(*tree, design.times))),
                            base::human_bytes(4.0 * static_cast<double>(most)));
    }
    entries.push_back({.candidate = planner::Candidate{.variant = "tree",
                                                       .parameters = {{"radix", std::to_string(radix)},
                                                                      {"times", std::to_string(design.times)},
                                                                      {"items", std::to_string(design.items)}},
                                                       .refusal = refusal,
                                                       .cost = {.flops = tree->additions,
                                                                .bytes = 3 * tree->moved / static_cast<double>(radix),
                                                                .launches = static_cast<double>(tree->passes.size()),
                                                                .efficiency = 0.5}},
                       .kernels = [=] { return sources_of(design, *tree, layout); },
                       .build = [=] { return std::make_shared<DeviceTree>(device, layout, tree, design); }});
  }
}

}  // namespace ridge::search
