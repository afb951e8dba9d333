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

// The used constants of cufft.h, which have not changed since its first version.
constexpr int kR2C = 0x2a, kC2C = 0x29, kD2Z = 0x6a, kZ2Z = 0x69, kForward = -1, kInverse = 1;

std::vector<std::string> places() {
  const std::vector<std::string> names{"libcufft.so.12", "libcufft.so.11", "libcufft.so"};
  std::vector<std::string> found = names, folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) folders.emplace_back(value);
  }
#if defined(RIDGE_CUDA_HEADERS)
  folders.emplace_back(std::string(RIDGE_CUDA_HEADERS) + "/..");
#endif
  for (const std::string& folder : folders) {
    for (const char* sub : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
      for (const std::string& name : names) found.push_back(folder + "/" + sub + "/" + name);
    }
  }
  return found;
}

// The library stays loaded until the process ends; null if there is none.
void* load() {
  static void* const loaded = []() -> void* {
    for (const std::string& place : places()) {
      if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    }
    return nullptr;
  }();
  return loaded;
}

template <class F>
F* find(const char* name) {
  void* found = dlsym(load(), name);
  if (found == nullptr) throw Error(ErrorKind::unavailable, fmt::format("cuFFT has no function {}", name));
  return reinterpret_cast<F*>(found);
}

PeerRun prepare(const PeerProblem& problem, const Buffer& in, const Buffer& out, Queue& queue) {
  if (queue.device().info().backend != Backend::cuda) throw Error(ErrorKind::unavailable, "cuFFT needs a CUDA device");
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
  int plan = 0;
  using PlanMany = int(int*, int, int*, int*, int, int, int*, int, int, int, int);
  const int made = find<PlanMany>("cufftPlanMany")(&plan, rank, shape.data(), embed.data(), 1, points, out_embed.data(),
                                                   1, spectrum, type, static_cast<int>(problem.batch));
  if (made != 0) throw Error(ErrorKind::unavailable, fmt::format("cufftPlanMany returned error {}", made));
  const std::shared_ptr<int> owner(new int(plan), [](int* p) {
    find<int(int)>("cufftDestroy")(*p);
    delete p;
  });
  if (find<int(int, void*)>("cufftSetStream")(plan, reinterpret_cast<void*>(queue.native())) != 0) {
    throw Error(ErrorKind::unavailable, "cuFFT rejects the stream");
  }
  void* const from = reinterpret_cast<void*>(in.native());
  void* const to = reinterpret_cast<void*>(out.native());
  const int direction = problem.inverse ? kInverse : kForward;
  const auto check = [owner](int result) {
    if (result != 0) throw Error(ErrorKind::device, fmt::format("cuFFT returned error {}", result));
  };
  if (problem.real) {
    const auto execute = find<int(int, void*, void*)>(problem.float64 ? "cufftExecD2Z" : "cufftExecR2C");
    return [check, execute, plan, from, to] { check(execute(plan, from, to)); };
  }
  const auto execute = find<int(int, void*, void*, int)>(problem.float64 ? "cufftExecZ2Z" : "cufftExecC2C");
  return [check, execute, plan, from, to, direction] { check(execute(plan, from, to, direction)); };
}

}  // namespace

Peer cufft_peer() {
  if (load() == nullptr) return {.name = "cufft", .missing = "libcufft was not found (CUDA toolkit)"};
  return {.name = "cufft", .prepare_on_device = prepare};
}

}  // namespace ridge::cli
