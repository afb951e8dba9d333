#include "support.hpp"

#include <filesystem>
#include <fstream>

#include "io/vtk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "ridge-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return std::filesystem::path(name);
  }();
  const auto list = folder / "run.pvd";
  std::ofstream(list, std::ios::binary | std::ios::trunc) << fuzz::text_of(data, size);
  return fuzz::attempt([&] { const io::VtkSeries series(list, std::size_t{1000}); });
}
