// VTK's ImageData (.vti) and the list of a time series (.pvd), as ParaView opens them. Values stand at the centres of
// cells.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "io/grid_source.hpp"

namespace ridge::io {

enum class VtkEncoding {
  raw,     // the numbers as they are after the XML: smallest and fastest
  base64,  // every byte of the file is text of an XML document
};

// Atomic: the file appears when it is whole.
void write_vti(const std::filesystem::path& path, const GridSource& source, VtkEncoding encoding = VtkEncoding::raw);

// heat.pvd and heat_000000.vti, heat_000100.vti, … beside it. The list is rewritten atomically after each grid, so it
// can be opened at any moment of a run and names whole files only.
class VtkSeries {
 public:
  // With `resume_from`, grids of the list on disk up to that step are kept and later ones dropped from it; else the
  // list starts empty. Error{io} for a list that is not one of ours.
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
