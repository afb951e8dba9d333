// Fuzz target: compile_commands.json, searched for a file that the seeds name.
#include "support.hpp"

#include "cli/place/compile_flags.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] { cli::compile_flags(file.name(), "/dev/null"); });
}
