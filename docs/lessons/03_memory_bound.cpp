#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <ridge/fft.hpp>

template <class Work>
double best(Work work) {
  double seconds = 1e9;
  for (int round = 0; round < 8; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return seconds;
}

int main() {
  for (const std::size_t n : {std::size_t{256}, std::size_t{4096}}) {
    std::vector<std::complex<float>> x(1 << 20, 1.0f), out(x.size());  // 8 MiB
    const auto plan =
        ridge::fft::plan<float>(ridge::host(), {.shape = {n}, .batch = x.size() / n}, {.effort = ridge::Effort::quick});
    const double seconds = best([&] { plan.forward(x, out); });
    const double copying = best([&] { std::copy(x.begin(), x.end(), out.begin()); });
    // flops() is the usual count, bytes() every value read once and written once
    std::printf("length %zu: %.1f flops per byte; %.1f GB/s, a copy %.1f\n", n, plan.flops() / plan.bytes(),
                plan.bytes() / seconds / 1e9, plan.bytes() / copying / 1e9);
  }
}
