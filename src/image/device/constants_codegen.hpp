// Constants in the text of kernels.
#pragma once
#include <string>
#include <vector>

namespace ridge::image::on_device {

std::string literal(double value);  // of a float
std::string float_table(const char* name, const std::vector<double>& values);

}  // namespace ridge::image::on_device
