// One file that several processes read or write at their own offsets.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

#include "base/temporaries.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::mpi {

template <class Element>
constexpr io::ElementType element_type_of() {
  if constexpr (std::is_same_v<Element, float>) return io::ElementType::float32;
  if constexpr (std::is_same_v<Element, double>) return io::ElementType::float64;
  if constexpr (std::is_same_v<Element, std::complex<float>>) return io::ElementType::complex64;
  if constexpr (std::is_same_v<Element, std::complex<double>>) return io::ElementType::complex128;
  if constexpr (std::is_same_v<Element, std::int32_t>) return io::ElementType::int32;
  return io::ElementType::uint8;
}

class SharedInput {
 public:
  explicit SharedInput(const std::string& path);  // Error{io}
  ~SharedInput();
  SharedInput(const SharedInput&) = delete;
  SharedInput& operator=(const SharedInput&) = delete;
  void read(std::uint64_t at, void* to, std::size_t bytes) const;  // Error{io} if the file ends before
  // Reads a box of a grid whose first point is at byte `at`.
  void read(std::uint64_t at, const Shape& shape, const Box& box, std::size_t element, void* to) const;

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Created, written and committed collectively. Has a temporary name until then; a process ended by a signal removes it.
class SharedOutput {
 public:
  SharedOutput(const Communicator& all, const std::string& path, std::uint64_t bytes);  // reserves the disk space
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;
  void write(std::uint64_t at, const void* from, std::size_t bytes) const;
  void write(std::uint64_t at, const Shape& shape, const Box& box, std::size_t element, const void* from) const;
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void open(bool create, std::uint64_t bytes);
  void give_up();

  Communicator all_;
  std::filesystem::path path_, temporary_;
  base::TemporaryName known_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace ridge::mpi
