// Converts enumerators to names and back.
#pragma once
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <ridge/image.hpp>

namespace ridge::image {

template <class T, std::size_t kCount>
struct Names {
  const char* what;
  std::array<std::pair<T, const char*>, kCount> entries;

  const char* name(T value) const {
    for (const auto& [each, name] : entries) {
      if (each == value) return name;
    }
    throw Error(ErrorKind::internal, fmt::format("{} without a name", what));
  }
  T value(const std::string& name) const {
    std::string known;
    for (const auto& [each, text] : entries) {
      if (name == text) return each;
      known += known.empty() ? text : fmt::format(", {}", text);
    }
    throw Error(ErrorKind::invalid_argument, fmt::format("unknown {} \"{}\": use one of {}", what, name, known));
  }
};

inline constexpr Names<Border, 5> kBorders{"border",
                                           {{{Border::reflect_101, "reflect-101"},
                                             {Border::reflect, "reflect"},
                                             {Border::replicate, "replicate"},
                                             {Border::constant, "constant"},
                                             {Border::wrap, "wrap"}}}};
inline constexpr Names<VarianceMethod, 7> kVarianceMethods{"method",
                                                           {{{VarianceMethod::best, "best"},
                                                             {VarianceMethod::two_pass, "two-pass"},
                                                             {VarianceMethod::koenig, "koenig"},
                                                             {VarianceMethod::online, "online"},
                                                             {VarianceMethod::pairwise, "pairwise"},
                                                             {VarianceMethod::three_wise, "three-wise"},
                                                             {VarianceMethod::exact, "exact"}}}};
inline constexpr Names<Interpolation, 4> kInterpolations{"interpolation",
                                                         {{{Interpolation::nearest, "nearest"},
                                                           {Interpolation::bilinear, "bilinear"},
                                                           {Interpolation::bicubic, "bicubic"},
                                                           {Interpolation::area, "area"}}}};
inline constexpr Names<Like, 2> kLikes{"convention", {{{Like::ridge, "ridge"}, {Like::opencv, "opencv"}}}};
inline constexpr Names<GradientKind, 3> kGradients{
    "gradient",
    {{{GradientKind::sobel, "sobel"}, {GradientKind::scharr, "scharr"}, {GradientKind::central, "central"}}}};

}  // namespace ridge::image
