// Convolution of images with small kernels, and the parser of kernel names and weights.
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

namespace ridge::stencil {
namespace {

constexpr std::size_t kMostSide = 129;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("kernel \"{}\": {} (use gauss:SIGMA, box:RADIUS, sharpen, laplace, sobel-x, sobel-y, "
                          "emboss, or rows of numbers as in \"0 1 0; 1 -4 1; 0 1 0\")",
                          text, why));
}

double number_in(const std::string& whole, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    refuse(whole, fmt::format("\"{}\" is not a number", text));
  }
  return value;
}

Kernel square(const std::vector<double>& line) {
  Kernel kernel{line.size(), line.size(), {}};
  const double sum = std::accumulate(line.begin(), line.end(), 0.0);
  for (const double row : line) {
    for (const double column : line) kernel.weights.push_back(row * column / (sum * sum));
  }
  return kernel;
}

Kernel gauss(const std::string& text, double sigma) {
  if (!(sigma > 0) || 3 * sigma > (kMostSide - 1) / 2.0) refuse(text, "sigma must be above 0 and at most 21");
  const int radius = std::max(1, static_cast<int>(std::ceil(3 * sigma)));
  std::vector<double> line;
  for (int i = -radius; i <= radius; ++i) line.push_back(std::exp(-i * i / (2 * sigma * sigma)));
  return square(line);
}

Kernel box(const std::string& text, double radius) {
  if (radius != std::floor(radius) || radius < 1 || radius > (kMostSide - 1) / 2.0) {
    refuse(text, "the radius must be a whole number from 1 to 64");
  }
  return square(std::vector<double>(2 * static_cast<std::size_t>(radius) + 1, 1.0));
}

Kernel rows_of_numbers(const std::string& text) {
  Kernel kernel;
  std::size_t columns = 0;
  const auto end_row = [&] {
    if (kernel.rows == 0) kernel.columns = columns;
    if (columns == 0 || columns != kernel.columns) refuse(text, "its rows must have the same length");
    ++kernel.rows;
    columns = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = text.find_first_not_of(" ,\t\n", at);
    if (from == std::string::npos) break;
    if (text[from] == ';') {
      end_row();
      at = from + 1;
      continue;
    }
    at = std::min(text.find_first_of(" ,\t\n;", from), text.size());
    kernel.weights.push_back(number_in(text, std::string_view(text).substr(from, at - from)));
    ++columns;
  }
  if (columns > 0) end_row();
  if (kernel.weights.empty()) refuse(text, "it holds no weights");
  if (kernel.rows % 2 == 0 || kernel.columns % 2 == 0) refuse(text, "it has no centre: rows and columns must be odd");
  if (kernel.rows > kMostSide || kernel.columns > kMostSide)
    refuse(text, fmt::format("at most 129 rows and columns are possible, got {} x {}", kernel.rows, kernel.columns));
  return kernel;
}

}  // namespace

Kernel parse_kernel(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const std::string name = text.substr(0, colon);
    const double value = number_in(text, std::string_view(text).substr(colon + 1));
    if (name == "gauss") return gauss(text, value);
    if (name == "box") return box(text, value);
    refuse(text, "no such kernel");
  }
  if (text == "sharpen") return {3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}};
  if (text == "laplace") return {3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}};
  if (text == "sobel-x") return {3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}};
  if (text == "sobel-y") return {3, 3, {-1, -2, -1, 0, 0, 0, 1, 2, 1}};
  if (text == "emboss") return {3, 3, {-2, -1, 0, -1, 1, 1, 0, 1, 2}};
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0) refuse(text, "no such kernel");
  return rows_of_numbers(text);
}

template <class T>
Update<T> convolution(const Kernel& kernel, std::size_t channels) {
  if (kernel.rows % 2 == 0 || kernel.columns % 2 == 0 || kernel.weights.size() != kernel.rows * kernel.columns ||
      channels == 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a convolution needs odd rows and columns, rows x columns weights and at least 1 channel; "
                            "got {} x {}, {} weights, {} channels",
                            kernel.rows, kernel.columns, kernel.weights.size(), channels));
  }
  std::vector<Term> terms;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t row = 0; row < kernel.rows; ++row) {
      for (std::size_t column = 0; column < kernel.columns; ++column) {
        const double weight = kernel.weights[row * kernel.columns + column];
        const bool centre = row == kernel.rows / 2 && column == kernel.columns / 2;
        if (weight == 0 && !centre) continue;
        terms.push_back({.offset = {0, static_cast<int>(row) - static_cast<int>(kernel.rows / 2),
                                    static_cast<int>(column) - static_cast<int>(kernel.columns / 2)},
                         .weight = weight,
                         .field = channel,
                         .to = channel});
      }
    }
  }
  return linear<T>(2, terms, fmt::format("convolution {}x{}", kernel.rows, kernel.columns));
}

template Update<float> convolution(const Kernel&, std::size_t);
template Update<double> convolution(const Kernel&, std::size_t);

}  // namespace ridge::stencil
