// Fuzz target: chains of image operators.
#include "support.hpp"

#include <ridge/image/operators.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const auto chain = image::parse_chain(std::string(fuzz::text_of(data, size)));
    std::string text;
    for (const image::Operation& one : chain) text += (text.empty() ? "" : " | ") + image::to_string(one);
    image::OperatorProblem problem{.input = {.rows = 30, .columns = 40, .channels = 3},
                                   .chain = image::parse_chain(text)};
    if (problem.chain.size() != chain.size()) std::abort();
    image::output_shape(problem);
  });
}
