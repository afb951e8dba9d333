// Tests of the error limits of plans (RIDGE_VERIFY) and of `ridge check image`: a correct result passes, and a
// deviation of ten times the limit is detected. The limits are repeated here, so that a looser one fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <ridge/image.hpp>

#include "check/check.hpp"
#include "image/work.hpp"
#include "support/devices.hpp"

namespace ridge::image {
namespace {

// Result of the first host variant on a work's own data.
Image right_answer(const Work& work, const std::vector<Image>& in) {
  Image out(work.output);
  for (const Entry& entry : work.entries) {
    if (!entry.candidate.refusal.empty()) continue;
    entry.build()->run(in, out);
    return out;
  }
  ADD_FAILURE() << "no variant";
  return out;
}

double mean_square_of(const Image& image) {
  double sum = 0;
  for (std::size_t r = 0; r < image.rows(); ++r) {
    for (std::size_t i = 0; i < image.columns() * image.channels(); ++i) {
      const double value = image.depth() == Depth::u8    ? image.row<std::uint8_t>(r)[i]
                           : image.depth() == Depth::u16 ? image.row<std::uint16_t>(r)[i]
                                                         : double{image.row<float>(r)[i]};
      sum += value * value;
    }
  }
  return sum / static_cast<double>(image.rows() * image.columns() * image.channels());
}

// Changes a value without leaving the depth's range.
template <class T>
void shift(Image& image, std::size_t row, std::size_t i, int by) {
  T& value = image.row<T>(row)[i];
  value = static_cast<T>(value > std::numeric_limits<T>::max() / 2 ? value - by : value + by);
}

// Integers may deviate by one per operator of the chain, floats by 2e-5 of the root mean square.
TEST(ImageGates, operators) {
  for (const char* chain : {"gauss 1.5", "gauss 1.5 | box 3"}) {
    for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
      const OperatorProblem problem{.input = {30, 40, 1, depth}, .chain = parse_chain(chain)};
      const Work work = work_of(host(), problem);
      const std::vector<Image> in = work.data();
      Image answer = right_answer(work, in);
      EXPECT_TRUE(work.judge(in, answer).right()) << chain;
      const int ten_times = 10 * static_cast<int>(problem.chain.size());
      if (depth == Depth::u8) shift<std::uint8_t>(answer, 17, 23, ten_times);
      if (depth == Depth::u16) shift<std::uint16_t>(answer, 17, 23, ten_times);
      if (depth == Depth::f32)
        answer.row<float>(17)[23] += static_cast<float>(10 * 2e-5 * std::sqrt(mean_square_of(answer)));
      EXPECT_FALSE(work.judge(in, answer).right()) << chain << " " << to_string(depth);
      if (depth != Depth::f32) continue;
      answer.row<float>(17)[23] = NAN;
      EXPECT_FALSE(work.judge(in, answer).right());
    }
  }
}

class ImageGatesOnDevices : public ridge::test::NeedsAccelerator<> {};

// Rows between those compared with the reference have twice the tolerance, against the host's result.
TEST_F(ImageGatesOnDevices, rows_between) {
  for (const Depth depth : {Depth::u8, Depth::f32}) {
    const OperatorProblem problem{.input = {500, 640, 1, depth}, .chain = {Gauss{1.5}}};
    const std::vector<Image> in = work_of(host(), problem).data();
    Image answer = right_answer(work_of(host(), problem), in);
    const Work work = work_of(ridge::test::accelerators().front(), problem);
    EXPECT_TRUE(work.judge(in, answer).right());
    for (const std::size_t row : {100, 101}) {  // not both are sampled
      Image spoilt = answer.clone();
      if (depth == Depth::u8) shift<std::uint8_t>(spoilt, row, 23, 20);
      if (depth == Depth::f32)
        spoilt.row<float>(row)[23] += static_cast<float>(10 * 4e-5 * std::sqrt(mean_square_of(answer)));
      EXPECT_FALSE(work.judge(in, spoilt).right()) << to_string(depth) << " row " << row;
      if (depth != Depth::f32) continue;
      spoilt.row<float>(row)[23] = NAN;
      EXPECT_FALSE(work.judge(in, spoilt).right()) << "NaN in row " << row;
    }
  }
}

// Limits in units of the variance plus a share of the mean square.
TEST(ImageGates, variances) {
  struct Limit {
    VarianceMethod method;
    Depth depth;
    double allowed, of_squares;
  };
  const double root = 9;  // square root of the number of window cells
  for (const Limit& limit :
       {Limit{VarianceMethod::koenig, Depth::f32, 1e-6 + 2.4e-6 * root, 0.3},
        Limit{VarianceMethod::two_pass, Depth::f32, 1e-6 + 2.4e-6 * root, 0.3},
        Limit{VarianceMethod::online, Depth::f32, 1e-6 + 2.4e-6 * root, 0.3},
        Limit{VarianceMethod::pairwise, Depth::f32, 1e-6 + 3e-7 * root, 0.05},
        Limit{VarianceMethod::three_wise, Depth::f32, 1e-6 + 3e-7 * root, 0.05},
        Limit{VarianceMethod::best, Depth::f32, 1e-5, 1e-6}, Limit{VarianceMethod::exact, Depth::u8, 1e-6, 1e-6},
        Limit{VarianceMethod::best, Depth::u16, 1e-6, 1e-6}}) {
    const VarianceProblem problem{
        .rows = 35, .columns = 38, .depth = limit.depth, .method = limit.method, .window_rows = 9, .window_columns = 9};
    const Work work = work_of(host(), problem);
    const std::vector<Image> in = work.data();
    Image answer = right_answer(work, in);
    EXPECT_TRUE(work.judge(in, answer).right()) << to_string(limit.method);
    float& value = answer.row<float>(20)[37];
    const double unit = double{value} + limit.of_squares * mean_square_of(in[0]);
    value += static_cast<float>(10 * limit.allowed * unit);
    EXPECT_FALSE(work.judge(in, answer).right()) << to_string(limit.method) << " " << to_string(limit.depth);
  }
}

// One vector in a thousand may deviate by more than 0.04 pixels.
TEST(ImageGates, flows) {
  const FlowProblem problem{.rows = 60, .columns = 80};
  const Work work = work_of(host(), problem);
  const std::vector<Image> in = work.data();
  Image answer = right_answer(work, in);
  EXPECT_TRUE(work.judge(in, answer).right());
  for (std::size_t i = 0; i < 48; ++i) answer.row<float>(i)[2 * i] += 0.4f;  // of 4800
  EXPECT_FALSE(work.judge(in, answer).right());
}

// --- ridge check image -----------------------------------------------------------------------------------------------

// Error limit of a problem given as text; 0 if it is not tested here.
double allowed_by(const std::string& problem, Depth& depth) {
  const std::size_t chain = static_cast<std::size_t>(std::count(problem.begin(), problem.end(), '|'));
  const auto has = [&](const char* word) { return problem.find(word) != std::string::npos; };
  const Depth in = has("8-bit") ? Depth::u8 : has("16-bit") ? Depth::u16 : Depth::f32;
  if (has("pyramid 2") || (chain > 0 && has("integral"))) return 0;
  const double unit = in == Depth::u16 ? 0.1 : 4e-3;
  depth = in;
  if (has("integral")) {
    depth = in == Depth::u8 ? Depth::u32 : Depth::f64;
    return in == Depth::u8 ? 0.1 : unit;
  }
  if (has("gradient")) depth = Depth::f32;
  const double each = in == Depth::f32 ? unit : 2.5;
  return (depth == Depth::f32 ? unit : 0.5 + std::max(unit, 0.016)) + static_cast<double>(chain) * each;
}

TEST(ImageCheck, operators_off_by_ten_times_what_is_allowed) {
  int spoilt[5] = {};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    check::Draw draw{host(), check::Random(seed), 400};
    Depth depth{};
    draw.tamper = [&](std::span<std::byte> answer) {
      if (draw.problem.find("operators") != 0) return;
      const double by = 10 * allowed_by(draw.problem, depth);
      if (by == 0) return;
      const auto change = [&]<class T>(T) {  // the first pixel
        T value{};
        std::memcpy(&value, answer.data(), sizeof value);
        if (std::is_integral_v<T>) {
          const double top = static_cast<double>(std::numeric_limits<T>::max());
          if (by > top / 2) return;
          value = static_cast<T>(static_cast<double>(value) > top / 2 ? static_cast<double>(value) - std::ceil(by)
                                                                      : static_cast<double>(value) + std::ceil(by));
        } else {
          value += static_cast<T>(by * std::max(1.0, 1e-6 * std::abs(static_cast<double>(value))));
        }
        std::memcpy(answer.data(), &value, sizeof value);
        ++spoilt[static_cast<int>(depth)];
      };
      if (depth == Depth::u8) change(std::uint8_t{});
      if (depth == Depth::u16) change(std::uint16_t{});
      if (depth == Depth::f32) change(float{});
      if (depth == Depth::u32) change(std::uint32_t{});
      if (depth == Depth::f64) change(double{});
    };
    const int before = spoilt[0] + spoilt[1] + spoilt[2] + spoilt[3] + spoilt[4];
    std::string wrong;
    try {
      wrong = check::check_image(draw).wrong;
    } catch (const Error&) {
      continue;  // refused
    }
    const bool changed = spoilt[0] + spoilt[1] + spoilt[2] + spoilt[3] + spoilt[4] > before;
    EXPECT_EQ(wrong.empty(), !changed) << seed << ": " << draw.problem << ": " << wrong;
  }
  for (const int depth : {0, 1, 2}) EXPECT_GT(spoilt[depth], 20);
  EXPECT_GT(spoilt[3] + spoilt[4], 3);
}

// The limits are 2e-5 of the squared range for variances and 0.02 pixels for flow vectors.
TEST(ImageCheck, variances_and_flows_off_by_ten_times_what_is_allowed) {
  int variances = 0, flows = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    check::Draw draw{host(), check::Random(seed), 900};
    bool spoilt = false;
    draw.tamper = [&](std::span<std::byte> answer) {
      const bool flow = draw.problem.find("flow") == 0;
      if (!flow && draw.problem.find("variance") != 0) return;
      const double range = draw.problem.find("16-bit") != std::string::npos ? 65535 : 256;
      const float by = static_cast<float>(flow ? 0.2 : 10 * 2e-5 * range * range);
      for (std::size_t at = 0; at + sizeof(float) <= answer.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, answer.data() + at, sizeof value);
        value += by;
        std::memcpy(answer.data() + at, &value, sizeof value);
      }
      spoilt = true;
      flow ? ++flows : ++variances;
    };
    const std::string wrong = check::check_image(draw).wrong;
    EXPECT_EQ(wrong.empty(), !spoilt) << seed << ": " << draw.problem << ": " << wrong;
  }
  EXPECT_GT(variances, 10);
  EXPECT_GT(flows, 5);
}

}  // namespace
}  // namespace ridge::image
