// SimpleFlow in plain sequential C++, written for clarity. Every stage is a function over arrays with explicit sizes,
// which a loop compiler can analyze.
#pragma once
#include <vector>

namespace sequential {

struct FlowSettings {
  int layers = 3, averaging_radius = 2, max_flow = 4;
  float sigma_dist = 4.1f, sigma_color = 25.5f;
  int postprocess_window = 18;
  float sigma_dist_fix = 55.0f, sigma_color_fix = 25.5f, occlusion_threshold = 0.35f;
  int upscale_averaging_radius = 18;
  float upscale_sigma_dist = 55.0f, upscale_sigma_color = 25.5f, speed_up_threshold = 10.0f;
};

// Images: rows x columns x 3, values 0 to 255. u: down, v: to the right, in pixels.
void simple_flow(const std::vector<float>& first, const std::vector<float>& second, int rows, int columns,
                 const FlowSettings& settings, std::vector<float>& u, std::vector<float>& v);

// The stages.
void halve(const float* in, int rows, int columns, float* out);  // to (rows + 1) / 2 x (columns + 1) / 2
void pad_colors(const float* in, int rows, int columns, int by, float* out);
void search(const float* from, const float* to, const int* mask, int rows, int columns, int radius, int reach,
            float sigma_dist, float sigma_color, float* u, float* v);  // from and to are padded by the radius
void occlusions(const float* u, const float* v, const float* back_u, const float* back_v, int cells, float threshold,
                float* seen);
void cross_bilateral(const float* guide, const float* seen, const float* in, int rows, int columns, int radius,
                     float sigma_dist, float sigma_color, float* out);
void upscale(const float* in, int rows, int columns, float* out);  // rows and columns of the result
void irregularity(const float* u, const float* v, int rows, int columns, int radius, float* most);
void select_points(const float* most, float threshold, const int* level, int rows, int columns, int fine_rows,
                   int fine_columns, int* mask, int* fine_level);
void extrapolate(const int* level, int rows, int columns, float* flow);
void gauss3(const float* in, int rows, int columns, float* out);

}  // namespace sequential
