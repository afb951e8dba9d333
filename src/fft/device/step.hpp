// A step of a route: what it does, as a design that knows its kernels and how to become real on a device, and where it
// stands among the route's arrays.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Factors of a load or a store; window, multiplication and scale in one.
struct FactorTable {
  std::vector<double> real = {};
  std::vector<std::complex<double>> complex = {};
  std::function<std::vector<std::complex<double>>()> later = {};  // complex ones that are costly to make
  FactorKind kind() const {
    return !complex.empty() || later ? FactorKind::complex : !real.empty() ? FactorKind::real : FactorKind::none;
  }
};

// A design made real: kernels compiled, tables uploaded.
class CompiledStep {
 public:
  virtual ~CompiledStep() = default;
  // `lines` lines from the given offsets on, which count elements of each side's array.
  virtual void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                       std::uint64_t out_offset, std::uint64_t lines) const = 0;
  virtual std::string describe() const = 0;
  // Has arrays of its own that every call writes: calls from several queues must be put in order.
  virtual bool writes_own_arrays() const { return false; }
};

// What a step adds to the name and the cost of a candidate.
struct StepShare {
  std::string radices = {}, items = {}, lines = {};
  double bytes = 0, operations = 0;
};

struct Step;

class StepDesign {
 public:
  virtual ~StepDesign() = default;
  virtual std::vector<KernelSource> kernels() const = 0;
  virtual std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const = 0;
  virtual StepShare share(double /*lines*/) const { return {}; }
  // Work-groups, or whatever else is counted in 32 bits, for so many lines.
  virtual double groups(double /*lines*/) const { return 1; }
};

// Arrays a step reads and writes. All but input and output belong to the route.
enum class Place { input, output, scratch, work, spare };

struct Step {
  std::shared_ptr<const StepDesign> design = {};
  Place from = Place::input, to = Place::output;
  std::uint64_t lines = 1;                       // for each value of the problem's last digit
  std::uint64_t from_stride = 0, to_stride = 0;  // elements from one value of the last digit to the next
  FactorTable load = {}, store = {}, filter = {};
  Buffer filter_table = {};  // of a filter that is a function
};

}  // namespace ridge::fft::on_device
