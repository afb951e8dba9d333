// Output shape, inputs and borders of chains, and the list of operators.
#include <cmath>

#include <fmt/format.h>

#include "image/operators/definition.hpp"
#include "image/text.hpp"

namespace ridge::image {
namespace {

template <class... T>
std::vector<OperatorInfo> infos_of(const std::variant<T...>*) {
  return {definition<T>().info...};
}

bool is_guided(const Operation& operation) {
  return std::visit([]<class T>(const T&) { return definition<T>().guided; }, operation);
}

}  // namespace

const std::vector<OperatorInfo>& operators() {
  static const std::vector<OperatorInfo> all = infos_of(static_cast<const Operation*>(nullptr));
  return all;
}

Error refusal(const Operation& operation, const std::string& why) {
  return Error(ErrorKind::invalid_argument, fmt::format("{}: {}", short_name(operation), why));
}

Border border_for(const Operation& operation, std::optional<Border> given) {
  if (given) return *given;
  return std::visit([]<class T>(const T&) { return definition<T>().info.border; }, operation);
}

Shape output_shape(const Operation& operation, const Shape& input) {
  check(input, "image");
  if (input.depth == Depth::u32 || input.depth == Depth::f64) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{}: needs 8-bit, 16-bit or float pixels, got {}; integral must be the last operator of a chain",
                    short_name(operation), to_string(input.depth)));
  }
  const auto shape_of = [&]<class T>(const T& o) {
    const auto shape = definition<T>().shape;
    return shape == nullptr ? input : shape(o, input);
  };
  const Shape shape = std::visit(shape_of, operation);
  check(shape, short_name(operation) + ": result");
  return shape;
}

Shape output_shape(const OperatorProblem& problem) {
  if (problem.chain.empty())
    throw Error(ErrorKind::invalid_argument, "needs at least one operator, got an empty chain");
  check(problem.input, "image");
  if (std::isnan(problem.constant) && problem.input.depth != Depth::f32) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} pixels need a border constant that is a number, got nan",
                                                         to_string(problem.input.depth)));
  }
  Shape shape = problem.input;
  for (const Operation& operation : problem.chain) {
    if (is_guided(operation) && (shape.rows != problem.input.rows || shape.columns != problem.input.columns)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: needs an image of the guide's size, {}x{} pixels, got {}x{}", short_name(operation),
                              problem.input.columns, problem.input.rows, shape.columns, shape.rows));
    }
    shape = output_shape(operation, shape);
  }
  return shape;
}

std::size_t inputs(const OperatorProblem& problem) {
  for (const Operation& operation : problem.chain) {
    if (is_guided(operation)) return 2;
  }
  return 1;
}

const char* to_string(Like like) { return kLikes.name(like); }
Like like_of(const std::string& name) { return kLikes.value(name); }
const char* to_string(Interpolation interpolation) { return kInterpolations.name(interpolation); }
Interpolation interpolation_of(const std::string& name) {
  // OpenCV's names.
  if (name == "linear") return Interpolation::bilinear;
  if (name == "cubic") return Interpolation::bicubic;
  return kInterpolations.value(name);
}

}  // namespace ridge::image
