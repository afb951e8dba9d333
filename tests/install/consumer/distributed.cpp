// One process of a distributed transform, with an installed ridge::mpi.
#include <cstdio>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/mpi.hpp>

int main() try {
  const auto all = ridge::mpi::Communicator::world();
  const ridge::mpi::fft::Plan<float> fft(all, {.shape = {4, 6, 8}}, {.effort = ridge::Effort::quick});
  std::vector<std::complex<float>> in(fft.input().size(), 1), out(fft.output().size());
  fft.forward(in, out);
  if (all.sum(out.empty() ? 0 : std::abs(out[0])) != 192) return 1;
  std::puts("turned");
} catch (const ridge::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
