// The listers of all variants; their table is in registry.cpp.
#pragma once
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
void list_host_base(const Device& device, const Update<T>& update, const Layout& layout,
                    std::vector<Entry<T>>& entries);
template <class T>
void list_host_register_blocked(const Device& device, const Update<T>& update, const Layout& layout,
                                std::vector<Entry<T>>& entries);
template <class T>
void list_host_cache_blocked(const Device& device, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries);
template <class T>
void list_host_streaming(const Device& device, const Update<T>& update, const Layout& layout,
                         std::vector<Entry<T>>& entries);
template <class T>
void list_host_in_place(const Device& device, const Update<T>& update, const Layout& layout,
                        std::vector<Entry<T>>& entries);
template <class T>
void list_host_dlt(const Device& device, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries);
template <class T>
void list_host_overlapped_tiles(const Device& device, const Update<T>& update, const Layout& layout,
                                std::vector<Entry<T>>& entries);

template <class T>
void list_device_cells(const Device& device, const Update<T>& update, const Layout& layout,
                       std::vector<Entry<T>>& entries);
template <class T>
void list_device_tiles(const Device& device, const Update<T>& update, const Layout& layout,
                       std::vector<Entry<T>>& entries);
template <class T>
void list_device_plane_march(const Device& device, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries);
template <class T>
void list_device_system_rows(const Device& device, const Update<T>& update, const Layout& layout,
                             std::vector<Entry<T>>& entries);
template <class T>
void list_device_system_planes(const Device& device, const Update<T>& update, const Layout& layout,
                               std::vector<Entry<T>>& entries);
template <class T>
void list_device_row_march(const Device& device, const Update<T>& update, const Layout& layout,
                           std::vector<Entry<T>>& entries);

}  // namespace ridge::stencil
