// State of a Beamformer.
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <ridge/search/beams.hpp>

#include "search/device/rounded_beams.hpp"
#include "search/host/rows.hpp"

namespace ridge::search {

[[noreturn]] void refuse_beams(const std::string& message);

struct BeamState {
  using Value = std::complex<float>;
  BeamState(const Device& on, const BeamProblem& given) : device(on), problem(given) {}
  Device device;
  BeamProblem problem;
  std::vector<Value> weights{};        // channels x beams x stations, rounded
  float weight_scale = 1;              // they were multiplied by it
  std::vector<ByteFactors> factors{};  // int8 on the host: the weights of pairs of stations
  std::optional<Queue> queue{};
  Kernel kernel{};
  Buffer in{}, out{}, table{};
  std::unique_ptr<RoundedBeams> on_device{};  // float16 and int8 on a device
  std::mutex mutex{};

  std::size_t rows() const { return problem.beams + (problem.incoherent ? 1 : 0); }
  std::size_t bins() const { return problem.times / problem.integrate; }
  std::size_t input() const { return problem.channels * problem.times * problem.stations; }
  std::size_t output() const { return problem.channels * rows() * bins(); }
  void set_byte_factors();
  void power_on_host(const Value* from, float* to) const;
  void bytes_on_host(const std::int8_t* from, float* to) const;
  void voltages_on_host(const Value* from, Value* to) const;
  void power_on_device(const Value* from, float* to);
  void bytes_on_device(const std::int8_t* from, float* to);
  RoundedBeams& rounded_beams();  // created by the first call
};

}  // namespace ridge::search
