// Enqueues the stages of the flow on a device: pyramid, point selection, search, fill, filter.
#include "image/flow/device/pipeline.hpp"

#include <algorithm>
#include <span>

#include "image/flow/reference.hpp"
#include "image/flow/weights.hpp"

namespace ridge::image::on_device {
namespace {

using Level = FlowPipeline::Level;

int half(int n) { return (n + 1) / 2; }

// One work-item per pixel, in groups of 32 x 8.
Launch over(int rows, int columns, std::uint64_t planes, int pad = 0) {
  const auto groups = [pad](int n, int each) { return static_cast<std::uint64_t>((n + 2 * pad + each - 1) / each); };
  return {.groups = {groups(columns, 32), groups(rows, 8), planes}, .items = {32, 8}};
}

// Launch of the scan-order stages: one group per direction. Each row runs `lag` columns behind the row above; the lag
// is the largest block width.
const Launch kOneEachWay{.groups = {1, 1, 2}, .items = {256}};
int lag_of(std::size_t doublings, int columns) {
  return doublings < 15 ? std::min(1 << doublings, columns) : columns;  // a lag of a whole row: one row after another
}

// The lists' lengths are known on the device only. The launch has enough groups to fill the device, and each group
// loops over its part of the list.
Launch over_list(const Device& device, std::uint64_t most, std::uint64_t items) {
  const std::uint64_t groups = (most + items - 1) / items;
  const std::uint64_t filling = 64 * std::max<std::uint64_t>(device.limits().compute_units, 1);
  return {.groups = {std::clamp<std::uint64_t>(groups, 1, filling)}, .items = {items}};
}

std::uint64_t cell_bytes(const FlowDesign& design) { return design.smooth == Smooth::matrix ? 16 : 4; }

}  // namespace

std::vector<Level> FlowPipeline::levels_of(const FlowProblem& problem) {
  std::vector<Level> levels;
  int rows = static_cast<int>(problem.rows), columns = static_cast<int>(problem.columns), taps = 0;
  std::uint64_t words = 0;
  const int pad = pad_of(problem.parameters);
  for (int k = 0; k < problem.parameters.layers; ++k) {
    const int pitch = (columns + 2 * pad + 31) / 32 * 32;
    levels.push_back(
        {.rows = rows, .columns = columns, .pitch = pitch, .picture = words, .down = taps, .across = taps + 5 * rows});
    words += static_cast<std::uint64_t>(rows + 2 * pad) * static_cast<std::uint64_t>(pitch);
    if (k > 0) taps += 5 * (rows + columns);
    rows = half(rows);
    columns = half(columns);
  }
  return levels;
}

std::uint64_t FlowPipeline::pyramid_bytes(const FlowProblem& problem) {
  const Level last = levels_of(problem).back();
  return 4 * (last.picture + static_cast<std::uint64_t>(last.rows + 2 * pad_of(problem.parameters)) *
                                 static_cast<std::uint64_t>(last.pitch));
}

std::uint64_t FlowPipeline::largest_buffer(const FlowProblem& problem, const FlowDesign& design) {
  const Level finest = levels_of(problem).front();
  return std::max({pyramid_bytes(problem), 16 * finest.cells(), 2 * cell_bytes(design) * finest.cells()});
}

std::uint64_t FlowPipeline::workspace_bytes(const FlowProblem& problem, const FlowDesign& design) {
  const std::vector<Level> levels = levels_of(problem);
  const Level& finest = levels.front();
  std::uint64_t bytes = (16 + 2 * cell_bytes(design) + 2 + 2 + 8) * finest.cells();
  for (const Level& level : levels) bytes += 32 * level.cells() + 2 * level.half_cells();
  return bytes;
}

FlowPipeline::FlowPipeline(const Device& device, const FlowProblem& problem, const FlowDesign& design)
    : device_(device),
      problem_(problem),
      design_(design),
      between_(filter_between(problem.parameters)),
      last_(filter_at_the_end(problem.parameters)),
      levels_(levels_of(problem)) {
  const Program stages = device.compile(stages_source(problem.parameters, design));
  pack_ = stages.kernel("pack");
  halve_ = stages.kernel("halve");
  regular_ = stages.kernel("regular");
  grow_ = stages.kernel(scan_order() ? "grow_in_order" : "grow");
  if (scan_order()) {
    upscale_start_ = stages.kernel("upscale_start");
    fill_in_order_ = stages.kernel("fill_in_order");
  }
  choose_ = stages.kernel("choose");
  fill_ = stages.kernel("fill_and_mark");
  finish_ = stages.kernel("finish");
  const Program searches = device.compile(search_source(problem.parameters, design));
  search_single_ = searches.kernel("search_single");
  if (design.search == Search::blocks) search_block_ = searches.kernel("search_block");
  const bool unrolled = device.limits().private_arrays_in_registers;
  smooth_last_ = device.compile(smooth_source(last_, design, unrolled)).kernel("smooth");
  smooth_between_ = between_ == last_ || levels_.size() == 1
                        ? smooth_last_
                        : device.compile(smooth_source(between_, design, unrolled)).kernel("smooth");

  std::vector<std::int32_t> taps;
  for (std::size_t k = 1; k < levels_.size(); ++k) {
    for (const int from : {levels_[k - 1].rows, levels_[k - 1].columns}) {
      for (const flow::Tap& tap : flow::halving_taps(from)) {
        taps.push_back(tap.from);
        taps.insert(taps.end(), std::begin(tap.weight), std::end(tap.weight));
      }
    }
  }
  if (taps.empty()) taps.push_back(0);  // a buffer cannot be empty
  taps_ = device.buffer(taps.size() * 4, {.name = "flow taps"});
  Queue queue = device.queue();
  queue.upload(std::span<const std::int32_t>(taps), taps_);
  queue.finish();
}

Buffer FlowPipeline::pyramid() const { return device_.buffer(pyramid_bytes(problem_), {.name = "flow pyramid"}); }

FlowPipeline::Workspace FlowPipeline::workspace() const {
  const Level& finest = levels_.front();
  const auto take = [&](std::uint64_t bytes, const char* name) {
    return device_.buffer(static_cast<std::size_t>(bytes), {.name = name});
  };
  Workspace work;
  work.searched = take(16 * finest.cells(), "flow searched");
  work.cells = take(2 * cell_bytes(design_) * finest.cells(), "flow cells");
  work.regular = take(2 * finest.cells(), "flow regular");
  work.blocks = take(8 * finest.half_cells(), "flow blocks");
  work.singles = take(8 * finest.cells(), "flow singles");
  work.counts = take(8 * levels_.size(), "flow counts");
  Queue queue = device_.queue();
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const Level& level = levels_[k];
    work.flow.push_back(take(16 * level.cells(), "flow filled"));
    work.smoothed.push_back(take((k == 0 ? 8 : 16) * level.cells(), "flow smoothed"));
    work.level.push_back(take(2 * level.half_cells(), "flow block levels"));
  }
  // The coarsest level is searched at every pixel; scan order stores that in the upper four bits.
  queue.fill(work.level.back(), scan_order() ? std::byte{0xf0} : std::byte{0});
  queue.finish();
  return work;
}

void FlowPipeline::build(Queue& queue, const Image& frame, const Buffer& pyramid) const {
  const Level& finest = levels_.front();
  const int pad = pad_of(problem_.parameters);
  queue.launch(pack_, over(finest.rows, finest.columns, 1, pad),
               {frame.buffer(), std::uint64_t{frame.offset()}, std::uint64_t{frame.pitch()},
                static_cast<int>(problem_.channels), pyramid, finest.rows, finest.columns, finest.pitch});
  for (std::size_t k = 1; k < levels_.size(); ++k) {
    const Level &fine = levels_[k - 1], &level = levels_[k];
    queue.launch(halve_, over(level.rows, level.columns, 1, pad),
                 {pyramid, fine.picture, fine.rows, fine.columns, fine.pitch, level.picture, level.rows, level.columns,
                  level.pitch, taps_, level.down, level.across});
  }
}

void FlowPipeline::select(Queue& queue, std::size_t k, const Workspace& work) const {
  const Level& level = levels_[k];
  const int rows = half(level.rows), columns = half(level.columns);
  const bool first = top(k);
  if (!first) {
    queue.launch(regular_, over(rows, columns, 2),
                 {work.flow[k + 1], work.regular, rows, columns, problem_.parameters.speed_up_threshold});
    if (scan_order()) {
      queue.fill(work.level[k], std::byte{0});
      queue.launch(upscale_start_, over(level.rows, level.columns, 2),
                   {work.smoothed[k + 1], work.searched, level.rows, level.columns});
    }
    std::vector<Argument> arguments{work.regular, work.level[k + 1], work.level[k], rows,
                                    columns,      level.rows,        level.columns};
    if (scan_order()) arguments.emplace_back(lag_of(levels_.size() - 2 - k, columns));
    queue.launch(grow_, scan_order() ? kOneEachWay : over(rows, columns, 2), arguments);
  }
  // At the coarsest level the start is not read, but a buffer must be passed.
  queue.launch(choose_, over(rows, columns, 2),
               {work.level[k], work.smoothed[first ? k : k + 1], rows, columns, level.rows, level.columns, work.blocks,
                work.singles, work.counts, static_cast<int>(2 * k), first ? 1 : 0});
}

void FlowPipeline::search(Queue& queue, std::size_t k, const Buffer& first, const Buffer& second, const Workspace& work,
                          const StageMark& mark) const {
  const Level& level = levels_[k];
  const bool whole = top(k);
  const auto go = [&](const Kernel& kernel, std::uint64_t items, std::uint64_t most, const Buffer& list, int count) {
    queue.launch(
        kernel, over_list(device_, most, items),
        {first, second, level.picture, level.rows, level.columns, level.pitch, work.smoothed[whole ? k : k + 1],
         whole ? 1 : 0, list, work.counts, static_cast<int>(2 * k) + count, work.searched});
  };
  if (design_.search == Search::blocks) {
    go(search_block_, 64, 2 * level.half_cells(), work.blocks, 0);
    if (mark) mark("search blocks");
  }
  go(search_single_, design_.search == Search::plain ? 64 : 128, 2 * level.cells(), work.singles, 1);
  if (mark) mark("search singles");
}

void FlowPipeline::fill(Queue& queue, std::size_t k, const Buffer& first, const Buffer& second,
                        const Workspace& work) const {
  const Level& level = levels_[k];
  const std::size_t doublings = levels_.size() - 1 - k;
  if (scan_order() && doublings > 1) {  // blocks of 2 x 2 pixels consist of corners only
    queue.fill(work.regular, std::byte{0});
    queue.launch(
        fill_in_order_, kOneEachWay,
        {work.searched, work.level[k], work.regular, level.rows, level.columns, lag_of(doublings, level.columns)});
  }
  queue.launch(
      fill_, over(level.rows, level.columns, 1),
      {work.searched, work.level[k], first, second, level.picture, level.rows, level.columns, level.pitch, work.flow[k],
       work.cells, problem_.parameters.occlusion_threshold, flow::slope_of(filter(k).sigma_color)});
}

void FlowPipeline::smooth(Queue& queue, std::size_t k, const Workspace& work) const {
  const Level& level = levels_[k];
  const SmoothLaunch shape = smooth_launch(design_, filter(k));
  const auto groups = [](int n, int each) { return static_cast<std::uint64_t>((n + each - 1) / each); };
  const std::uint64_t directions = k == 0 ? 1 : 2;  // the last filter is needed for the forward direction only
  queue.launch(
      k == 0 ? smooth_last_ : smooth_between_,
      {.groups = {groups(level.columns, shape.pixels_across), groups(level.rows, shape.pixels_down), directions},
       .items = {shape.items_x, shape.items_y},
       .local_bytes = shape.local_bytes},
      {work.cells, work.flow[k], work.smoothed[k], level.rows, level.columns});
}

void FlowPipeline::flow(Queue& queue, const Buffer& first, const Buffer& second, const Workspace& work,
                        const Image& out, const StageMark& mark) const {
  const auto done = [&](const char* stage) {
    if (mark) mark(stage);
  };
  queue.fill(work.counts, std::byte{0});
  for (std::size_t k = levels_.size(); k-- > 0;) {
    select(queue, k, work);
    done("select");
    search(queue, k, first, second, work, mark);
    fill(queue, k, first, second, work);
    done("fill");
    smooth(queue, k, work);
    done("filter");
  }
  const Level& finest = levels_.front();
  queue.launch(finish_, over(finest.rows, finest.columns, 1),
               {work.smoothed[0], finest.rows, finest.columns, out.buffer(), std::uint64_t{out.offset() / 4},
                std::uint64_t{out.pitch() / 4}});
  done("finish");
}

}  // namespace ridge::image::on_device
