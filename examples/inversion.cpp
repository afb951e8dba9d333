// Full-waveform inversion of a small model: finds the velocities that explain recorded traces, starting from a smooth
// guess. Writes the true, first and found models as pictures (model_*.pgm) if a folder is given.
//
//   example_inversion [FOLDER]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <ridge/stencil/minimize.hpp>
#include <ridge/stencil/survey.hpp>

using namespace ridge::stencil;

namespace {

constexpr std::size_t kDepth = 44, kWidth = 64, kSteps = 300;

std::vector<double> model(bool with_bodies) {
  std::vector<double> velocity;
  for (std::size_t y = 0; y < kDepth; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const double fast = std::hypot(static_cast<double>(y) - 20, static_cast<double>(x) - 22) < 6 ? 150 : 0;
      const double slow = std::hypot(static_cast<double>(y) - 26, static_cast<double>(x) - 44) < 6 ? -150 : 0;
      velocity.push_back(1600 + 6 * static_cast<double>(y) + (with_bodies ? fast + slow : 0));
    }
  }
  return velocity;
}

void write_picture(const std::string& file, const std::vector<double>& velocity) {
  std::ofstream out(file, std::ios::binary);
  out << "P5\n" << kWidth << " " << kDepth << "\n255\n";
  for (const double value : velocity) out.put(static_cast<char>(std::fmin(255, std::fmax(0, (value - 1400) * 0.4))));
}

double error_of(const std::vector<double>& found, const std::vector<double>& wanted) {
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) sum += std::pow(found[i] - wanted[i], 2);
  return std::sqrt(sum / static_cast<double>(found.size()));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<double> truth = model(true), start = model(false);
  SurveyMedium medium{.shape = {kDepth, kWidth}, .velocity = truth, .spacing = 10, .dt = 2.5e-3, .frequency = 9};
  const Survey<float> survey(ridge::host(), medium, {.effort = ridge::Effort::quick});

  // Four shots at the surface; receivers on all sides of the model.
  std::vector<double> receivers;
  for (std::size_t x = 2; x < kWidth - 2; x += 2)
    for (const double y : {2.0, static_cast<double>(kDepth - 3)})
      receivers.insert(receivers.end(), {y, static_cast<double>(x) + 0.5});
  for (std::size_t y = 4; y < kDepth - 4; y += 2)
    for (const double x : {2.0, static_cast<double>(kWidth - 3)})
      receivers.insert(receivers.end(), {static_cast<double>(y) + 0.5, x});
  std::vector<Shot> shots;
  std::vector<std::vector<float>> observed;
  for (const double x : {8.0, 24.5, 40.5, 56.0}) {
    shots.push_back({.sources = {2.5, x}, .wavelets = survey.ricker(kSteps), .receivers = receivers});
    observed.push_back(survey.record(shots.back(), kSteps));
  }

  const Objective misfit = [&](const std::vector<double>& velocity, std::vector<double>& gradient) {
    const Survey<float> trial = survey.with_velocity(velocity);
    double sum = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (std::size_t k = 0; k < shots.size(); ++k) {
      const Gradient one = trial.gradient(shots[k], kSteps, observed[k]);
      sum += one.misfit;
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += one.velocity[i];
    }
    return sum;
  };
  const Minimum found = minimize(misfit, start, {.iterations = 8, .low = 1400, .high = 2040, .first_step = 30});

  for (std::size_t i = 0; i < found.values.size(); ++i) std::printf("iteration %zu: misfit %.4g\n", i, found.values[i]);
  const double before = error_of(start, truth), after = error_of(found.x, truth);
  std::printf("%zu gradients of %zu shots; error of the model %.1f before, %.1f after\n", found.evaluations,
              shots.size(), before, after);
  if (count > 1) {
    const std::string folder = arguments[1];
    write_picture(folder + "/model_true.pgm", truth);
    write_picture(folder + "/model_start.pgm", start);
    write_picture(folder + "/model_found.pgm", found.x);
  }
  if (!(found.values.back() < 0.2 * found.values.front()) || !(after < 0.8 * before)) return 1;
  std::printf("the inversion explains the traces\n");
}
