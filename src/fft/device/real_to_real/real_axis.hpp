// Real-to-real transforms of the lines of one axis on a device. Lines that fit a work-group are done in one pass, which
// orders and turns the samples on load and makes the values on store (pass/real_kind.hpp). Others take a kernel that
// orders and turns the samples, one of the device's own transforms of the same length (half of it for type IV, twice
// for type I), and a kernel that makes the values of what comes out.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "fft/device/compiled_route.hpp"

namespace ridge::fft::on_device {

struct RealAxisProblem {
  bool float64 = false;
  RealKind kind = RealKind::dct2;
  std::size_t length = 1;
  std::vector<std::uint64_t> counts = {1};  // of the digits that number the lines, fastest first
  Address in = {}, out = {};                // reals
  double scale = 1;
  bool in_place = false;
  bool any_offset = false;  // enqueued with offsets that are no multiples of four

  std::uint64_t lines() const;
};

// What stands between the two kernels.
enum class Middle {
  real_forward,  // reals to half a spectrum
  real_inverse,  // and back
  complex,
};
struct MiddleShape {
  Middle what = Middle::real_forward;
  std::size_t length = 1;             // of the transform
  std::size_t before = 1, after = 1;  // elements a line that the first kernel writes and the second reads
};
MiddleShape middle_of(RealKind kind, std::size_t length);

// Both kernels; the lines between them lie as the samples do, along the points or side by side.
struct RealAxisText {
  KernelSource source;
  const char* before = "real_before";
  const char* after = "real_after";
};
RealAxisText real_axis_text(const RealAxisProblem& problem);

// The same lines in one pass; nothing where a kind has none.
std::optional<AxisProblem> one_pass_problem(const RealAxisProblem& problem);

class RealAxis {
 public:
  RealAxis(const Device& device, const RealAxisProblem& problem, const planner::Options& options,
           std::vector<planner::Decision>& decisions);
  // `before` and `after` are work memory, of bytes_before() and bytes_after(), none in one pass. Offsets count reals.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               const Buffer& before, const Buffer& after) const;
  std::size_t bytes_before() const;
  std::size_t bytes_after() const;
  std::string describe() const;
  std::vector<KernelSource> kernels() const;

 private:
  RealAxisProblem problem_;
  MiddleShape middle_;
  RealAxisText text_;
  bool one_pass_ = false;
  Kernel before_, after_;
  Buffer roots_;
  std::shared_ptr<const CompiledRoute> route_;
};

}  // namespace ridge::fft::on_device
