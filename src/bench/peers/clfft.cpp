// Peer clFFT, AMD's FFT library for OpenCL, loaded at run time; its header is needed to build this file.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "bench/peers/opencl_queue.hpp"
#include "bench/peers/peer.hpp"
// Must follow the definition of the OpenCL version.
#include <clFFT.h>

namespace ridge::cli {
namespace {

constexpr base::LibraryName kNames{"libclFFT.so.2", "libclFFT.so"};
const base::Library library{kNames, "comparisons with clFFT"};
const base::Function<decltype(::clfftSetup)> clfftSetup{library, "clfftSetup"};
const base::Function<decltype(::clfftTeardown)> clfftTeardown{library, "clfftTeardown"};
const base::Function<decltype(::clfftCreateDefaultPlan)> clfftCreateDefaultPlan{library, "clfftCreateDefaultPlan"};
const base::Function<decltype(::clfftSetPlanPrecision)> clfftSetPlanPrecision{library, "clfftSetPlanPrecision"};
const base::Function<decltype(::clfftSetLayout)> clfftSetLayout{library, "clfftSetLayout"};
const base::Function<decltype(::clfftSetResultLocation)> clfftSetResultLocation{library, "clfftSetResultLocation"};
const base::Function<decltype(::clfftSetPlanBatchSize)> clfftSetPlanBatchSize{library, "clfftSetPlanBatchSize"};
const base::Function<decltype(::clfftSetPlanInStride)> clfftSetPlanInStride{library, "clfftSetPlanInStride"};
const base::Function<decltype(::clfftSetPlanOutStride)> clfftSetPlanOutStride{library, "clfftSetPlanOutStride"};
const base::Function<decltype(::clfftSetPlanDistance)> clfftSetPlanDistance{library, "clfftSetPlanDistance"};
const base::Function<decltype(::clfftSetPlanScale)> clfftSetPlanScale{library, "clfftSetPlanScale"};
const base::Function<decltype(::clfftBakePlan)> clfftBakePlan{library, "clfftBakePlan"};
const base::Function<decltype(::clfftEnqueueTransform)> clfftEnqueueTransform{library, "clfftEnqueueTransform"};
const base::Function<decltype(::clfftDestroyPlan)> clfftDestroyPlan{library, "clfftDestroyPlan"};

// The library stays loaded until the process ends, and with it clFFT's cache of compiled kernels.
bool load() {
  static const bool loaded = [] {
    const clfftSetupData data{clfftVersionMajor, clfftVersionMinor, clfftVersionPatch, 0};
    if (!library.available() || clfftSetup(&data) != CLFFT_SUCCESS) return false;
    std::atexit([] { clfftTeardown(); });  // otherwise it prints a warning at exit
    return true;
  }();
  return loaded;
}

void check(clfftStatus status, const char* doing) {
  if (status == CLFFT_SUCCESS) return;
  if (status == CLFFT_NOTIMPLEMENTED) throw Error(ErrorKind::unavailable, "clFFT has no kernels for this length");
  throw Error(ErrorKind::unavailable, fmt::format("clFFT returned error {} while {}", static_cast<int>(status), doing));
}

// A plan; fastest axis first, as in clFFT.
class Transform {
 public:
  Transform(const PeerProblem& problem, const Buffer& in, const Buffer& out, const Queue& queue)
      : queue_(opencl_queue(queue).queue),
        in_(reinterpret_cast<cl_mem>(in.native())),
        out_(reinterpret_cast<cl_mem>(out.native())),
        direction_(problem.inverse ? CLFFT_BACKWARD : CLFFT_FORWARD) {
    const std::size_t axes = problem.shape.size();
    std::array<std::size_t, 3> lengths{1, 1, 1}, in_strides{1, 1, 1}, out_strides{1, 1, 1};
    std::size_t in_distance = 1, out_distance = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      lengths[axis] = problem.shape[axes - 1 - axis];
      in_strides[axis] = in_distance;
      out_strides[axis] = out_distance;
      in_distance *= lengths[axis];
      out_distance *= problem.real && axis == 0 ? lengths[axis] / 2 + 1 : lengths[axis];
    }
    const auto dimension = static_cast<clfftDim>(axes);  // CLFFT_1D is 1
    check(clfftCreateDefaultPlan(&plan_, opencl_queue(queue).context, dimension, lengths.data()), "making a plan");
    try {
      check(clfftSetPlanPrecision(plan_, problem.float64 ? CLFFT_DOUBLE : CLFFT_SINGLE), "setting the precision");
      check(clfftSetLayout(plan_, problem.real ? CLFFT_REAL : CLFFT_COMPLEX_INTERLEAVED,
                           problem.real ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_COMPLEX_INTERLEAVED),
            "setting the layout");
      check(clfftSetResultLocation(plan_, CLFFT_OUTOFPLACE), "setting the place");
      check(clfftSetPlanBatchSize(plan_, problem.batch), "setting the batch");
      check(clfftSetPlanInStride(plan_, dimension, in_strides.data()), "setting strides");
      check(clfftSetPlanOutStride(plan_, dimension, out_strides.data()), "setting strides");
      check(clfftSetPlanDistance(plan_, in_distance, out_distance), "setting distances");
      check(clfftSetPlanScale(plan_, CLFFT_BACKWARD, 1.0F), "setting the scale");
      check(clfftBakePlan(plan_, 1, &queue_, nullptr, nullptr), "compiling");
    } catch (...) {
      clfftDestroyPlan(&plan_);
      throw;
    }
  }
  ~Transform() { clfftDestroyPlan(&plan_); }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void run() {
    const clfftStatus status =
        clfftEnqueueTransform(plan_, direction_, 1, &queue_, 0, nullptr, nullptr, &in_, &out_, nullptr);
    if (status != CLFFT_SUCCESS)
      throw Error(ErrorKind::device, fmt::format("clFFT returned error {}", static_cast<int>(status)));
  }

 private:
  cl_command_queue queue_;
  cl_mem in_, out_;
  clfftDirection direction_;
  clfftPlanHandle plan_ = 0;
};

PeerRun prepare(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  if (queue.device().info().backend != Backend::opencl) {
    throw Error(ErrorKind::unavailable, "clFFT needs an OpenCL device");
  }
  const auto transform = std::make_shared<Transform>(problem, in, out, queue);
  return [transform] { transform->run(); };
}

}  // namespace

Peer clfft_peer() {
  if (!load()) return {.name = "clfft", .missing = "libclFFT.so.2 was not found (Debian: libclfft2)"};
  return {.name = "clfft", .prepare_on_device = prepare};
}

}  // namespace ridge::cli
