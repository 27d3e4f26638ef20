#include "capture/pictures.h"

#include <algorithm>

namespace nanscope {
namespace {

// An integer takes at most 9 bytes of CBOR, and so does a double; keys and heads are rounded up.
constexpr std::size_t kNumber = 9;
constexpr std::size_t kHistogramKeys = 64;
constexpr std::size_t kMapKeys = 48;
constexpr std::size_t kModuleKeys = 20;

std::size_t size_of(const ExponentHistogram& histogram) {
  return kHistogramKeys + kNumber * histogram.bins.size();
}

std::size_t size_of(const BadMap& map) { return kMapKeys + kNumber * map.cells.size(); }

std::size_t size_of(const ModuleFacts& module) {
  const auto number = [](bool known, std::size_t key) { return known ? key + kNumber : 0; };
  const auto text = [](const std::string& words, std::size_t key) {
    return words.empty() ? 0 : key + 3 + words.size();
  };
  return kModuleKeys + module.path.size() + module.type.size() +
         number(module.activation.has_value(), sizeof "activation") +
         number(module.weight.has_value(), sizeof "weight") +
         number(module.gradient.has_value(), sizeof "gradient") +
         text(module.activation_dtype, sizeof "activation_dtype") +
         text(module.weight_dtype, sizeof "weight_dtype");
}

template <class Picture>
void keep_if_it_fits(std::optional<Picture>& picture, std::size_t& left) {
  if (!picture) return;
  const std::size_t size = size_of(*picture);
  if (size > left || problem_of(*picture) != nullptr)
    picture.reset();
  else
    left -= size;
}

bool has_negative(const std::vector<std::int64_t>& counts) noexcept {
  return std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; });
}

}  // namespace

void keep_pictures_within_bounds(Finding& finding) {
  std::size_t left = kMostPictureBytes;
  for_each_tensor(finding, [&](TensorFacts& tensor) { keep_if_it_fits(tensor.exponents, left); });
  for_each_tensor(finding, [&](TensorFacts& tensor) {
    // Half of the room is for the modules.
    std::size_t room = left > kMostPictureBytes / 2 ? left - kMostPictureBytes / 2 : 0;
    const std::size_t before = room;
    keep_if_it_fits(tensor.bad_map, room);
    left -= before - room;
  });
  std::size_t kept = 0;
  while (kept < finding.modules.size() && kept < ModuleFacts::kMost &&
         size_of(finding.modules[kept]) <= left)
    left -= size_of(finding.modules[kept++]);
  finding.modules_left_out += static_cast<std::int64_t>(finding.modules.size() - kept);
  finding.modules.resize(kept);
}

const char* problem_of(const ExponentHistogram& histogram) noexcept {
  if (histogram.bins.size() > ExponentHistogram::kMostBins) return "has too many bins";
  if (histogram.width < 1 || histogram.width > 64 || histogram.first < -2048 ||
      histogram.first > 2048)
    return "is no range of exponents";
  if (has_negative(histogram.bins) || histogram.looked_at < 0) return "counts below zero";
  return nullptr;
}

const char* problem_of(const BadMap& map) noexcept {
  const bool fits = map.rows >= 0 && map.rows <= BadMap::kMostCells && map.columns >= 0 &&
                    map.columns <= BadMap::kMostCells;
  if (!fits || map.cells.size() !=
                   static_cast<std::size_t>(map.rows) * static_cast<std::size_t>(map.columns))
    return "has cells that do not fit its size";
  return has_negative(map.cells) ? "counts below zero" : nullptr;
}

const char* problem_of(const Finding& finding) noexcept {
  return finding.modules.size() > ModuleFacts::kMost ? "has too many modules" : nullptr;
}

}  // namespace nanscope
