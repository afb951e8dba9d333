// Fuzz target: wisdom files.
#include "support.hpp"

#include "plan/wisdom_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  fuzz::attempt([&] {
    std::size_t skipped = 0;
    const auto entries = wisdom::from_json(base::parse_json(fuzz::text_of(data, size), wisdom::kBounds), skipped);
    const auto again = wisdom::from_json(base::parse_json(wisdom::to_text(entries), wisdom::kBounds), skipped);
    if (skipped != 0 || again.size() != entries.size()) std::abort();
  });
  return fuzz::attempt([&] {
    wisdom::import_text(fuzz::text_of(data, size));
    wisdom::forget_in_memory();
  });
}
