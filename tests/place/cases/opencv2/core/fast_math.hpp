// Replacement for OpenCV's rounding functions: `ridge place` recognizes them by the name of the header.
#pragma once
#include <cmath>

inline int cvRound(float x) { return static_cast<int>(std::lrint(x)); }
inline int cvRound(double x) { return static_cast<int>(std::lrint(x)); }
