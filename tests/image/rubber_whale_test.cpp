// Tests the flow on Middlebury's RubberWhale against its ground truth; skipped if the data are not beside the
// repository.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <ridge/image.hpp>

#include "support/devices.hpp"
#include "support/scratch.hpp"

namespace ridge::image {
namespace {

TEST(RubberWhale, ErrorsAreThoseOfTheReference) {
  namespace fs = std::filesystem;
  fs::path folder;
  for (fs::path at = fs::path(__FILE__).parent_path(); at.has_relative_path(); at = at.parent_path()) {
    if (fs::exists(at / "shared/data/optical-flow/RubberWhale.flo")) folder = at / "shared/data/optical-flow";
  }
  if (folder.empty()) GTEST_SKIP() << "no shared/data/optical-flow above the repository";
  const test::ScopedEnvironment truth_is_enough("RIDGE_VERIFY", "0");  // the plain loops take seconds at this size
  const Image first = read((folder / "RubberWhale1.png").string()),
              second = read((folder / "RubberWhale2.png").string()),
              truth = read_flow((folder / "RubberWhale.flo").string());
  std::vector<Device> devices{host()};
  if (std::getenv("RIDGE_SLOW") != nullptr) {  // PoCL takes a minute for the kernels
    for (const Device& device : test::accelerators()) devices.push_back(device);
  }
  for (const Selection selection : {Selection::aligned, Selection::scan_order}) {
    Image host_flow;
    for (const Device& device : devices) {
      SCOPED_TRACE(device.id() + (selection == Selection::aligned ? " aligned" : " in scan order"));
      FlowProblem problem;
      problem.rows = first.rows();
      problem.columns = first.columns();
      problem.channels = first.channels();
      problem.parameters.selection = selection;
      const FlowPlan plan(device, problem, {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
      Image flow(truth.shape());
      plan.run(first, second, flow);
      const FlowErrors errors = compare_flow(flow, truth);
      EXPECT_EQ(errors.known, 222970u);
      EXPECT_NEAR(errors.rmse, 0.3647, 0.001);
      EXPECT_NEAR(errors.mean, 0.2619, 0.001);
      if (!host_flow) host_flow = flow;
      std::size_t apart = 0;
      for (std::size_t r = 0; r < flow.rows(); ++r) {
        for (std::size_t c = 0; c < 2 * flow.columns(); c += 2) {
          const float u = flow.row<float>(r)[c] - host_flow.row<float>(r)[c];
          const float v = flow.row<float>(r)[c + 1] - host_flow.row<float>(r)[c + 1];
          if (!(u * u + v * v <= 1e-4f)) ++apart;
        }
      }
      EXPECT_LT(static_cast<double>(apart), 0.001 * static_cast<double>(flow.rows() * flow.columns()));
    }
  }
}

}  // namespace
}  // namespace ridge::image
