// Text of a kernel's launch in the host program: tests, arguments, grid, scratch memory, and strips of arrays that do
// not fit.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "place/emit/kernel.hpp"
#include "place/emit/reduction_text.hpp"

namespace ridge::place::emit {

// Arguments and tests of a launch.
struct Launch {
  std::vector<std::string> counts{};     // declarations of the arrays' lengths
  std::vector<std::string> ranges{};     // of the arrays in memory
  std::vector<std::string> arguments{};  // of the kernel
  std::vector<std::string> lengths{};    // arguments of tiled arrays
  std::vector<std::string> tests{};
  std::string room{};  // test that the arrays fit into the device's memory
};

struct LaunchWriter {
  std::string session;                                              // name of the session's variable
  std::function<std::string(const std::string& name)> kernel_name;  // how the program refers to a kernel
  std::function<bool(const Variable& number)> may_be_on_device;     // another kernel may have written the number
  bool any_there = false;                                           // data may be on the device at this point

  // Text up to the end of the branch that launches the kernel, or its strips; the closing brace follows. `done` ends
  // the branch before another one.
  std::string if_possible(const Kernel& k, const Nest& nest, const std::string& pad, const std::string& done) const;

 private:
  std::string strips_text(const Kernel& k, const Nest& nest, const std::string& condition,
                          std::vector<std::string> loops_run, const std::string& pad) const;
  void add_array(const KernelArray& a, const Kernel& k, const Nest& nest, Launch& made) const;
  void add_tests(const Kernel& k, const Nest& nest, const std::vector<Held>& numbers,
                 const std::vector<std::string>& loops_run, Launch& made) const;
  std::string fetched_numbers(const std::vector<Held>& numbers, const Nest& nest, const std::string& pad) const;
  std::string grid_text(const Kernel& k, const Nest& nest, const std::vector<std::string>& loops_run) const;
  std::string scratch_text(const Kernel& k, const Nest& nest, const std::string& in,
                           std::vector<std::string>& arguments) const;
};

}  // namespace ridge::place::emit
