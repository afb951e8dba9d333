// Writes VTK ImageData (.vti) and time series (.pvd) for ParaView. Values are at cell centres.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "io/arrays/grid_source.hpp"

namespace ridge::io {

enum class VtkEncoding {
  raw,     // binary after the XML: smallest and fastest
  base64,  // the whole file is valid XML text
};

// Atomic: the file appears when complete.
void write_vti(const std::filesystem::path& path, const GridSource& source, VtkEncoding encoding = VtkEncoding::raw);

// Writes heat.pvd, and heat_000000.vti, heat_000100.vti, … beside it. The list is rewritten atomically after each grid,
// so it can be opened during a run and names complete files only.
class VtkSeries {
 public:
  // With `resume_from`, keeps the grids of the list on disk up to that step and drops later ones; else the list starts
  // empty. Throws Error{io} for a list not written by this class.
  explicit VtkSeries(std::filesystem::path list, VtkEncoding encoding = VtkEncoding::raw);
  VtkSeries(std::filesystem::path list, std::size_t resume_from, VtkEncoding encoding = VtkEncoding::raw);

  void add(std::size_t step, double time, const GridSource& source);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::size_t step;
    double time;
    std::string file;
  };
  void write_list() const;

  std::filesystem::path list_;
  VtkEncoding encoding_;
  std::vector<Entry> entries_;
};

}  // namespace ridge::io
