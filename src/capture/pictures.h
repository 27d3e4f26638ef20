// The bounds of what only a picture shows: histograms, maps and the tree of modules.
//
// They are large beside the rest of a finding, so they have bounds of their own: 64 bins,
// 48 x 48 cells, 4,096 modules, and 256 kB together in one finding.
#pragma once

#include <cstddef>

#include "records/finding.h"

namespace nanscope {

inline constexpr std::size_t kMostPictureBytes = 256u << 10;

// Takes away what is above the bounds: maps of the later tensors first, then the last modules,
// which are counted.
void keep_pictures_within_bounds(Finding& finding);

// What is wrong with a record that was read; null if nothing is.
[[nodiscard]] const char* problem_of(const ExponentHistogram& histogram) noexcept;
[[nodiscard]] const char* problem_of(const BadMap& map) noexcept;
[[nodiscard]] const char* problem_of(const Finding& finding) noexcept;
[[nodiscard]] inline const char* problem_of(const auto&) noexcept { return nullptr; }

}  // namespace nanscope
