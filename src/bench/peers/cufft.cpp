// Peer cuFFT, NVIDIA's FFT library, loaded at run time: not needed to build this file.
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "bench/peers/peer.hpp"

namespace ridge::cli {
namespace {

// The used declarations of cufft.h, which have not changed since its first version.
using Handle = int;
using Result = int;
struct Library {
  Result (*plan_many)(Handle*, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed,
                      int out_stride, int out_distance, int type, int batch) = nullptr;
  Result (*set_stream)(Handle, void* stream) = nullptr;
  Result (*destroy)(Handle) = nullptr;
  Result (*c2c)(Handle, void* in, void* out, int direction) = nullptr;
  Result (*z2z)(Handle, void* in, void* out, int direction) = nullptr;
  Result (*r2c)(Handle, void* in, void* out) = nullptr;
  Result (*d2z)(Handle, void* in, void* out) = nullptr;
};
constexpr int kR2C = 0x2a, kC2C = 0x29, kD2Z = 0x6a, kZ2Z = 0x69, kForward = -1, kInverse = 1;

std::vector<std::string> places() {
  std::vector<std::string> found{"libcufft.so.12", "libcufft.so.11", "libcufft.so"};
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) folders.emplace_back(value);
  }
#if defined(RIDGE_CUDA_HEADERS)
  folders.emplace_back(std::string(RIDGE_CUDA_HEADERS) + "/..");
#endif
  for (const std::string& folder : folders) {
    for (const char* sub : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
      for (const char* name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}) {
        found.push_back(folder + "/" + sub + "/" + name);
      }
    }
  }
  return found;
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const Library* load() {
  static const Library* const loaded = []() -> const Library* {
    for (const std::string& place : places()) {
      void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) continue;
      auto library = std::make_unique<Library>();
      if (find(handle, "cufftPlanMany", library->plan_many) && find(handle, "cufftSetStream", library->set_stream) &&
          find(handle, "cufftDestroy", library->destroy) && find(handle, "cufftExecC2C", library->c2c) &&
          find(handle, "cufftExecZ2Z", library->z2z) && find(handle, "cufftExecR2C", library->r2c) &&
          find(handle, "cufftExecD2Z", library->d2z)) {
        return library.release();  // kept until the process ends, like the library
      }
    }
    return nullptr;
  }();
  return loaded;
}

PeerRun prepare(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  if (queue.device().info().backend != Backend::cuda) throw Error(ErrorKind::unavailable, "cuFFT needs a CUDA device");
  const Library* library = load();
  std::vector<int> shape(problem.shape.begin(), problem.shape.end());
  const int rank = static_cast<int>(shape.size());
  int points = 1;
  for (const int n : shape) {
    if (__builtin_mul_overflow(points, n, &points))
      throw Error(ErrorKind::unavailable, "the number of points overflows cufftPlanMany's int");
  }
  const int type = problem.real ? (problem.float64 ? kD2Z : kR2C) : (problem.float64 ? kZ2Z : kC2C);
  const int spectrum = problem.real ? points / shape.back() * (shape.back() / 2 + 1) : points;
  std::vector<int> embed = shape, out_embed = shape;
  if (problem.real) out_embed.back() = shape.back() / 2 + 1;
  Handle plan = 0;
  const Result made = library->plan_many(&plan, rank, shape.data(), embed.data(), 1, points, out_embed.data(), 1,
                                         spectrum, type, static_cast<int>(problem.batch));
  if (made != 0) throw Error(ErrorKind::unavailable, fmt::format("cufftPlanMany returned error {}", made));
  const std::shared_ptr<int> owner(new int(plan), [library](int* p) {
    library->destroy(*p);
    delete p;
  });
  if (library->set_stream(plan, reinterpret_cast<void*>(queue.native())) != 0) {
    throw Error(ErrorKind::unavailable, "cuFFT rejects the stream");
  }
  void* const from = reinterpret_cast<void*>(in.native());
  void* const to = reinterpret_cast<void*>(out.native());
  const int direction = problem.inverse ? kInverse : kForward;
  return [owner, library, plan, type, from, to, direction] {
    Result result = 0;
    switch (type) {
      case kC2C:
        result = library->c2c(plan, from, to, direction);
        break;
      case kZ2Z:
        result = library->z2z(plan, from, to, direction);
        break;
      case kR2C:
        result = library->r2c(plan, from, to);
        break;
      default:
        result = library->d2z(plan, from, to);
    }
    if (result != 0) throw Error(ErrorKind::device, fmt::format("cuFFT returned error {}", result));
  };
}

}  // namespace

Peer cufft_peer() {
  if (load() == nullptr) return {.name = "cufft", .missing = "libcufft was not found (CUDA toolkit)"};
  return {.name = "cufft", .prepare_on_device = prepare};
}

}  // namespace ridge::cli
