// A user's own kernel in the dialect, on every device that compiles kernels: y = a x + y.
#include <cstdio>
#include <vector>

#include <ridge/device.hpp>

constexpr const char* kSource = R"(
KERNEL WORK_GROUP(64, 1, 1) void saxpy(GLOBAL const float* RESTRICT x, GLOBAL float* RESTRICT y, float a, uint n) {
  const uint i = GLOBAL_ID(0);
  if (i < n) y[i] = FMA(a, x[i], y[i]);
}
)";

int main() {
  const std::uint32_t n = 1000;
  const std::vector<float> x(n, 2.0f), ones(n, 1.0f);
  for (const ridge::Device& device : ridge::devices().devices) {
    if (device.is_host()) continue;  // host kernels are C++
    const ridge::Kernel kernel = device.compile({.name = "saxpy", .text = kSource}).kernel("saxpy");
    const ridge::Buffer in = device.buffer(n * sizeof(float), {.name = "x"});
    const ridge::Buffer out = device.buffer(n * sizeof(float), {.name = "y"});
    ridge::Queue queue = device.queue();
    queue.upload(std::span(x), in);
    queue.upload(std::span(ones), out);
    queue.launch(kernel, {.groups = {(n + 63) / 64}, .items = {64}}, {in, out, 3.0f, n});
    std::vector<float> result(n);
    queue.download(out, std::span(result));
    queue.finish();
    for (const float value : result) {
      if (value != 7.0f) return std::printf("%s: wrong result %g\n", device.id().c_str(), value), 1;
    }
    std::printf("%s: %u values of 3 * 2 + 1 = %g\n", device.id().c_str(), n, result.front());
  }
  for (const std::string& note : ridge::devices().notes) std::printf("%s\n", note.c_str());
}
