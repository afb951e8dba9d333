// Fuzz target: machine profiles.
#include "support.hpp"

#include <ridge/machine.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const machine::Profile profile = machine::from_json(std::string(fuzz::text_of(data, size)));
    machine::from_json(machine::to_json(profile));  // a parsed profile can be written and parsed again
  });
}
