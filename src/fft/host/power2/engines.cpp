// The engines of tangent-form and shear-form lines: the Highway engine with other lines.
#include "fft/host/power2/engines.hpp"

#include <string>

namespace ridge::fft::power2 {

template <class T>
const Engine<T>* tangent_engine() {
  static const std::string name = std::string(simd_engine<T>().name) + "/tangent";
  static const Engine<T> engine = [] {
    Engine<T> same = simd_engine<T>();
    same.name = name.c_str();
    same.lines = tangent_lines<T>();
    same.leaf = 128 * 1024 / (2 * sizeof(T));
    same.wide_levels = true;
    return same;
  }();
  return engine.lines.count == 0 ? nullptr : &engine;
}

template const Engine<float>* tangent_engine();
template const Engine<double>* tangent_engine();

#if defined(__aarch64__)
const Engine<float>& shear_engine() {
  static const Engine<float> engine = [] {
    Engine<float> same = simd_engine<float>();
    same.name = "neon/shear";
    same.lines = shear_lines();
    return same;
  }();
  return engine;
}
#endif

}  // namespace ridge::fft::power2
