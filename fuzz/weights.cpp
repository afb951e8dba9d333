// Fuzz target: weights of filter banks.
#include "support.hpp"

#include "cli/channelize/files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    cli::PrototypeOptions options;
    options.channels = 4;
    options.taps = 2;
    options.weights = file.name();
    if (cli::prototype_for(options).size() != 8) std::abort();
  });
}
