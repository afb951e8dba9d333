// Plans for computing several stages on a tile in one kernel.
#pragma once
#include "image/methods/device/stages.hpp"

namespace ridge::image::on_device {

// Stage results are kept in local memory, or recomputed where they are read (`keep` false).
struct TileDesign {
  int rows = 32, columns = 32;
  bool keep = true;
};

// Cost and refusal of computing these stages in one launch.
StepPlan tile_plan(const Device& device, const Chain& chain, const std::vector<TileStage>& stages,
                   const TileDesign& design);
// Stages of all operations; false if one has no stages.
bool stages_of(const Chain& chain, const std::vector<Operation>& operations, const Shape& in,
               std::vector<TileStage>& stages);

}  // namespace ridge::image::on_device
