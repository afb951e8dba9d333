// A chain on a device is a row of steps, a launch or a few each; a step takes an image to the next. What a step can be
// made by stands one a file; listing.cpp puts them together.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image/device/constants_codegen.hpp"
#include "image/variant.hpp"

namespace ridge::image::on_device {

// Compiled, ready, unchanging.
class Step {
 public:
  virtual ~Step() = default;
  virtual void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const = 0;
  virtual bool has_memory() const { return false; }  // that two enqueued at once would share
};

// What neighbours in a chain become one step: an operator, and the grays around it.
struct Link {
  std::vector<Operation> operations = {};
  Shape in = {}, out = {};
};

struct Chain {                          // what every step must know of the problem
  std::optional<Border> given = {};     // by the caller, for all operators
  Border border = Border::reflect_101;  // of the link that a lister is asked for
  double constant = 0;
  Shape guide = {};
};

struct StepPlan {
  std::string name = {};  // "stream", "tile"
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string refusal = {};
  planner::Cost cost = {};
  std::function<std::vector<KernelSource>()> kernels = {};
  std::function<std::shared_ptr<const Step>(const Device& device)> build = {};
};

// One file each, and its line in registry.cpp; they append nothing where they cannot be used at all.
using StepLister = void(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans);

// Every way to make the link, the most promising first.
std::vector<StepPlan> list_steps(const Device& device, Chain chain, const Link& link);  // sets chain.border itself

// What kernels are given of an image, in elements.
std::vector<Argument> arguments_of(const Image& image);
bool aligned_for_vec4(const Image& image);  // four channels at a time can be loaded at once
const char* element_type(Depth depth);      // "uchar"
std::uint64_t groups_for(std::size_t count, std::size_t each);
double values_of(const Shape& shape);  // channels of all pixels
// Of an operator whose weights are a column times a row: step 2 is the pyramid's.
struct Product {
  std::vector<double> down, across;
  std::size_t step = 1;
};
bool product_of(const Operation& operation, Depth depth, Product& product);
bool never_beyond(const Product& product);  // weights that make no value greater or negative

}  // namespace ridge::image::on_device
