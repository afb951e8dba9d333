// The registration contract of every workload: a lister per variant, declared and called in one line of a registry.
//
//   using Lister = planner::Lister<Entry, Layout>;   // src/transpose/variant.hpp
//   Lister list_host_simd; list(list_host_simd);     // src/transpose/registry.cpp
//   void list_host_simd(const Device&, const Layout&, std::vector<Entry>& entries);   // defined in the variant's file
//
// If entries depend on the element type, the variant's file defines one Listers and the registry calls it:
//
//   extern const Listers kHostBase{list_host_base<float>, list_host_base<double>};   // the variant's file
//   extern const Listers kHostBase; list(kHostBase);                                 // src/stencil/registry.cpp
#pragma once
#include <tuple>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::planner {

// Appends the entries of a variant for a problem: one for each set of parameters worth trying, including refused ones.
template <class Entry, class... Problem>
using Lister = void(const Device& device, const Problem&... problem, std::vector<Entry>& entries);

// Listers of one variant for several element types; null for types that the variant does not support.
template <template <class> class ListerOf, class... Types>
class Listers {
 public:
  template <class... Given>
  constexpr explicit Listers(Given*... listers) {
    ((std::get<Given*>(listers_) = listers), ...);
  }
  template <class T>
  constexpr ListerOf<T>* get() const {
    return std::get<ListerOf<T>*>(listers_);
  }

 private:
  std::tuple<ListerOf<Types>*...> listers_{};
};

}  // namespace ridge::planner
