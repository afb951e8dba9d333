#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <ridge/image.hpp>

using namespace ridge::image;

// Blurred noise, so that every part of the image has structure.
Image texture(std::size_t rows, std::size_t columns, const char* blur) {
  static std::mt19937 random(11);
  Image noise({.rows = rows, .columns = columns, .channels = 3}), out(noise.shape());
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < 3 * columns; ++x) noise.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(random());
  plan(ridge::host(), OperatorProblem{.input = noise.shape(), .chain = parse_chain(blur)},
       {.effort = ridge::Effort::quick})
      .run(noise, out);
  return out;
}

int main() {
  const Image background = texture(120, 160, "gauss 2"), ball = texture(40, 40, "gauss 1");
  Image first = background.clone(), second = background.clone();
  for (std::size_t y = 0; y < 40; ++y) {
    std::copy_n(ball.row<std::uint8_t>(y), 120, first.row<std::uint8_t>(40 + y) + 3 * 40);
    std::copy_n(ball.row<std::uint8_t>(y), 120, second.row<std::uint8_t>(42 + y) + 3 * 43);  // two down, three right
  }

  Image flow({.rows = 120, .columns = 160, .channels = 2, .depth = Depth::f32});
  plan(ridge::host(), FlowProblem{.rows = 120, .columns = 160}, {.effort = ridge::Effort::quick})
      .run(first, second, flow);
  const auto median = [&](std::size_t from, std::size_t to, std::size_t channel) {
    std::vector<float> values;
    for (std::size_t y = from; y < to; ++y)
      for (std::size_t x = from; x < to; ++x) values.push_back(flow.row<float>(y)[2 * x + channel]);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return std::lround(values[values.size() / 2]);
  };
  std::printf("the ball moved [%ld %ld] (x, y) pixels\n", median(50, 70, 0), median(50, 70, 1));
  std::printf("the background [%ld %ld]\n", median(0, 30, 0), median(0, 30, 1));
}
