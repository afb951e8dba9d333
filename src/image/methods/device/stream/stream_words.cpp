// Variant `stream words`: separable filters of 8-bit and 16-bit images; each work-item loads several words of a row.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr int kWordItems = 128;

struct WordsDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Product product = {};
  int rows_each = 8, vec4s = 2, left = 0, right = 0;
  int written() const { return kWordItems - (left + vec4s - 1) / vec4s - (right + vec4s - 1) / vec4s; }
  std::size_t local_bytes() const { return static_cast<std::size_t>(rows_each * vec4s) * kWordItems * 16; }
};

KernelSource words_source(const WordsDesign& design) {
  KernelSource source = vec4_source("image_stream_words", design.shape, design.border, design.constant);
  source.text += float_table("down_weights", design.product.down) +
                 float_table("across_weights", design.product.across) +
                 detail::kernel_text("image/operator_stream_words");
  const auto down = static_cast<int>(design.product.down.size());
  for (const auto& [name, value] :
       {std::pair{"DOWN", down}, std::pair{"ACROSS", static_cast<int>(design.product.across.size())},
        std::pair{"ROWS_EACH", design.rows_each}, std::pair{"VEC4S", design.vec4s}, std::pair{"LEFT", design.left},
        std::pair{"RIGHT", design.right}, std::pair{"BATCH", std::min(design.rows_each + down - 1, 6)}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  if (never_beyond(design.product)) source.defines.emplace_back("NEVER_BEYOND", "1");
  return source;
}

class WordsStep final : public Step {
 public:
  WordsStep(const Device& device, const WordsDesign& design)
      : kernel_(device.compile(words_source(design)).kernel("stream")),
        bytes_(4 * static_cast<std::size_t>(design.vec4s) * bytes_of(design.shape.depth)) {
    const std::size_t each = static_cast<std::size_t>(design.written() * 4 * design.vec4s);
    launch_ = {.groups = {groups_for(design.shape.columns * design.shape.channels, each),
                          groups_for(design.shape.rows, static_cast<std::size_t>(design.rows_each))},
               .items = {kWordItems}};
  }
  void enqueue(Queue& queue, const Image& in, const Image&, const Image& out) const override {
    const auto aligned = [&](const Image& image) {
      return image.offset() % bytes_ == 0 && image.pitch() % bytes_ == 0 ? 1 : 0;
    };
    std::vector<Argument> arguments = arguments_of(in);
    for (const Argument& each : arguments_of(out)) arguments.push_back(each);
    for (const int value : {static_cast<int>(in.rows()), static_cast<int>(in.columns()), aligned(in), aligned(out)})
      arguments.emplace_back(value);
    queue.launch(kernel_, launch_, arguments);
  }

 private:
  Kernel kernel_;
  Launch launch_;
  std::size_t bytes_;
};

}  // namespace

void list_stream_words(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  Product product;
  if (link.in.depth == Depth::f32 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), link.in.depth, product) || product.step != 1)
    return;
  if (!border_fits(chain, link.in.depth)) return;
  const std::size_t down = product.down.size(), across = product.across.size();
  const auto blocks = [&](std::size_t taps) { return static_cast<int>((taps * link.in.channels + 3) / 4); };
  WordsDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant, .product = product};
  design.left = blocks(across / 2);
  design.right = blocks(across - 1 - across / 2);
  const double values = values_of(link.in);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  struct Size {
    int rows, vec4s;
  };
  for (const Size size : {Size{8, 2}, Size{16, 1}, Size{8, 1}, Size{4, 2}}) {
    design.rows_each = size.rows;
    design.vec4s = size.vec4s;
    StepPlan plan{.name = "stream words",
                  .parameters = {{"rows", std::to_string(size.rows)}, {"values", std::to_string(4 * size.vec4s)}}};
    if (down > 33 || design.left > 16 || design.right > 16) {
      plan.refusal =
          fmt::format("needs a window of at most 33 rows and 64 channels on either side, got {} rows and {} channels",
                      down, across / 2 * link.in.channels);
    } else if (device.limits().local_memory < design.local_bytes()) {
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}", design.local_bytes() / 1024,
                                 device.limits().local_memory / 1024);
    }
    const double again = 1 + (static_cast<double>(down) - 1) / size.rows;
    plan.cost = {.flops = 2 * values * static_cast<double>(down + across),
                 .bytes = bytes / 2 * (1 + 0.15 * (again - 1)) + bytes / 2,
                 .launches = 1,
                 .efficiency = size.vec4s == 1 && down + across <= 20 ? 0.85 : 0.7};
    plan.kernels = [design] { return std::vector<KernelSource>{words_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const WordsStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
