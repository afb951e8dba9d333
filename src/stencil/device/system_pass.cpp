// Launches of a march and its frame.
#include "stencil/device/system_pass.hpp"

#include <algorithm>

namespace ridge::stencil {
namespace {

void enqueue_step(Queue& queue, const LaunchPass::Step& step, const Buffer& in, const Buffer& out,
                  const Buffer& coefficients, const std::optional<ridge::detail::TileMapShape>& tiles = {}) {
  std::vector<Argument> arguments{in, out};
  if (step.coefficients) arguments.emplace_back(coefficients);
  arguments.insert(arguments.end(), step.scalars.begin(), step.scalars.end());
  if (tiles) {
    const ridge::detail::TileMap map = ridge::detail::tile_map(in, *tiles);
    arguments.emplace_back(map.first);
    arguments.emplace_back(map.rest);
  }
  queue.launch(step.kernel, step.launch, arguments);
}

// Up to depth 2, one launch per step takes no longer than one launch that first loads tiles into local memory.
bool takes_tiles(const Device& device, const FrameTiles& tiles) {
  return tiles.depth > 2 && tiles.refusal(device.limits()).empty();
}

}  // namespace

bool needs_frame(const Layout& layout, std::size_t depth) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (layout.radius[axis] == 0) continue;
    if (depth > 1 || layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed) return true;
  }
  return false;
}

KernelSource frame_source(const Device& device, const FrameKernel& frame, std::size_t depth) {
  const FrameTiles tiles{.text = frame.text, .place = frame.place, .depth = depth};
  return takes_tiles(device, tiles) ? tiles.source() : frame.source();
}

FramedPass::FramedPass(const Device& device, const FrameKernel& frame, std::size_t depth, bool framed,
                       MarchStep interior)
    : frame_(frame), depth_(depth), interior_(std::move(interior)) {
  if (!framed) return;
  const FrameTiles tiles{.text = frame.text, .place = frame.place, .depth = depth};
  if (takes_tiles(device, tiles)) {
    tiles_ =
        LaunchPass::Step{device.compile(tiles.source()).kernel("update_frame_tiles"), tiles.launch(), tiles.scalars()};
  } else {
    kernel_ = device.compile(frame.source()).kernel("update_frame");
  }
}

std::size_t FramedPass::scratch() const { return kernel_ ? std::min<std::size_t>(2, depth_ - 1) : 0; }

void FramedPass::enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients) const {
  enqueue(queue, in, out, coefficients, {});
}

void FramedPass::enqueue(Queue& queue, const Buffer& in, const Buffer& out, const Buffer& coefficients,
                         const std::vector<Buffer>& scratch) const {
  if (tiles_) enqueue_step(queue, *tiles_, in, out, coefficients);
  for (std::size_t step = 0; kernel_ && step < depth_; ++step) {
    const LaunchPass::Step one{*kernel_, frame_.launch(step, depth_), frame_.scalars(step, depth_),
                               frame_.text.layout.coefficients > 0};
    enqueue_step(queue, one, step == 0 ? in : scratch[(step - 1) % 2], step + 1 == depth_ ? out : scratch[step % 2],
                 coefficients);
  }
  enqueue_step(queue, interior_.step, in, out, coefficients, interior_.tiles);
}

InPlacePass::InPlacePass(const Device& device, const FrameKernel& frame, std::vector<TimeLevels::Pair> pairs,
                         std::vector<MarchStep> steps, MakeStep make)
    : frame_(frame),
      pairs_(std::move(pairs)),
      steps_(std::move(steps)),
      make_(std::move(make)),
      copy_(device.compile(frame.source()).kernel("copy_frame")) {}

void InPlacePass::open(Queue& queue, const Buffer& grid, const Buffer&) const {
  for (const auto& [newer, older] : pairs_) {
    enqueue_step(queue, {copy_, frame_.launch(0, 1), frame_.copy_scalars(newer, older)}, grid, grid, {});
  }
}

void InPlacePass::close(Queue& queue, const Buffer& grid, const Buffer& other) const {
  for (const auto& pair : pairs_) {
    enqueue_step(queue, {copy_, frame_.launch(0, 1), frame_.copy_scalars(pair.older, pair.older)}, other, grid, {});
  }
}

void InPlacePass::enqueue(Queue& queue, const Buffer& in, const Buffer&, const Buffer& coefficients) const {
  for (const auto& [step, tiles] : steps_) enqueue_step(queue, step, in, in, coefficients, tiles);
}

void InPlacePass::enqueue_single(Queue& queue, const Buffer& grid, const Buffer& coefficients, bool exchanged) const {
  const auto& [step, tiles] = steps_[exchanged ? 1 : 0];
  enqueue_step(queue, step, grid, grid, coefficients, tiles);
}

void InPlacePass::enqueue_level(Queue& queue, const Buffer& grid, const Buffer& coefficients, std::size_t newer,
                                std::size_t older, std::size_t target) const {
  const auto [step, tiles] = make_(newer, older, target);
  enqueue_step(queue, step, grid, grid, coefficients, tiles);
}

std::vector<std::pair<std::size_t, std::size_t>> InPlacePass::exchanges() const {
  std::vector<std::pair<std::size_t, std::size_t>> fields;
  for (const auto& [newer, older] : pairs_) fields.emplace_back(newer, older);
  return fields;
}

}  // namespace ridge::stencil
