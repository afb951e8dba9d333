// Stages done on a tile by one kernel.
#pragma once
#include "image/operators/device/stages.hpp"

namespace ridge::image::on_device {

// Kept in local memory between stages, or each computed from the one before where it is read (`keep` false).
struct TileDesign {
  int rows = 32, columns = 32;
  bool keep = true;
};

// Cost and refusal of doing these stages in one launch.
StepPlan tile_plan(const Device& device, const Chain& chain, const std::vector<TileStage>& stages,
                   const TileDesign& design);
// All of the operations; false where one has no stages.
bool stages_of(const Chain& chain, const std::vector<Operation>& operations, const Shape& in,
               std::vector<TileStage>& stages);

}  // namespace ridge::image::on_device
