#include "adapters/torch/hit/rows.h"

#include <algorithm>

namespace nanscope::torch_adapter {
namespace {

// Which dimensions the row runs along; all of them if none is named.
std::vector<bool> along(const std::vector<std::int64_t>& dims, std::size_t rank) {
  std::vector<bool> runs(rank, dims.empty());
  for (const std::int64_t dim : dims) {
    const std::int64_t place = dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
    if (place >= 0 && place < static_cast<std::int64_t>(rank)) runs[place] = true;
  }
  return runs;
}

}  // namespace

std::optional<Statistics> statistics_of_row(const Wrapper& wrapper, const Call& call,
                                            const OwnedView& operand, const Finding& finding) {
  const std::vector<Index>& failing = finding.origin.indices;
  const auto dims = dims_of(wrapper, call);
  if (!has(wrapper.flags, OpFlags::kRowByRow) || !dims || failing.empty() ||
      operand.data == nullptr)
    return std::nullopt;
  const std::size_t rank = operand.sizes.size();
  const std::vector<bool> runs = along(*dims, rank);
  const std::size_t kept = std::count(runs.begin(), runs.end(), false);
  const Index& at = failing[0];
  const bool keeps_rank = at.size() == rank;
  if (!keeps_rank && at.size() != kept) return std::nullopt;

  OwnedView row = operand;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t place = keeps_rank ? i : next;
    if (runs[i]) continue;
    ++next;
    if (at[place] >= row.sizes[i]) return std::nullopt;
    const std::size_t width = width_of(row.dtype);
    if (width == 0) return std::nullopt;
    row.data = static_cast<const char*>(row.data) +
               at[place] * row.strides[i] * static_cast<std::int64_t>(width);
    row.sizes[i] = 1;
  }
  return statistics_of(row.view());
}

}  // namespace nanscope::torch_adapter
