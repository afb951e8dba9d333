// Text that identifies a problem, as key of plan caches.
#pragma once
#include <string>

#include <ridge/fft/tensor.hpp>

#include "base/number.hpp"

namespace ridge::fft {

template <class T>
std::string problem_key(const TensorProblem& problem) {
  std::string key;
  key.reserve(96);
  key += sizeof(T) == sizeof(float) ? 'f' : 'd';
  key += static_cast<char>('0' + static_cast<int>(problem.kind));
  if (problem.in_place) key += 'i';
  if (problem.split_input) key += 's';
  if (problem.split_output) key += 'S';
  key += 't' + std::to_string(problem.threads);
  if (problem.scale != 1) key += 'x' + base::hexadecimal_text(problem.scale);
  for (const RealKind kind : problem.real_kinds) key += 'k' + std::to_string(static_cast<int>(kind));
  const auto add = [&](char mark, const std::vector<Dimension>& dimensions) {
    for (const Dimension& d : dimensions) {
      key += mark + std::to_string(d.length) + ',' + std::to_string(d.input) + ',' + std::to_string(d.output);
    }
  };
  add('n', problem.axes);
  add('v', problem.loops);
  const auto add_factors = [&](char mark, const std::vector<std::vector<double>>& factors) {
    for (const std::vector<double>& along : factors) {
      key += mark + std::to_string(along.size());
      for (const double factor : along) key += ',' + base::hexadecimal_text(factor);
    }
  };
  add_factors('l', problem.load);
  add_factors('L', problem.store);
  return key;
}

}  // namespace ridge::fft
