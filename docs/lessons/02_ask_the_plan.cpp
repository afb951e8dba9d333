#include <complex>
#include <cstdio>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/fft.hpp>

int main() {
  const std::size_t n = 1009, batch = 64;  // 64 transforms of a difficult length: 1009 is prime
  const auto plan = ridge::fft::plan<float>(ridge::host(), {.shape = {n}, .batch = batch, .threads = 1},
                                            {.effort = ridge::Effort::quick});

  const ridge::planner::Decision& decision = plan.decisions().front();
  const std::string& name = decision.trials[decision.winner].name;
  std::printf("chosen for length 1009: %s\n", name.substr(0, name.find('(')).c_str());

  std::vector<std::complex<float>> in(n * batch, 1.0f), out(in.size());
  plan.forward(in, out);  // a constant: only the first value of each spectrum is not zero
  std::printf("right: %s\n", std::abs(out[0] - 1009.0f) < 1e-2f && std::abs(out[1]) < 1e-2f ? "True" : "False");

  try {
    plan.forward(std::span(in).first(64 * 1000), out);
  } catch (const ridge::Error& refused) {
    std::printf("refused: %s\n", refused.what());
  }
}
