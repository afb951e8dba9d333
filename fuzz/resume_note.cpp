#include "support.hpp"

#include <filesystem>
#include <fstream>

#include "io/resume_note.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "ridge-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    std::ofstream(std::filesystem::path(name) / "out.raw") << "twenty bytes of data";
    return std::filesystem::path(name);
  }();
  std::ofstream(folder / "out.raw.resume", std::ios::binary | std::ios::trunc) << fuzz::text_of(data, size);
  return fuzz::attempt([&] { const io::ResumeNote note(folder / "out.raw", "numbers"); });
}
