// Peer clFFT, AMD's FFT library for OpenCL, loaded at run time; its header is needed to build this file.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "bench/peers/opencl_queue.hpp"
#include "bench/peers/peer.hpp"
// Must follow the definition of the OpenCL version.
#include <clFFT.h>

namespace ridge::cli {
namespace {

struct Library {
  decltype(&clfftSetup) setup = nullptr;
  decltype(&clfftTeardown) teardown = nullptr;
  decltype(&clfftCreateDefaultPlan) create = nullptr;
  decltype(&clfftSetPlanPrecision) set_precision = nullptr;
  decltype(&clfftSetLayout) set_layout = nullptr;
  decltype(&clfftSetResultLocation) set_location = nullptr;
  decltype(&clfftSetPlanBatchSize) set_batch = nullptr;
  decltype(&clfftSetPlanInStride) set_in_stride = nullptr;
  decltype(&clfftSetPlanOutStride) set_out_stride = nullptr;
  decltype(&clfftSetPlanDistance) set_distance = nullptr;
  decltype(&clfftSetPlanScale) set_scale = nullptr;
  decltype(&clfftBakePlan) bake = nullptr;
  decltype(&clfftEnqueueTransform) enqueue = nullptr;
  decltype(&clfftDestroyPlan) destroy = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// The library stays loaded until the process ends, and with it clFFT's cache of compiled kernels.
const Library* load() {
  static const Library* const loaded = []() -> const Library* {
    for (const char* name : {"libclFFT.so.2", "libclFFT.so"}) {
      void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) continue;
      auto library = std::make_unique<Library>();
      const clfftSetupData data{clfftVersionMajor, clfftVersionMinor, clfftVersionPatch, 0};
      if (find(handle, "clfftSetup", library->setup) && find(handle, "clfftTeardown", library->teardown) &&
          find(handle, "clfftCreateDefaultPlan", library->create) &&
          find(handle, "clfftSetPlanPrecision", library->set_precision) &&
          find(handle, "clfftSetLayout", library->set_layout) &&
          find(handle, "clfftSetResultLocation", library->set_location) &&
          find(handle, "clfftSetPlanBatchSize", library->set_batch) &&
          find(handle, "clfftSetPlanInStride", library->set_in_stride) &&
          find(handle, "clfftSetPlanOutStride", library->set_out_stride) &&
          find(handle, "clfftSetPlanDistance", library->set_distance) &&
          find(handle, "clfftSetPlanScale", library->set_scale) && find(handle, "clfftBakePlan", library->bake) &&
          find(handle, "clfftEnqueueTransform", library->enqueue) &&
          find(handle, "clfftDestroyPlan", library->destroy) && library->setup(&data) == CLFFT_SUCCESS) {
        std::atexit([] { load()->teardown(); });  // otherwise it prints a warning at exit
        return library.release();
      }
    }
    return nullptr;
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
  Transform(const Library& library, const PeerProblem& problem, const Buffer& in, const Buffer& out, const Queue& queue)
      : library_(library),
        queue_(opencl_queue(queue).queue),
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
    check(library.create(&plan_, opencl_queue(queue).context, dimension, lengths.data()), "making a plan");
    try {
      check(library.set_precision(plan_, problem.float64 ? CLFFT_DOUBLE : CLFFT_SINGLE), "setting the precision");
      check(library.set_layout(plan_, problem.real ? CLFFT_REAL : CLFFT_COMPLEX_INTERLEAVED,
                               problem.real ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_COMPLEX_INTERLEAVED),
            "setting the layout");
      check(library.set_location(plan_, CLFFT_OUTOFPLACE), "setting the place");
      check(library.set_batch(plan_, problem.batch), "setting the batch");
      check(library.set_in_stride(plan_, dimension, in_strides.data()), "setting strides");
      check(library.set_out_stride(plan_, dimension, out_strides.data()), "setting strides");
      check(library.set_distance(plan_, in_distance, out_distance), "setting distances");
      check(library.set_scale(plan_, CLFFT_BACKWARD, 1.0F), "setting the scale");
      check(library.bake(plan_, 1, &queue_, nullptr, nullptr), "compiling");
    } catch (...) {
      library_.destroy(&plan_);
      throw;
    }
  }
  ~Transform() { library_.destroy(&plan_); }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void run() {
    const clfftStatus status =
        library_.enqueue(plan_, direction_, 1, &queue_, 0, nullptr, nullptr, &in_, &out_, nullptr);
    if (status != CLFFT_SUCCESS)
      throw Error(ErrorKind::device, fmt::format("clFFT returned error {}", static_cast<int>(status)));
  }

 private:
  const Library& library_;
  cl_command_queue queue_;
  cl_mem in_, out_;
  clfftDirection direction_;
  clfftPlanHandle plan_ = 0;
};

PeerRun prepare(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  if (queue.device().info().backend != Backend::opencl) {
    throw Error(ErrorKind::unavailable, "clFFT needs an OpenCL device");
  }
  const auto transform = std::make_shared<Transform>(*load(), problem, in, out, queue);
  return [transform] { transform->run(); };
}

}  // namespace

Peer clfft_peer() {
  if (load() == nullptr) return {.name = "clfft", .missing = "libclFFT.so.2 was not found (Debian: libclfft2)"};
  return {.name = "clfft", .prepare_on_device = prepare};
}

}  // namespace ridge::cli
