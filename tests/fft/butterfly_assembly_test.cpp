// Parses the butterflies generated as assembly and executes them here instruction by instruction.
#include "codegen/butterfly.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridge::codegen {
namespace {

class Machine {
 public:
  double& operator[](const std::string& name) { return registers_[name]; }
  double value(const std::string& word) {
    if (word.starts_with("0f"))
      return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word.substr(2), nullptr, 16)));
    if (word.starts_with("0d")) return std::bit_cast<double>(std::stoull(word.substr(2), nullptr, 16));
    return registers_.at(word);
  }
  void run(const std::string& instruction) {
    std::istringstream text(instruction);
    std::string operation, word;
    text >> operation;
    if (operation.empty() || operation.starts_with(".reg")) return;
    std::vector<std::string> words;
    while (text >> word) words.push_back(word.ends_with(',') ? word.substr(0, word.size() - 1) : word);
    const double a = value(words.at(1)), b = words.size() > 2 ? value(words[2]) : 0;
    const std::string name = operation.substr(0, 3);
    double result = std::nan("");
    if (name == "add") result = a + b;
    if (name == "sub") result = a - b;
    if (name == "mul") result = a * b;
    if (name == "fma") result = a * b + value(words.at(3));
    if (name == "mov") result = a;
    if (name == "neg") result = -a;
    registers_[words[0]] = result;
  }

 private:
  std::map<std::string, double> registers_;
};

TEST(ButterflyAssembly, IsTheTransform) {
  for (const bool float64 : {false, true}) {
    for (const std::size_t n : {8, 16, 32, 64}) {
      ASSERT_TRUE(has_assembly(n));
      const std::string text = butterfly_assembly(n, float64);
      const std::size_t begin = text.find('{') + 1, end = text.find('}');
      Machine machine;
      std::vector<std::complex<double>> points;
      for (std::size_t i = 0; i < n; ++i) {
        const double at = static_cast<double>(i);
        points.emplace_back(std::sin(1 + at * at), std::cos(3 * at));
        machine["%" + std::to_string(2 * i)] = points[i].real();
        machine["%" + std::to_string(2 * i + 1)] = points[i].imag();
      }
      std::istringstream instructions(text.substr(begin, end - begin));
      for (std::string each; std::getline(instructions, each, ';');) machine.run(each);
      double worst = 0;
      for (std::size_t k = 0; k < n; ++k) {
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          sum += points[i] * std::polar(1.0, -2 * M_PI * static_cast<double>(i * k % n) / static_cast<double>(n));
        }
        const std::complex<double> got(machine["%" + std::to_string(2 * k)], machine["%" + std::to_string(2 * k + 1)]);
        if (!(std::abs(got - sum) <= worst)) worst = std::abs(got - sum);
      }
      EXPECT_LE(worst, float64 ? 1e-13 : 2e-6) << n;
    }
  }
}

}  // namespace
}  // namespace ridge::codegen
