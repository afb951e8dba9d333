// Variant `fft`: convolution of image tiles by FFT; the forward transform multiplies by the kernel's spectrum when it
// stores.
#include "image/methods/spectral.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kMostPoints = std::size_t{1} << 25;  // per batch of tiles: 256 MB with the spectra

struct SpectralDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Window window = {};
  SpectralTile tile = {};
  std::size_t points() const { return tile.rows * tile.columns * shape.channels; }
  std::size_t together() const { return std::clamp<std::size_t>(kMostPoints / points(), 1, tile.count()); }
};

KernelSource spectral_source(const SpectralDesign& design) {
  KernelSource source = vec4_source("image_spectral", design.shape, design.border, design.constant);
  source.text += detail::kernel_text("image/operator_spectral");
  for (const auto& [name, value] :
       {std::pair{"TILE_ROWS", design.tile.rows}, std::pair{"TILE_COLUMNS", design.tile.columns},
        std::pair{"KEPT_ROWS", design.tile.kept_rows}, std::pair{"KEPT_COLUMNS", design.tile.kept_columns},
        std::pair{"WINDOW_ROWS", design.window.rows}, std::pair{"WINDOW_COLUMNS", design.window.columns},
        std::pair{"BEFORE_ROWS", design.window.rows / 2}, std::pair{"BEFORE_COLUMNS", design.window.columns / 2}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  return source;
}

fft::Plan<float> spectral_plan(const Device& device, const SpectralDesign& design) {
  fft::Problem problem{.shape = {design.tile.rows, design.tile.columns},
                       .batch = design.together() * design.shape.channels,
                       .kind = fft::Kind::real};
  problem.store_forward.multiply = spectral_factors(design.window, design.tile);
  return fft::plan<float>(device, problem, {.effort = Effort::quick});
}

class SpectralStep final : public Step {
 public:
  SpectralStep(const Device& device, const SpectralDesign& design)
      : tile_(design.tile),
        together_(design.together()),
        program_(device.compile(spectral_source(design))),
        cut_(program_.kernel("cut")),
        paste_(program_.kernel("paste")),
        transform_(spectral_plan(device, design)),
        planes_(device.buffer(transform_.input_size() * sizeof(float), {.name = "tiles"})),
        spectra_(device.buffer(transform_.output_size() * 2 * sizeof(float), {.name = "spectra of tiles"})) {}

  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto launch = [&](std::size_t rows, std::size_t columns, std::size_t planes) {
      return Launch{.groups = {groups_for(columns, 64), groups_for(rows, 4), planes}, .items = {64, 4}};
    };
    for (std::size_t first = 0; first < tile_.count(); first += together_) {
      const std::vector<Argument> sizes{static_cast<int>(in.rows()), static_cast<int>(in.columns()),
                                        static_cast<int>(tile_.across), static_cast<int>(first),
                                        static_cast<int>(tile_.count())};
      std::vector<Argument> cut = arguments_of(in), paste{planes_};
      cut.emplace_back(planes_);
      cut.insert(cut.end(), sizes.begin(), sizes.end());
      queue.launch(cut_, launch(tile_.rows, tile_.columns, together_ * in.channels()), cut);
      transform_.enqueue_forward(queue, planes_, spectra_);
      transform_.enqueue_inverse(queue, spectra_, planes_);
      for (const Argument& each : arguments_of(out)) paste.push_back(each);
      paste.insert(paste.end(), sizes.begin(), sizes.end());
      queue.launch(paste_, launch(tile_.kept_rows, tile_.kept_columns, together_), paste);
    }
  }
  bool has_memory() const override { return true; }

 private:
  SpectralTile tile_;
  std::size_t together_;
  Program program_;
  Kernel cut_, paste_;
  fft::Plan<float> transform_;
  Buffer planes_, spectra_;
};

}  // namespace

void list_spectral(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.operations.size() != 1) return;
  const auto window = window_of(link.operations.front(), link.in.depth);
  if (!window) return;
  const double values = values_of(link.in);
  for (const SpectralTile& tile : spectral_tiles(*window, link.in)) {
    const SpectralDesign design{link.in, chain.border, chain.constant, *window, tile};
    StepPlan plan{.name = "fft", .parameters = {{"tile", tile.text()}}, .refusal = tile.refusal};
    if (plan.refusal.empty() && device.limits().work_group < 256)
      plan.refusal =
          fmt::format("needs work-groups of 256 work-items, the device allows {}", device.limits().work_group);
    const std::size_t most = device.limits().allocation;
    if (plan.refusal.empty() && most != 0 && design.together() * design.points() * 5 > most)
      plan.refusal = fmt::format("needs about {} bytes for the spectra of its tiles, the device allocates at most {}",
                                 design.together() * design.points() * 5, most);
    // Input, output and four round trips to memory: tiles, spectra, and the intermediate spectra of rows.
    const double points = static_cast<double>(tile.count() * design.points());
    plan.cost = {.flops = values * tile.flops,
                 .bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes()) + 12 * 4 * points,
                 .launches = 6,
                 .efficiency = 0.6};
    plan.kernels = [design] { return std::vector<KernelSource>{spectral_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const SpectralStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
