// Definition of an operator: one table with everything that chains, plans, `ridge image`, `ridge check` and `ridge
// bench` need. Each operator's folder defines the table of its type; the alternatives of `Operation`
// (include/ridge/image/operators.hpp) are the list of operators. A definition that is missing is a linker error.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image/methods/device/stages.hpp"
#include "image/methods/host/native.hpp"
#include "image/operators/reference_loops.hpp"
#include "image/operators/words.hpp"

namespace ridge::image {

// Functions of a definition, for declarations of those in other files of the operator's folder.
template <class T>
using AddRows = void(const T& o, const Shape& in, std::size_t guide_channels, Stages& stages);
template <class T>
using RunWhole = void(const T& o, const Edge& edge, const Image& in, Image& out, std::size_t threads);
template <class T>
using MakeNative = std::unique_ptr<Native>(const T& o, const Shape& in, const Edge& edge);
template <class T>
using AddTileStages = bool(const T& o, on_device::StageList& stages);

template <class T>
struct Definition {
  OperatorInfo info = {};  // name, syntax, help, parameters, default border, examples

  T (*parse)(Words& words) = nullptr;
  std::string (*print)(const T& o) = nullptr;  // in the syntax that `parse` reads
  // Shape of the result; throws refusal() for invalid parameters. Not set: the shape of the input.
  Shape (*shape)(const T& o, const Shape& in) = nullptr;
  // Plain loops in double precision, for comparisons.
  Plain (*reference)(const T& o, const Reference& call) = nullptr;
  // Largest change of a result if every input pixel changes by 1; not set: 1.
  double (*gain)(const T& o, const Shape& out) = nullptr;
  bool guided = false;  // reads a second image

  // Weights, for the methods that serve several operators. A product alone is sufficient for the host and for devices.
  std::optional<Product> (*product)(const T& o, Depth depth) = nullptr;
  std::optional<Window> (*window)(const T& o, Depth depth) = nullptr;

  // Host: stages of a row-wise chain, or the whole image at once; optionally a method in the image's own type, which
  // may return null.
  AddRows<T>* rows = nullptr;
  RunWhole<T>* whole = nullptr;
  MakeNative<T>* native = nullptr;

  // Devices: stages of a tile kernel (false if the parameters have none), and methods that serve this operator only.
  AddTileStages<T>* tile = nullptr;
  std::vector<on_device::StepLister*> steps = {};
};

template <class T>
const Definition<T>& definition();

// Error for parameters that an operator does not accept.
Error refusal(const Operation& operation, const std::string& why);

std::string short_name(const Operation& operation);  // "gauss 2", without long lists of weights

}  // namespace ridge::image
