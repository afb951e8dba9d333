// Output files of a stencil run: grids for ParaView, arrays, pictures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/stencil/run.hpp"
#include "io/arrays/grid_source.hpp"
#include "io/arrays/vtk.hpp"

namespace ridge::cli {

// The views of a state in the form that the writers need; `read` must outlive it.
template <class T>
io::GridSource views_of(const stencil::Scenario<T>& scenario, const stencil::SlabReader<T>& read);
// The state itself, for checkpoints.
template <class T>
io::GridSource state_of(const stencil::Scenario<T>& scenario, const stencil::SlabReader<T>& read);

class Outputs {
 public:
  // `resumed_from`: the step from which a series continues.
  Outputs(const RunOptions& options, std::string title, std::string colours, std::optional<double> low,
          std::optional<double> high, bool y_up, bool image, std::optional<std::size_t> resumed_from);
  // Writes at every `every`-th step and at the last one.
  void frame(std::size_t step, double time, bool last, const io::GridSource& views);
  const std::vector<std::string>& written() const { return written_; }  // one line per file, for the report

 private:
  void picture(const std::string& file, std::size_t step, double time, const io::GridSource& views);
  void note(const std::string& line);

  const RunOptions& options_;
  std::string title_, colours_;
  std::optional<double> low_, high_;
  bool y_up_, image_;
  std::vector<io::VtkSeries> series_;
  std::vector<std::string> written_;
  std::size_t frames_ = 0;
};

void write_npy(const std::string& file, const io::GridSource& views);

}  // namespace ridge::cli
