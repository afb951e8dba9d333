// Random numbers, places and errors of boxes.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

template <class T>
std::vector<std::complex<T>> box_noise(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<std::complex<T>> values(count);
  for (auto& value : values) value = {uniform(random), uniform(random)};
  return values;
}

// Offsets of the points of a box in the packed whole, for one transform.
inline std::vector<std::size_t> places(const std::vector<std::size_t>& shape, const Box& box) {
  std::vector<std::size_t> found{0};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::vector<std::size_t> next;
    for (const std::size_t before : found) {
      for (std::size_t p = 0; p < (box.count.empty() ? shape[i] : box.count[i]); ++p) {
        next.push_back(before * shape[i] + (p + (box.first.empty() ? 0 : box.first[i])) % shape[i]);
      }
    }
    found = next;
  }
  return found;
}

template <class Value>
double distance(const std::vector<Value>& got, const std::vector<std::complex<double>>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return std::sqrt(difference / norm);
}

inline const planner::Options kBoxQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

}  // namespace ridge::fft
