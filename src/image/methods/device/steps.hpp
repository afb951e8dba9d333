// Steps of an operator chain on a device: each step reads one image and writes the next, with one or a few launches.
// Each method has its own folder; operators/device_chain.cpp combines them.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image/device/constants_codegen.hpp"
#include "image/methods/weights.hpp"
#include "image/variant.hpp"

namespace ridge::image::on_device {

// A compiled, immutable step.
class Step {
 public:
  virtual ~Step() = default;
  virtual void enqueue(Queue& queue, const Image& in, const Image& guide, const Image& out) const = 0;
  virtual bool has_memory() const { return false; }  // true if concurrent executions would share a buffer
};

// Adjacent operators that one step computes: an operator and the grays next to it.
struct Link {
  std::vector<Operation> operations = {};
  Shape in = {}, out = {};
};

struct Chain {                          // problem data that all steps need
  std::optional<Border> given = {};     // set by the caller for all operators
  Border border = Border::reflect_101;  // border of the link that is being listed
  double constant = 0;
  Shape guide = {};
};

// True if the border of the link needs no value that the depth (8 or 16 bits) cannot represent.
bool border_fits(const Chain& chain, Depth depth);

struct StepPlan {
  std::string name = {};  // "stream", "tile"
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string refusal = {};
  planner::Cost cost = {};
  std::function<std::vector<KernelSource>()> kernels = {};
  std::function<std::shared_ptr<const Step>(const Device& device)> build = {};
};

// Appends the plans of one method, or nothing if the method does not apply. The lister of a method that serves several
// operators has a line in registry.cpp; one that serves a single operator is named in the operator's definition.
using StepLister = planner::Lister<StepPlan, Chain, Link>;

// Plans of all methods of registry.cpp, usually fastest first.
StepLister list_methods;

// Kernel arguments of an image: buffer, offset and pitch, the last two in elements.
std::vector<Argument> arguments_of(const Image& image);
bool aligned_for_vec4(const Image& image);  // rows are aligned to four channels
const char* element_type(Depth depth);      // "uchar"
std::uint64_t groups_for(std::size_t count, std::size_t each);
double values_of(const Shape& shape);  // number of pixels times channels
// No weight is negative and their sum is at most 1, so results stay in range.
bool never_beyond(const Product& product);

}  // namespace ridge::image::on_device
