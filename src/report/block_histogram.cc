#include "report/block_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace nanscope::report {
namespace {

constexpr std::array<std::string_view, 9> kHeights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// A single element among a million must still be seen.
std::size_t height_of(double count, double most) {
  if (count <= 0) return 0;
  const double share = std::log1p(count) / std::log1p(most);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(8 * share)), 1, 8);
}

}  // namespace

BlockHistogram block_histogram(const ExponentHistogram& histogram, std::size_t columns) {
  const std::size_t bins = histogram.bins.size();
  if (bins == 0 || columns == 0) return {};
  const std::size_t together = (bins + columns - 1) / columns;
  std::vector<double> counts((bins + together - 1) / together);
  for (std::size_t i = 0; i < bins; ++i)
    counts[i / together] += static_cast<double>(histogram.bins[i]);
  const double most = *std::max_element(counts.begin(), counts.end());
  if (!(most > 0)) return {};
  BlockHistogram drawn;
  for (const double count : counts) drawn.blocks += kHeights[height_of(count, most)];
  drawn.range = fmt::format("2^{} to 2^{}", histogram.first,
                            histogram.first + static_cast<std::int64_t>(bins) * histogram.width);
  return drawn;
}

}  // namespace nanscope::report
