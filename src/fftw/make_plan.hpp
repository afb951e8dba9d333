// Common path of all planners of FFTW's interface: checks shapes, fills in strides and builds one tensor problem.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fftw/plan.hpp"

namespace ridge::fftw {

// As in FFTW's header; its layout is part of the interface.
struct IoDim {
  int n, is, os;
};
struct IoDim64 {
  std::ptrdiff_t n, is, os;
};

// The planner flags that have an effect here.
inline constexpr unsigned kExhaustive = 1U << 3, kPatient = 1U << 5, kEstimate = 1U << 6, kWisdomOnly = 1U << 21;

// Converts FFTW's number of an r2r kind: R2HC 0, HC2R 1, DHT 2, REDFT00 3, REDFT01 4, REDFT10 5, REDFT11 6, RODFT00 7,
// ...
bool real_kind(int number, fft::RealKind& kind);

// One planning request of any interface. `valid` becomes false at the first invalid argument; the planner then returns
// NULL.
struct Request {
  fft::TensorProblem problem;
  bool valid = true;

  void axis(std::ptrdiff_t n, std::ptrdiff_t input, std::ptrdiff_t output);
  void loop(std::ptrdiff_t n, std::ptrdiff_t input, std::ptrdiff_t output);
  void kinds(int rank, const int* numbers);

  template <class Dim>
  void guru(int rank, const Dim* dims, int loops, const Dim* loop_dims) {
    if (rank < 0 || loops < 0 || rank > kMostRank || loops > kMostRank || (rank > 0 && dims == nullptr) ||
        (loops > 0 && loop_dims == nullptr)) {
      valid = false;
      return;
    }
    for (int i = 0; i < rank; ++i) axis(dims[i].n, dims[i].is, dims[i].os);
    for (int i = 0; i < loops; ++i) loop(loop_dims[i].n, loop_dims[i].is, loop_dims[i].os);
  }

  // One side of the advanced interface. A null `embed` means the shape of that side itself.
  struct Places {
    const int* embed = nullptr;
    int stride = 1, distance = 0;
  };
  void many(int rank, const int* n, int howmany, const Places& input, const Places& output);
  // Fills in the strides of packed arrays, for the basic interface.
  void packed(int rank, const int* n);

  // At most 62 axes have more than one point. The bound keeps an invalid rank from reading far beyond `n`.
  static constexpr int kMostRank = 1000;

 private:
  std::vector<std::ptrdiff_t> steps(int rank, const int* n, const Places& places, bool input);
};

// Returns null where FFTW returns NULL.
template <class T>
Plan<T>* make_plan(const Request& request, const Arrays<T>& arrays, unsigned flags) noexcept;

}  // namespace ridge::fftw
