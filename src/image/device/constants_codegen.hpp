// Literals and constant tables in kernel text.
#pragma once
#include <string>
#include <vector>

namespace ridge::image::on_device {

std::string literal(double value);  // a float literal
std::string float_table(const char* name, const std::vector<double>& values);

}  // namespace ridge::image::on_device
