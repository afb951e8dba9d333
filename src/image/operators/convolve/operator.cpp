// Operator convolve: correlation with any window of weights, separable where its rank is small.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/convolve/terms.hpp"
#include "image/operators/definition.hpp"

namespace ridge::image {

AddRows<Convolve> convolve_rows;  // host.cpp

namespace {

Shape check_kernel(const Convolve& o, const Shape& in) {
  if (o.rows == 0 || o.columns == 0 || o.rows > 255 || o.columns > 255) {
    throw refusal(
        o, fmt::format("needs a kernel of 1 to 255 rows and columns, got {} rows and {} columns", o.rows, o.columns));
  }
  if (o.kernel.size() != o.rows * o.columns) {
    throw refusal(o, fmt::format("{} rows and {} columns need {} weights, got {}", o.rows, o.columns,
                                 o.rows * o.columns, o.kernel.size()));
  }
  for (const float weight : o.kernel) {
    if (!std::isfinite(weight)) throw refusal(o, fmt::format("needs finite weights, got {:g}", weight));
  }
  return in;
}

Window kernel_window(const Convolve& o) {
  const double sides = static_cast<double>(o.rows + o.columns), all = static_cast<double>(o.rows * o.columns);
  const std::size_t terms = cheap_separable_terms(o).size();
  return {.rows = o.rows,
          .columns = o.columns,
          .weights = {o.kernel.begin(), o.kernel.end()},
          .direct_flops = 2 * (terms == 0 ? all : sides * static_cast<double>(terms))};
}

std::optional<Product> kernel_product(const Convolve& o, Depth) {
  const auto terms = separable_terms(o, 1);
  if (terms.empty()) return {};
  return Product{terms[0].down, terms[0].across};
}

bool convolve_tile(const Convolve& o, on_device::StageList& stages) {
  if (const auto product = kernel_product(o, stages.in().depth)) return stages.add_product(*product);
  on_device::TileStage made = stages.window(o.rows, o.columns, on_device::write_window);
  made.weights.assign(o.kernel.begin(), o.kernel.end());
  return stages.add(std::move(made));
}

std::string example_of(std::size_t side, double (*weight)(int y, int x)) {
  std::vector<double> weights;
  for (int y = 0; y < static_cast<int>(side); ++y) {
    for (int x = 0; x < static_cast<int>(side); ++x) weights.push_back(weight(y, x));
  }
  return fmt::format("convolve {0}x{0} {1}", side, fmt::join(weights, ","));
}

}  // namespace

template <>
const Definition<Convolve>& definition<Convolve>() {
  using Kind = OperatorParameter::Kind;
  static const Definition<Convolve> convolve{
      .info = OperatorInfo{.name = "convolve",
                           .syntax = "convolve ROWSxCOLUMNS w,w,...",
                           .help = "correlation with a window of weights",
                           .parameters = {{.name = "ROWSxCOLUMNS", .help = "1 to 255 each", .kind = Kind::text},
                                          {.name = "w,w,...", .help = "weights, row by row", .kind = Kind::text}},
                           // The second one is a defocused lens: a disc.
                           .examples = {example_of(7, [](int y, int x) { return 0.02 + 0.0001 * (7 * y + x); }),
                                        example_of(31,
                                                   [](int y, int x) {
                                                     const int down = y - 15, across = x - 15;
                                                     return across * across + down * down <= 231 ? 0.0014 : 0.0;
                                                   })}},
      .parse =
          [](Words& words) {
            const std::string size = words.next("the size");
            Convolve o;
            if (!read_size(size, o.rows, o.columns))
              words.refuse("size \"" + size + "\" is not ROWSxCOLUMNS with both above 0");
            o.kernel = words.numbers("the kernel");
            return o;
          },
      .print =
          [](const Convolve& o) {
            return fmt::format("convolve {}x{} {}", o.rows, o.columns, fmt::join(o.kernel, ","));
          },
      .shape = check_kernel,
      .reference =
          [](const Convolve& o, const Reference& call) {
            return call.window(o.rows, o.columns, {o.kernel.begin(), o.kernel.end()});
          },
      .product = kernel_product,
      .window = [](const Convolve& o, Depth) { return std::optional(kernel_window(o)); },
      .rows = convolve_rows,
      .tile = convolve_tile};
  return convolve;
}

}  // namespace ridge::image
