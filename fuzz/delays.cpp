// Fuzz target: delay files of `ridge channelize`.
#include "support.hpp"

#include "cli/channelize/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    for (const auto& point : cli::read_delays(file.name(), 3)) {
      if (point.delays.size() != 3) std::abort();
    }
  });
}
